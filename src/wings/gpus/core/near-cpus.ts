// The cpus near the gpus of a task: those of the parts of the machine's memory (NUMA nodes) at
// which its cards are.

/** A task with gpus: the parts of memory at which they are, and its cpus. */
export interface Nearby {
  /** Undefined: of this card it is not known. */
  readonly parts: readonly (number | undefined)[];
  readonly cpuCount: number;
}

/** By part of memory the cpus that tasks here may use. */
export type CpusOfParts = ReadonlyMap<number, readonly number[]>;

/**
 * Null: it may run on any, as those near it are not known, are all, or are too few for it and for
 * the tasks that were there `before` it. All of these count, also one that found too few itself.
 */
export function nearCpus(
  task: Nearby,
  before: readonly Nearby[],
  machine: CpusOfParts,
): readonly number[] | null {
  const near = new Set(task.parts);
  if (near.size === 0 || task.cpuCount === 0) return null;
  const own = [...near].map((part) => (part === undefined ? undefined : machine.get(part)));
  if (own.includes(undefined) || near.size === machine.size) return null;
  const cpus = own.flatMap((some) => some ?? []);
  const besides = before.filter(({ parts }) => parts.some((part) => near.has(part)));
  const wanted = besides.reduce((sum, { cpuCount }) => sum + cpuCount, task.cpuCount);
  return wanted > cpus.length ? null : cpus;
}
