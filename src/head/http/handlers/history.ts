// The accounting records as the store has them; what is not done yet comes from memory, because
// the store is written when a job is accepted and when it ends, not at every change between.

import type { HistoryJob, HistoryTask } from '../../../api/history.ts';
import { ok } from '../../../core/base/result.ts';
import type { Job } from '../../../core/controller/state.ts';
import type { JobId } from '../../../core/model/ids.ts';
import type { HistoryQuery, JobRow, TaskRow } from '../../../ports/history.ts';
import type { Engine } from '../../engine.ts';
import { jobState } from '../../views/job-state.ts';
import { lastRunStarts, runStart } from '../../views/run-start.ts';
import type { Call, Handler } from '../call.ts';

type TaskKey = NonNullable<HistoryQuery['afterTask']>;

const LIMIT_DEFAULT = 100;
/** Of one page: some MB; the rest of a large array follows on the next ones. */
const TASKS_MAX = 10_000;

export const history: Handler<'history'> = async ({ engine }, { query }) => {
  await engine.settled();
  const limit = query.limit ?? LIMIT_DEFAULT;
  const after = query.afterTask === undefined ? undefined : parseTaskKey(query.afterTask);
  const rows = await engine.store.jobs({ ...readQuery(query, after), limit: limit + 1 });
  const jobs = rows.slice(0, limit);
  const page =
    query.tasks === true ? await pageOfTasks(engine, jobs, after) : { tasks: [], cutIn: null };
  const { tasks, cutIn } = page;
  // Jobs below the one whose tasks are cut come with the page that has theirs.
  const shown = cutIn === null ? jobs : jobs.filter(({ jobId }) => jobId >= cutIn.jobId);
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
    next: rows.length > shown.length ? (shown.at(-1)?.jobId ?? null) : null,
    nextTask: cutIn === null ? null : formatTaskKey(cutIn),
  });
};

/** `cutIn` is the last one of the page, when there are more. */
async function pageOfTasks(
  { store }: Engine,
  jobs: readonly JobRow[],
  after: TaskKey | undefined,
): Promise<{ tasks: TaskRow[]; cutIn: TaskKey | null }> {
  if (jobs.length === 0) return { tasks: [], cutIn: null };
  const jobIds = jobs.map(({ jobId }) => jobId);
  const rest = after === undefined ? {} : { afterTask: after };
  const found = await store.tasks({ jobIds, ...rest, limit: TASKS_MAX + 1 });
  const tasks = found.slice(0, TASKS_MAX);
  return { tasks, cutIn: found.length > TASKS_MAX ? (tasks.at(-1) ?? null) : null };
}

function formatTaskKey({ jobId, taskIndex, epoch }: TaskKey): string {
  return `${jobId}.${taskIndex}.${epoch}`;
}

/** Of what the schema lets pass. */
function parseTaskKey(text: string): TaskKey {
  const [jobId = 0, taskIndex = 0, epoch = 0] = text.split('.').map(Number);
  return { jobId, taskIndex, epoch };
}

function readQuery(
  query: Call<'history'>['query'],
  after: TaskKey | undefined,
): Omit<HistoryQuery, 'limit'> {
  const { owner, state, outcome, name, jobId, from, until } = query;
  const before = after === undefined ? query.before : after.jobId + 1;
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
