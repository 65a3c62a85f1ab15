// Rows of `sacct`: jobs of the history with their tasks, what has not ended as the queue has it,
// and steps behind their tasks.

import type { HistoryJob, HistoryTask } from '../../../kernel/api/history.ts';
import type { JobView } from '../../../kernel/api/jobs.ts';
import { parseCpuList } from '../../../kernel/base/cpu-list.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { historyPages } from '../../../kernel/cli/jobs/history-pages.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';
import type { StepView } from '../../steps/api/step-view.ts';
import { slurmId } from '../core/ids.ts';
import { endedAs, type SlurmState, slurmState } from '../core/states.ts';
import { heldBy, wholeNodes } from './held.ts';
import { exitOf, jobPages, rowsOf as queueRows } from './job-rows.ts';

/** A line of `sacct`. */
export interface Row {
  /** `42`, `42_7`, `42.batch`, `42.0`, `42_[3-9]`. */
  readonly id: string;
  /** What the line is of within its task, `batch` or a program's name; null: the allocation. */
  readonly part: string | null;
  readonly job: HistoryJob;
  readonly state: SlurmState;
  readonly exit: { readonly code: number; readonly signal: number };
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly nodes: readonly string[];
  /** That of the allocation has those of its steps. Null: nobody has measured it. */
  readonly used: Pick<HistoryTask, 'userUs' | 'systemUs' | 'memoryPeakBytes'> | null;
  /** Gpus that it holds, on all its nodes together. */
  readonly gpuCount: number;
  /** Gpus that it asked for in the same way; absent: nobody knows, or they are those. */
  readonly gpusAsked?: number;
  /** Processes of a step; absent: of the allocation, which has none itself. */
  readonly ranks?: number;
  /** Nodes and cpus of a step; absent: those of the job. */
  readonly own?: { readonly nodeCount: number; readonly cpuCount: number };
  /** Sums over its nodes, which it had whole; absent: it held what its job asks for, on each. */
  readonly whole?: { readonly cpuCount: number; readonly memoryBytes: number };
}

/** More are asked for by time. */
const JOBS_MAX = 1_000_000;

/** A job of the history with what is known of its tasks. */
export interface RecordedJob {
  readonly job: HistoryJob;
  readonly tasks: readonly HistoryTask[];
}

/** Which jobs are asked for; `ids` as Slurm names them, times in ms. */
export interface Wanted {
  readonly ids: readonly string[] | undefined;
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly owner: string | undefined;
}

/** Jobs of the history in the order of their numbers. */
export async function recordedJobs(
  context: Context,
  { ids, from, until, owner }: Wanted,
): Promise<RecordedJob[]> {
  const numbers =
    ids === undefined ? [null] : [...new Set(ids.map((one) => Number(one.split(/[_.]/)[0])))];
  const found: RecordedJob[] = [];
  for (const jobId of numbers) {
    if (jobId !== null && !(Number.isInteger(jobId) && jobId > 0))
      throw usage(`Invalid job id: ${ids?.join(',')}`);
    const query = { tasks: true, jobId: jobId ?? undefined, from, until, owner };
    const jobs = new Map<number, HistoryJob>();
    const tasks: HistoryTask[] = [];
    for await (const page of historyPages(await context.api(), query, JOBS_MAX)) {
      for (const job of page.jobs) jobs.set(job.id, job);
      tasks.push(...page.tasks);
    }
    const byJob = Map.groupBy(tasks, (task) => task.jobId);
    found.push(...[...jobs.values()].map((job) => ({ job, tasks: byJob.get(job.id) ?? [] })));
  }
  return found.sort((a, b) => a.job.id - b.job.id);
}

/** Rows of these jobs, in their order; `parts`: with a row for the script and for each step. */
export async function rowsOf(
  context: Context,
  jobs: readonly RecordedJob[],
  parts: 'with steps' | 'allocations',
): Promise<Row[]> {
  const api = await context.api();
  const steps = parts === 'with steps' ? await stepRows(api, jobs) : null;
  const live = { jobs: await liveJobs(api, jobs), withWhole: wholeNodes(api) };
  const rows: Row[] = [];
  for (const one of jobs) rows.push(...withSteps(await rowsOfJob(api, one, live), steps));
  return parts === 'with steps' ? rows : rows.filter(({ part }) => part === null);
}

