// Told by their names: programs of ours to which a signal for a whole task is not sent.

/**
 * The name of programs that pass signals on themselves: a signal for all but the process passes
 * them by.
 */
export const PASSES_SIGNALS = 'weft-srun';
