// What a replay looked like over time: processors in use and jobs waiting, in equal slices.

import type { Run } from './replay.ts';

/** Means over one slice of time. */
export interface Slice {
  /** Part of all processors, 0…1. */
  readonly used: number;
  /** Jobs that waited. */
  readonly waiting: number;
}

export interface Series {
  /** Ms on the clock of the trace. */
  readonly from: number;
  readonly until: number;
  readonly slices: readonly Slice[];
}

/** The series of at least one run. */
export function seriesOf(runs: readonly Run[], processors: number, sliceCount: number): Series {
  const from = runs.reduce((least, { job }) => Math.min(least, job.submittedAt), Infinity);
  const until = runs.reduce((most, { endedAt }) => Math.max(most, endedAt), 0);
  const lengthMs = (until - from) / sliceCount;
  const used = new Float64Array(sliceCount);
  const waiting = new Float64Array(sliceCount);
  const add = (sums: Float64Array, begin: number, end: number, amount: number): void => {
    const first = Math.floor((begin - from) / lengthMs);
    const last = Math.min(sliceCount - 1, Math.floor((end - from) / lengthMs));
    for (let slice = first; slice <= last; slice += 1) {
      const start = Math.max(begin, from + slice * lengthMs);
      const stop = Math.min(end, from + (slice + 1) * lengthMs);
      sums[slice] = (sums[slice] as number) + amount * Math.max(0, stop - start);
    }
  };
  for (const { job, startedAt, endedAt } of runs) {
    add(waiting, job.submittedAt, startedAt, 1);
    add(used, startedAt, endedAt, job.processors);
  }
  const slices = Array.from(used, (sum, slice) => ({
    used: sum / lengthMs / processors,
    waiting: (waiting[slice] as number) / lengthMs,
  }));
  return { from, until, slices };
}
