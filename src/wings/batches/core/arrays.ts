// Which jobs of a batch are one array: those that ask for the same, wait for the same jobs, and are
// waited for by the same. Then all tasks of one array wait for all of the other, or for none.

import type { Findings } from '../../../kernel/files/findings.ts';
import { BATCH_PARTS_MAX } from '../../../kernel/model/limits.ts';
import type { BatchFile, BatchJob } from './batch.ts';

/** Numbers of the jobs of each array, in the order of the first job of each. */
export function arraysOf(jobs: readonly BatchJob[]): number[][] {
  const numbers = numbersByName(jobs);
  const waiters = waitersOf(jobs, numbers);
  const groups = new Map<string, number[]>();
  for (const [number, job] of jobs.entries()) {
    const { cpuCount, gpuCount, gpuType, gpuMemoryBytes, gpuShareBytes, gpuLinks } = job;
    const { memoryBytes, walltimeMs, retriesMax } = job;
    const { partition, qos, priority, needs, env } = job;
    const key = JSON.stringify([
      ...[cpuCount, gpuCount, gpuType, gpuMemoryBytes, gpuShareBytes, gpuLinks],
      ...[memoryBytes, walltimeMs, retriesMax],
      ...[partition, qos, priority, needs, env],
      ...[beforeOf(job, numbers), waiters.get(number)],
    ]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [number]);
    else group.push(number);
  }
  return [...groups.values()];
}

export function numbersByName(jobs: BatchFile['jobs']): ReadonlyMap<string, number> {
  return new Map(jobs.map(({ name }, number) => [name, number]));
}

/** Numbers of the jobs that this one comes after, going up. */
export function beforeOf(
  { after }: Pick<BatchJob, 'after'>,
  numbers: ReadonlyMap<string, number>,
): readonly number[] {
  const found = new Set(after.flatMap((name) => numbers.get(name) ?? []));
  return [...found].sort((a, b) => a - b);
}

/** Jobs that wait for each job. */
function waitersOf(
  jobs: readonly BatchJob[],
  numbers: ReadonlyMap<string, number>,
): ReadonlyMap<number, readonly number[]> {
  const waiters = new Map<number, number[]>();
  for (const [number, job] of jobs.entries()) {
    for (const before of beforeOf(job, numbers)) {
      const of = waiters.get(before);
      if (of === undefined) waiters.set(before, [number]);
      else of.push(number);
    }
  }
  return waiters;
}

export function checkArrays(jobs: readonly BatchJob[], findings: Findings): void {
  const count = arraysOf(jobs).length;
  if (count <= BATCH_PARTS_MAX) return;
  const what = `${count} sets of jobs differ in what they ask for, in env or in after; at most ${BATCH_PARTS_MAX}`;
  findings.problem(['jobs'], `${what}: give what differs from job to job in args or files`);
}
