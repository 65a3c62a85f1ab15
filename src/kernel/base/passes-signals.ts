// Told by their names: programs of ours to which a signal for a whole task is not sent.

/** A program that passes signals on: a signal for all but the process itself passes it by. */
export const PASSES_SIGNALS = 'weft-srun';