/** More are read page by page: a program that looks after many jobs asks again and again. */
const ASKED_MAX = 3;
/** Where they lie far apart, and pages would be full of other jobs. */
const FAR_ASKED_MAX = 50;
/** Jobs of a page that are about as much work as one request for a job. */
const NEAR = 50;

/** Those of many jobs that have not ended, so that each needs no request of its own. */
async function liveJobs(
  api: Api,
  found: readonly RecordedJob[],
): Promise<ReadonlyMap<number, JobView>> {
  const live = found.filter(({ job }) => job.state !== 'done').map(({ job }) => job);
  const wanted = new Set(live.map(({ id }) => id));
  const jobs = new Map<number, JobView>();
  // They are in the order of their ids.
  const [oldest, newest] = [live.at(0), live.at(-1)];
  if (oldest === undefined || newest === undefined || wanted.size <= ASKED_MAX) return jobs;
  const isFar = newest.id - oldest.id > NEAR * wanted.size;
  if (isFar && wanted.size <= FAR_ASKED_MAX) return jobs;
  const owner = live.every((job) => job.owner === oldest.owner) ? oldest.owner : undefined;
  for await (const page of jobPages(api, { state: 'active', owner, before: newest.id + 1 })) {
    for (const job of page) if (wanted.has(job.id)) jobs.set(job.id, job);
    if ((page.at(-1)?.id ?? 0) <= oldest.id) break;
  }
  return jobs;
}

/** Jobs that have not ended, as far as they were asked for, and what their rows are made of. */
interface Live {
  readonly jobs: ReadonlyMap<number, JobView>;
  readonly withWhole: ReturnType<typeof wholeNodes>;
}

/** What never started, or has not ended, has no record: it is as the queue has it. */
async function rowsOfJob(
  api: Api,
  { job, tasks }: RecordedJob,
  { jobs, withWhole }: Live,
): Promise<Row[]> {
  const ended = tasks.filter(({ final }) => final).flatMap((task) => taskRows(job, task));
  const told = new Set(ended.map(({ id }) => id));
  if (job.state === 'done' && job.taskCount === 1 && told.size === 0) return [endedRow(job)];
  const isWhole = ended.filter(({ part }) => part === null).length === job.taskCount;
  if (job.state === 'done' && isWhole) return ended;
  const view = jobs.get(job.id) ?? (await api.call('getJob', { params: { id: String(job.id) } }));
  const live = await withWhole(await queueRows(api, view));
  const others = live.filter(({ id }) => !told.has(id));
  const { nodeCount, perNode } = view.request;
  const own = { job, part: null, used: null, gpusAsked: perNode.gpuCount * nodeCount };
  const liveRows = others.flatMap((row) => {
    const whole: Row = { ...row, ...own, gpuCount: heldBy(row).gpuCount };
    return row.startedAt === null || row.isOver ? [whole] : [whole, scriptRow(whole)];
  });
  return [...liveRows, ...ended];
}

/** The script of an allocation: all that is not said of it is as with that. */
const scriptRow = (row: Row): Row => ({ ...row, id: `${row.id}.batch`, part: 'batch', ranks: 1 });

/** One that never started. */
function endedRow(job: HistoryJob): Row {
  const state = slurmState('done', (job.outcome?.kind ?? null) as OutcomeKind | null);
  const { startedAt, endedAt, nodes = [] } = job;
  const { job: exit } = endedAs(
    (job.outcome?.kind ?? null) as OutcomeKind | null,
    exitOf(job.outcome?.exit ?? null),
  );
  const whole = { id: String(job.id), part: null, used: null, gpuCount: 0 };
  return { ...whole, job, state, exit, startedAt, endedAt, nodes };
}

