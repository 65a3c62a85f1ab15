// The accounting records as the store has them; what is not done yet comes from memory, because
// the store is written when a job is accepted and when it ends, not at every change between.

import type { HistoryJob, HistoryTask } from '../../../api/history.ts';
import { ok } from '../../../core/base/result.ts';
import type { Job } from '../../../core/controller/state.ts';
import type { JobId } from '../../../core/model/ids.ts';
import type { HistoryQuery, JobRow, TaskRow } from '../../../ports/history.ts';
import { jobState } from '../../views/job-state.ts';
import { lastRunStarts, runStart } from '../../views/run-start.ts';
import type { Call, Handler } from '../call.ts';

const LIMIT_DEFAULT = 100;
const TASKS_MAX = 10_000;

export const history: Handler<'history'> = async ({ engine }, { query }) => {
  await engine.settled();
  const limit = query.limit ?? LIMIT_DEFAULT;
  const rows = await engine.store.jobs({ ...readQuery(query), limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const jobIds = shown.map(({ jobId }) => jobId);
  const wantsTasks = query.tasks === true && jobIds.length > 0;
  const tasks = wantsTasks ? await engine.store.tasks({ jobIds, limit: TASKS_MAX }) : [];
  const single = shown.filter(({ outcome, taskCount }) => outcome !== null && taskCount === 1);
  const starts = await lastRunStarts(
    engine,
    single.map(({ jobId }) => jobId),
  );
  return ok({
    jobs: shown.map((row) => {
      const view = viewRow(row, engine.state.jobs.get(row.jobId as JobId));
      const runStartedAt = starts.get(row.jobId);
      return runStartedAt === undefined ? view : { ...view, runStartedAt };
    }),
    tasks: tasks.map(viewTaskRow),
    next: rows.length > limit ? (shown.at(-1)?.jobId ?? null) : null,
  });
};

function readQuery(query: Call<'history'>['query']): Omit<HistoryQuery, 'limit'> {
  const { owner, state, outcome, name, jobId, from, until, before } = query;
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(state === undefined ? {} : { state }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(name === undefined ? {} : { name }),
    ...(jobId === undefined ? {} : { jobIds: [jobId] }),
    ...(from === undefined ? {} : { submittedFrom: from }),
    ...(until === undefined ? {} : { submittedUntil: until }),
    ...(before === undefined ? {} : { belowJobId: before }),
  };
}

function viewRow({ spec: _, ...rest }: JobRow, job: Job | undefined): HistoryJob {
  if (rest.outcome !== null || job === undefined) return { ...rest, runStartedAt: rest.startedAt };
  const { startedAt } = job;
  return { ...rest, state: jobState(job), startedAt, runStartedAt: runStart(job) };
}

function viewTaskRow({ taskIndex, nodes, ...rest }: TaskRow): HistoryTask {
  const names = nodes === '' ? [] : nodes.split(',');
  return { ...rest, index: taskIndex < 0 ? null : taskIndex, nodes: names };
}
