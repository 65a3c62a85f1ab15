// Jobs side by side on one machine: as many as it has cpus, memory and gpus for, or as many as
// somebody said, and each after those that it waits for.

export interface Demand {
  readonly cpuCount: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
}

export interface Budget extends Demand {
  /** However small they are. */
  readonly jobsMax: number;
}

export interface BudgetQueue<T> {
  readonly waiting: readonly T[];
  /** Whether all that it waits for is over: at the latest when nothing runs. */
  readonly isReady: (one: T) => boolean;
  readonly run: (one: T) => Promise<void>;
  readonly isStopped: () => boolean;
}

/**
 * Runs all that is ready, in its order; one that is too large for what is left holds up those after
 * it, and one that is too large for the machine runs alone. Rejects with the first error, when what
 * runs has ended.
 */
export async function runWithin<T extends Demand>(
  budget: Budget,
  line: BudgetQueue<T>,
): Promise<void> {
  const { cpuCount, memoryBytes, gpuCount } = budget;
  const left = { cpuCount, memoryBytes, gpuCount };
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const book = (one: T, sign: 1 | -1): void => {
    left.cpuCount += sign * one.cpuCount;
    left.memoryBytes += sign * one.memoryBytes;
    left.gpuCount += sign * one.gpuCount;
  };
  const start = (one: T): void => {
    book(one, -1);
    const done = line
      .run(one)
      .catch((error: unknown) => void errors.push(error))
      .finally(() => {
        book(one, 1);
        running.delete(done);
      });
    running.add(done);
  };
  const hasRoom = (one: T) =>
    running.size === 0 ||
    (running.size < budget.jobsMax &&
      one.cpuCount <= left.cpuCount &&
      one.memoryBytes <= left.memoryBytes &&
      one.gpuCount <= left.gpuCount);
  const waiting = [...line.waiting];
  while (waiting.length > 0) {
    if (line.isStopped() || errors.length > 0) break;
    const at = waiting.findIndex(line.isReady);
    const next = waiting[at];
    if (next !== undefined && hasRoom(next)) {
      waiting.splice(at, 1);
      start(next);
    } else if (running.size > 0) await Promise.race(running);
    else throw new Error('jobs wait for each other');
  }
  await Promise.all(running);
  if (errors.length > 0) throw errors[0];
}