function taskRows(job: HistoryJob, task: HistoryTask): Row[] {
  const id = task.index === null ? String(job.id) : `${job.id}_${task.index}`;
  const { startedAt, endedAt, nodes, gpuCount = 0 } = task;
  const state = slurmState('done', task.outcome.kind);
  const { job: exit, batch } = endedAs(task.outcome.kind, exitOf(task.outcome.exit));
  const about = { id, part: null, job, state, exit, startedAt, endedAt, nodes };
  const row: Row = { ...about, used: task, gpuCount, ...wholeOf(task) };
  if (startedAt === null) return [{ ...row, used: null }];
  return [row, scriptRow({ ...row, state: batch.state ?? state, exit: batch })];
}

function wholeOf({ heldCpus: cpuCount, heldMemoryBytes: memoryBytes }: HistoryTask) {
  if (cpuCount === undefined || memoryBytes === undefined) return {};
  return { whole: { cpuCount, memoryBytes } };
}

/** Steps of these jobs, as far as they are the caller's to see, by what Slurm calls their tasks. */
async function stepRows(
  api: Api,
  found: readonly RecordedJob[],
): Promise<ReadonlyMap<string, Row[]>> {
  const rows = new Map<string, Row[]>();
  const jobs = new Map(found.map(({ job }) => [job.id, job]));
  const [first, last] = [found.at(0)?.job.id, found.at(-1)?.job.id];
  if (first === undefined || last === undefined) return rows;
  for await (const step of stepsBetween(api, first, last)) {
    const job = jobs.get(Number.parseInt(step.id, 10));
    if (job === undefined) continue;
    const task = slurmId(step.id.slice(0, step.id.lastIndexOf('.')));
    rows.set(task, [...(rows.get(task) ?? []), stepRow(job, step)]);
  }
  return rows;
}

/** Steps of jobs from one id to another: one's own, or, for operators, those of all. */
export async function* stepsBetween(api: Api, from: number, to: number): AsyncGenerator<StepView> {
  let after: string | null = null;
  do {
    const query = { from, to };
    const page: { steps: StepView[]; next: string | null } = await api.call('listAllSteps', {
      query: after === null ? query : { ...query, after },
    });
    yield* page.steps;
    after = page.next;
  } while (after !== null);
}

function stepRow(job: HistoryJob, step: StepView): Row {
  const { startedAt, endedAt, nodes, used, command, exit, processes: ranks } = step;
  const part = command.split(' ')[0]?.split('/').at(-1) ?? command;
  const state = stepState(step);
  const id = slurmId(step.id);
  const row = { id, part, job, state, exit: exitOf(exit), startedAt, endedAt, nodes, used, ranks };
  const own = { nodeCount: nodes.length, cpuCount: cpusOf(job, step) };
  return { ...row, gpuCount: 0, own };
}

/**
 * Cpus that a step has: those that it was given, where whoever started it says so; else all of its
 * task on the nodes of the step, or those alone that it is bound to. These are told by their
 * numbers, which mean the same cpus on one node only.
 */
function cpusOf({ cpuCount }: HistoryJob, step: StepView): number {
  const { nodes, processes, cpus = [] } = step;
  if (step.cpuCount !== undefined) return step.cpuCount;
  if (nodes.length !== 1 || cpus.length !== processes) return cpuCount * nodes.length;
  return new Set(cpus.flatMap(parseCpuList)).size;
}

function stepState({ state, exit, why }: StepView): SlurmState {
  if (state === 'running') return slurmState('running', null);
  if (why !== null || exit?.signal !== undefined) return slurmState('done', 'cancelled');
  return slurmState('done', exit?.code === 0 ? 'completed' : 'failed');
}

/** Steps stand behind what their task has, as in Slurm. */
function withSteps(rows: readonly Row[], steps: ReadonlyMap<string, Row[]> | null): Row[] {
  if (steps === null) return [...rows];
  return rows.flatMap((row, at) => {
    const task = row.id.replace(/\.batch$/, '');
    if (rows[at + 1]?.id === `${task}.batch`) return [row];
    const perNode = row.gpuCount / row.job.nodeCount;
    const withGpus = (step: Row) => ({ ...step, gpuCount: perNode * step.nodes.length });
    return [row, ...(steps.get(task) ?? []).map(withGpus)];
  });
}
