// Jobs side by side on one machine: as many as it has cpus and memory for, or as many as somebody said.

export interface Demand {
  readonly cpuCount: number;
  readonly memoryBytes: number;
}

export interface Budget extends Demand {
  /** However small they are. */
  readonly jobsMax: number;
}

/**
 * Runs all, in their order; one that is too large for what is left holds up those after it, and one
 * that is too large for the machine runs alone. Rejects with the first error, when what runs has ended.
 */
export async function runWithin<T extends Demand>(
  budget: Budget,
  waiting: readonly T[],
  run: (one: T) => Promise<void>,
  isStopped: () => boolean,
): Promise<void> {
  const left = { cpuCount: budget.cpuCount, memoryBytes: budget.memoryBytes };
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const start = (one: T): void => {
    left.cpuCount -= one.cpuCount;
    left.memoryBytes -= one.memoryBytes;
    const done = run(one)
      .catch((error: unknown) => void errors.push(error))
      .finally(() => {
        left.cpuCount += one.cpuCount;
        left.memoryBytes += one.memoryBytes;
        running.delete(done);
      });
    running.add(done);
  };
  for (const one of waiting) {
    const hasRoom = () =>
      running.size === 0 ||
      (running.size < budget.jobsMax &&
        one.cpuCount <= left.cpuCount &&
        one.memoryBytes <= left.memoryBytes);
    while (!hasRoom()) await Promise.race(running);
    if (isStopped() || errors.length > 0) break;
    start(one);
  }
  await Promise.all(running);
  if (errors.length > 0) throw errors[0];
}
