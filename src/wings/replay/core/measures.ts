// Figures of a replay, defined as in the literature on parallel job scheduling.

import type { Run } from './replay.ts';

/** Shorter run times count as this: a wait of minutes is no harm of hundreds (Feitelson 2001). */
const SLOWDOWN_BOUND_MS = 10_000;

export interface Measures {
  readonly meanWaitS: number;
  /** The smallest wait that at least 95 % of the jobs do not exceed. */
  readonly p95WaitS: number;
  /** Mean of max(1, (wait + run) / max(run, 10 s)). */
  readonly meanBoundedSlowdown: number;
  /** Processor seconds used of those there were from the first arrival to the last end; 0…1. */
  readonly utilisation: number;
  /** First arrival to last end. */
  readonly makespanS: number;
}

/** The measures of at least one run, on a machine of so many processors. */
export function measure(runs: readonly Run[], processors: number): Measures {
  const waits = runs.map(waitOf).sort((a, b) => a - b);
  const from = runs.reduce((least, { job }) => Math.min(least, job.submittedAt), Infinity);
  const until = runs.reduce((most, { endedAt }) => Math.max(most, endedAt), 0);
  const used = sum(runs.map(({ job }) => job.processors * job.runMs));
  return {
    meanWaitS: sum(waits) / runs.length / 1000,
    p95WaitS: (waits[Math.ceil(0.95 * runs.length) - 1] as number) / 1000,
    meanBoundedSlowdown: sum(runs.map(boundedSlowdown)) / runs.length,
    utilisation: used / (processors * (until - from)),
    makespanS: (until - from) / 1000,
  };
}

export function boundedSlowdown(run: Run): number {
  const { runMs } = run.job;
  return Math.max(1, (waitOf(run) + runMs) / Math.max(runMs, SLOWDOWN_BOUND_MS));
}

function waitOf({ job, startedAt }: Run): number {
  return startedAt - job.submittedAt;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
