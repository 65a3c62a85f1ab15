// Cpus of a machine, as steps are bound to them.

/**
 * A cpu that this node's programs may use. Cpus of one core, and of one part of memory, have the
 * same number.
 */
export interface Cpu {
  readonly id: number;
  readonly core: number;
  readonly numa: number;
}
