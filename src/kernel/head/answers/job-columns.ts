// Jobs that go on, as columns: a hundred thousand views are more than a client waits for.

import type { JobColumns } from '../../api/jobs.ts';
import type { Job } from '../../machine/jobs/facts.ts';
import { firstPending, jobState, taskCounts } from './job-state.ts';
import { nodesOf } from './job-view.ts';
import type { Reasons } from './reasons.ts';
import { runStart } from './run-start.ts';

/** An entry of each column for each of these jobs, in their order. */
export function columnsOf(jobs: readonly Job[], reasons: Reasons): JobColumns {
  const reasonOf = (job: Job): string | null => {
    const waiting = firstPending(job);
    return waiting === undefined ? null : reasons.of(job, waiting).kind;
  };
  return {
    id: jobs.map(({ id }) => id),
    name: jobs.map(({ spec }) => spec.name),
    owner: jobs.map(({ owner }) => owner),
    partition: jobs.map(({ spec }) => spec.partition),
    state: jobs.map(jobState),
    reason: jobs.map(reasonOf),
    held: jobs.map(({ held }) => held),
    array: jobs.map(({ spec }) => spec.array?.indices ?? null),
    runningMax: jobs.map(({ spec }) => spec.array?.runningMax ?? null),
    taskCounts: jobs.map((job) => (job.spec.array === null ? null : taskCounts(job))),
    startedAt: jobs.map(({ startedAt }) => startedAt),
    runStartedAt: jobs.map(runStart),
    nodes: jobs.map(nodesOf),
    nodeCount: jobs.map(({ spec }) => spec.request.nodeCount),
    walltimeMs: jobs.map(({ spec }) => spec.walltimeMs),
  };
}
