// Cpus in use and jobs that wait over time, from when jobs were submitted, started and ended.

import type { JobView } from '../../src/api/jobs.ts';

export interface LoadPoint {
  readonly at: number;
  readonly cpus: number;
  readonly waiting: number;
}

const POINTS = 240;
const SPAN_MAX_MS = 24 * 3_600_000;
const SPAN_MIN_MS = 5 * 60_000;

type Lived = Pick<
  JobView,
  'submittedAt' | 'startedAt' | 'runStartedAt' | 'endedAt' | 'request' | 'array' | 'taskCounts'
>;

/** `isWhole`: there are no older jobs; else what is before the oldest is not known. */
export function loadOverTime(
  jobs: readonly Lived[],
  { now, isWhole }: { readonly now: number; readonly isWhole: boolean },
): LoadPoint[] {
  if (jobs.length === 0) return [];
  const oldest = jobs.reduce((least, { submittedAt }) => Math.min(least, submittedAt), now);
  const known = isWhole ? Math.min(oldest, now - SPAN_MIN_MS) : oldest;
  const from = Math.max(known, now - SPAN_MAX_MS);
  const step = (now - from) / POINTS;
  if (step <= 0) return [];
  const cpus = new Float64Array(POINTS + 2);
  const waiting = new Float64Array(POINTS + 2);
  // The point at or after an instant.
  const place = (at: number): number =>
    Math.min(POINTS + 1, Math.max(0, Math.ceil((at - from) / step)));
  const add = (amounts: Float64Array, since: number, until: number | null, by: number): void => {
    const [begin, end] = [place(since), until === null ? POINTS + 1 : place(until)];
    if (begin > POINTS) return;
    amounts[begin] = (amounts[begin] ?? 0) + by;
    amounts[end] = (amounts[end] ?? 0) - by;
  };
  for (const job of jobs) {
    const started = job.array === null ? job.runStartedAt : job.startedAt;
    add(waiting, job.submittedAt, started ?? job.endedAt, 1);
    if (started !== null) add(cpus, started, job.endedAt, cpusOf(job));
  }
  const points: LoadPoint[] = [];
  let [inUse, inLine] = [0, 0];
  for (let at = 0; at <= POINTS; at += 1) {
    inUse += cpus[at] ?? 0;
    inLine += waiting[at] ?? 0;
    points.push({ at: from + at * step, cpus: inUse, waiting: inLine });
  }
  return points;
}

/** Cpus of a job; of an array that runs, those of its tasks that run now; how many did before is not known. */
function cpusOf({ request, array, taskCounts }: Lived): number {
  const each = request.nodeCount * request.perNode.cpuCount;
  return array === null ? each : each * Math.max(1, taskCounts['running'] ?? 0);
}
