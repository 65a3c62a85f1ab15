// The accounting records as the store has them; what is not done yet comes from memory, because
// the store is written when a job is accepted and when it ends, not at every change between.

import type { HistoryJob, HistoryTask } from '../../../api/history.ts';
import { ok } from '../../../base/result.ts';
import type { Job } from '../../../machine/jobs/facts.ts';
import type { UserActor } from '../../../model/actor.ts';
import { formatTaskId, type JobId } from '../../../model/ids.ts';
import type { HistoryQuery, JobRow, TaskRow } from '../../../ports/history.ts';
import { outcomeOf, readCounts, recordOfRow } from '../../answers/job-record.ts';
import { jobState } from '../../answers/job-state.ts';
import { viewOutcome } from '../../answers/job-view.ts';
import { lastRuns, runStart } from '../../answers/run-start.ts';
import { itemsOf, maySeeItems } from '../../answers/task-item.ts';
import type { Engine } from '../../engine.ts';
import type { Call, Handler } from '../call.ts';

type TaskKey = NonNullable<HistoryQuery['afterTask']>;

const LIMIT_DEFAULT = 100;
/** Tasks of one page: some MB; the rest of a large array follows on the next ones. */
const TASKS_MAX = 10_000;

export const history: Handler<'history'> = async ({ engine }, { query, actor }) => {
  await engine.settled();
  const limit = query.limit ?? LIMIT_DEFAULT;
  const after = query.afterTask === undefined ? undefined : parseTaskKey(query.afterTask);
  const rows = await engine.store.jobs({
    ...readQuery(query, after),
    withoutSpecs: true,
    limit: limit + 1,
  });
  const jobs = rows.slice(0, limit);
  const page =
    query.tasks === true ? await pageOfTasks(engine, jobs, after) : { tasks: [], cutIn: null };
  const { tasks, cutIn } = page;
  // Jobs below the one whose tasks are cut come with the page that has theirs.
  const shown = cutIn === null ? jobs : jobs.filter(({ jobId }) => jobId >= cutIn.jobId);
  const single = shown.filter(({ outcome, taskCount }) => outcome !== null && taskCount === 1);
  const runs = await lastRuns(
    engine,
    single.map(({ jobId }) => jobId),
  );
  return ok({
    jobs: shown.map((row) => {
      const view = viewRow(row, engine.state.jobs.get(row.jobId as JobId));
      const run = runs.get(row.jobId);
      return run === undefined ? view : { ...view, runStartedAt: run.startedAt, nodes: run.nodes };
    }),
    tasks: await viewTaskRows(engine, tasks, actor),
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

/** The key of a task, from what the schema lets pass. */
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

function viewRow(row: JobRow, job: Job | undefined): HistoryJob {
  const {
    spec: _,
    outcomeCounts: _counts,
    jobId,
    exitCode: __,
    signal: ___,
    detail: ____,
    walltimeMs,
    ...rest
  } = row;
  const outcome = outcomeOf(row);
  const outcomeCounts = readCounts(row);
  const view = {
    ...rest,
    id: jobId,
    runStartedAt: rest.startedAt,
    outcome: outcome === null ? null : viewOutcome(outcome),
    walltimeMs: walltimeMs === 0 ? null : walltimeMs,
    ...(outcomeCounts === null ? {} : { outcomeCounts }),
  };
  if (outcome !== null) return view;
  // The head went on without its last records (--accept-loss), and so without this job.
  if (job === undefined) return { ...view, state: 'lost' };
  const { startedAt } = job;
  return { ...view, state: jobState(job), startedAt, runStartedAt: runStart(job) };
}

/** With their items: a line of accounting of a sweep names its point. */
async function viewTaskRows(
  { store }: Engine,
  rows: readonly TaskRow[],
  actor: UserActor,
): Promise<HistoryTask[]> {
  const arrays = rows.filter(({ taskIndex }) => taskIndex >= 0).map(({ jobId }) => jobId);
  const jobIds = [...new Set(arrays)];
  const found = jobIds.length === 0 ? [] : await store.jobs({ jobIds, limit: jobIds.length });
  const items = new Map<number, ReturnType<typeof itemsOf>>();
  for (const row of found) {
    const record = recordOfRow(row);
    if (maySeeItems(record.owner, actor)) items.set(row.jobId, itemsOf(record.spec));
  }
  return rows.map((row) => {
    const item = items.get(row.jobId)?.(row.taskIndex);
    return item === undefined ? viewTaskRow(row) : { ...viewTaskRow(row), item };
  });
}

function viewTaskRow(row: TaskRow): HistoryTask {
  const { taskIndex, nodes, gpuCount, heldCpus, heldMemoryBytes, ...task } = row;
  const { exitCode: _, signal: __, detail: ___, ...rest } = task;
  const index = taskIndex < 0 ? null : taskIndex;
  return {
    ...rest,
    id: formatTaskId(row.jobId as JobId, index),
    outcome: viewOutcome(outcomeOf(row) ?? { kind: 'completed' }),
    index,
    nodes: nodes === '' ? [] : nodes.split(','),
    ...(gpuCount !== null && { gpuCount }),
    ...(heldCpus !== null && { heldCpus }),
    ...(heldMemoryBytes !== null && { heldMemoryBytes }),
  };
}
