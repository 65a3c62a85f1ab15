// Jobs as rows of squeue: of an array each task that has begun, and those that wait together.

import type {
  JobColumns,
  JobView,
  ListJobsReply,
  ListTasksReply,
  TaskView,
} from '../../../kernel/api/jobs.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';
import { compressHosts } from '../core/hostlist.ts';
import { endReason, type SlurmExit, type SlurmState, slurmState } from '../core/states.ts';
import type { Amounts } from './held.ts';

type Seen =
  | 'id'
  | 'name'
  | 'owner'
  | 'partition'
  | 'state'
  | 'outcome'
  | 'array'
  | 'runningMax'
  | 'taskCounts'
  | 'held'
  | 'startedAt'
  | 'runStartedAt'
  | 'endedAt'
  | 'nodes'
  | 'exit'
  | 'walltimeMs';
/** What of a job its rows are made of, and the usual columns. */
export interface RowJob extends Pick<JobView, Seen> {
  readonly reason: { readonly kind: string } | null;
  readonly request: { readonly nodeCount: number };
}

/** Jobs that are not done. */
function jobsOf(columns: JobColumns): RowJob[] {
  const at = <T>(column: readonly T[], index: number) => column[index] as T;
  return columns.id.map((id, index) => {
    const kind = at(columns.reason, index);
    return {
      id,
      name: at(columns.name, index),
      owner: at(columns.owner, index),
      partition: at(columns.partition, index),
      state: at(columns.state, index),
      outcome: null,
      array: at(columns.array, index),
      runningMax: at(columns.runningMax, index),
      taskCounts: at(columns.taskCounts, index) ?? {},
      held: at(columns.held, index),
      startedAt: at(columns.startedAt, index),
      runStartedAt: at(columns.runStartedAt, index),
      endedAt: null,
      nodes: at(columns.nodes, index),
      exit: null,
      walltimeMs: at(columns.walltimeMs, index),
      reason: kind === null ? null : { kind },
      request: { nodeCount: at(columns.nodeCount, index) },
    };
  });
}

/** A line of the queue: of a job in full, or with what rows are made of. */
export interface JobRow<Job extends RowJob = JobView> {
  /** `42`, `42_7`, `42_[8-99%4]`. */
  readonly id: string;
  readonly job: Job;
  /** Null: a plain job, or the tasks that wait. */
  readonly index: number | null;
  readonly state: SlurmState;
  readonly isOver: boolean;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly nodes: readonly string[];
  /** In parentheses where it waits, else the nodes: squeue's last column. */
  readonly where: string;
  readonly exit: SlurmExit;
  /** How it ended; null: it has not. */
  readonly kind: OutcomeKind | null;
  /** Why it ended so, in our words; null: nobody says. */
  readonly detail: string | null;
  /** Starts so far. Absent: nobody has looked. */
  readonly starts?: number;
  /** Sums over its nodes, which it has whole. Absent: nobody has looked, or it has them not. */
  readonly whole?: Amounts;
}

export interface Wanted {
  readonly state: 'active' | 'all';
  readonly owner?: string | undefined;
  readonly name?: string;
  /** These jobs alone; undefined: all. */
  readonly ids?: readonly number[] | undefined;
  /** Only ids below this one. */
  readonly before?: number | undefined;
}

/**
 * Up to so many are asked for one by one, as programs do that look after their own; of more all are
 * read.
 */
const ASKED_MAX = 50;

/** All that are wanted, the oldest first. */
export async function listJobs(api: Api, wanted: Wanted): Promise<JobView[]> {
  const jobs: JobView[] = [];
  for await (const page of jobPages(api, wanted)) jobs.push(...page);
  return jobs.reverse();
}

/** Newest first. */
export async function* jobPages(api: Api, wanted: Wanted): AsyncGenerator<JobView[]> {
  const { state, ids } = wanted;
  if (ids !== undefined && ids.length <= ASKED_MAX) return yield* theseJobs(api, state, ids);
  for await (const { jobs } of replies(api, wanted)) yield jobs;
}

/** The same of what is not done, with what rows are made of alone. */
export async function* briefPages(api: Api, wanted: Wanted): AsyncGenerator<readonly RowJob[]> {
  const { state, ids } = wanted;
  if (ids !== undefined && ids.length <= ASKED_MAX) return yield* theseJobs(api, state, ids);
  for await (const { jobs, columns } of replies(api, wanted, { columns: true })) {
    yield columns === undefined ? jobs : jobsOf(columns);
  }
}

/** The head makes the next page while whoever asked is busy with the last one. */
async function* replies(
  api: Api,
  { state, owner, name, before: first }: Wanted,
  more: { readonly columns?: true } = {},
): AsyncGenerator<ListJobsReply> {
  const ask = (before: number | undefined): Promise<ListJobsReply> => {
    const query = { state, limit: 1000, owner, name, before, ...more };
    const asked = api.call('listJobs', { query });
    asked.catch(() => undefined); // Told when it is waited for, unless nobody does any more.
    return asked;
  };
  let asked: Promise<ListJobsReply> | null = ask(first);
  while (asked !== null) {
    const reply: ListJobsReply = await asked;
    asked = reply.next === null ? null : ask(reply.next);
    yield reply;
  }
}

async function* theseJobs(
  api: Api,
  state: Wanted['state'],
  ids: readonly number[],
): AsyncGenerator<JobView[]> {
  for (const id of [...new Set(ids)].sort((a, b) => b - a)) {
    const { jobs } = await api.call('listJobs', { query: { state, limit: 1, before: id + 1 } });
    yield jobs.filter((job) => job.id === id);
  }
}

/** `only`: of arrays `active` leaves out the tasks that are done. */
export async function rowsOf<Job extends RowJob>(
  api: Api,
  job: Job,
  only: 'begun' | 'active' = 'begun',
): Promise<JobRow<Job>[]> {
  if (job.array === null) return [plainRow(job)];
  const { tasks, waiting } = await tasksOf(api, job, only);
  const rows = tasks.map((task) => taskRow(job, task));
  if (waiting === '') return rows;
  return [
    {
      ...plainRow(job),
      id: `${job.id}_[${waiting}${job.runningMax == null ? '' : `%${job.runningMax}`}]`,
      state: slurmState('pending', null),
      isOver: false,
      startedAt: null,
      nodes: [],
      where: reason(job),
    },
    ...rows,
  ];
}

/** Those that have begun, and the index set of those that wait. */
async function tasksOf(api: Api, { id }: RowJob, only: 'begun' | 'active') {
  const tasks: TaskView[] = [];
  const waiting: string[] = [];
  let after: number | undefined;
  do {
    const page: ListTasksReply = await api.call('listTasks', {
      params: { id: String(id) },
      query: { only, limit: 1000, after },
    });
    tasks.push(...page.tasks);
    // Pages end with a task that has begun: their ranges never meet.
    if (page.waiting) waiting.push(page.waiting);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return { tasks, waiting: waiting.join(',') };
}

export function plainRow<Job extends RowJob>(job: Job): JobRow<Job> {
  const state = slurmState(job.state, job.outcome?.kind ?? null);
  const isWaiting = job.state === 'pending';
  return {
    id: String(job.id),
    job,
    index: null,
    state,
    isOver: job.state === 'done',
    startedAt: isWaiting ? null : (job.runStartedAt ?? job.startedAt),
    endedAt: job.endedAt,
    nodes: job.nodes,
    where: isWaiting ? reason(job) : compressHosts(job.nodes),
    exit: exitOf(job.exit),
    kind: job.outcome?.kind ?? null,
    detail: job.outcome?.detail ?? null,
  };
}

function taskRow<Job extends RowJob>(job: Job, task: TaskView): JobRow<Job> {
  return {
    id: `${job.id}_${task.index}`,
    job,
    index: task.index,
    state: slurmState(task.state, task.outcome?.kind ?? null),
    isOver: task.state === 'done',
    startedAt: task.startedAt,
    endedAt: task.endedAt,
    nodes: task.nodes,
    where: compressHosts(task.nodes),
    exit: exitOf(task.exit),
    kind: task.outcome?.kind ?? null,
    detail: task.outcome?.detail ?? null,
    starts: task.epoch,
  };
}

const REASONS: Readonly<Record<string, string>> = {
  held: 'JobHeldUser',
  dependency: 'Dependency',
  begin_time: 'BeginTime',
  priority: 'Priority',
  cluster_resource: 'Licenses',
};

/** Slurm's word where there is one, and else that resources are waited for. */
function reason(job: RowJob): string {
  const { held, reason: why } = job;
  if (held) return '(JobHeldUser)';
  if (isAtLimit(job)) return '(JobArrayTaskLimit)';
  return `(${REASONS[why?.kind ?? ''] ?? 'Resources'})`;
}

/** An array that has as many tasks under way as it may. */
function isAtLimit({ runningMax, taskCounts }: RowJob): boolean {
  if (runningMax == null) return false;
  const begun = Object.entries(taskCounts).filter(([state]) => !/^(?:pending|done)$/.test(state));
  return begun.reduce((sum, [, count]) => sum + count, 0) >= runningMax;
}

/** Slurm's word for why it waits, or ended as it did. */
export function reasonOf({ where, isOver, kind, detail }: JobRow<RowJob>): string {
  if (where.startsWith('(')) return where.slice(1, -1);
  return isOver ? endReason(kind, detail) : 'None';
}

/** A command on one line, as each record is for those who read it. */
export function commandLine(command: string): string {
  const lines = command.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

/** Labels by which folders are found are asked for by nobody. */
export function askedFeatures(labels: readonly string[]): readonly string[] {
  return labels.filter((label) => !label.startsWith('shared='));
}

/** Counted resources of the cluster, as Slurm calls them. */
export function licensesOf({ ofCluster = {} }: JobView['request']): string {
  const counted = Object.entries(ofCluster).map(([name, count]) => `${name}:${count}`);
  return counted.join(',') || '(null)';
}

export function exitOf(
  exit: { readonly code?: number | undefined; readonly signal?: number | undefined } | null,
) {
  return { code: exit?.code ?? 0, signal: exit?.signal ?? 0 };
}

/** When it ends at the latest where it has not ended; null: nobody knows. */
export function endOf({ job, startedAt, endedAt, isOver }: JobRow<RowJob>): number | null {
  if (isOver || startedAt === null || job.walltimeMs === null) return endedAt;
  return startedAt + job.walltimeMs;
}

/** Points; 0 says in Slurm that a job is held, and 1 is the least of the others. */
export function priorityOf({ priority, held }: Pick<JobView, 'priority' | 'held'>): number {
  return held ? 0 : Math.max(1, Math.round(priority ?? 0));
}

/** What is still waited for, as Slurm writes it. */
export function openDependencies({ openDependencies: open = [] }: JobView): string {
  const words = open.map(({ jobId, condition }) => {
    if (condition === 'singleton') return 'singleton(unfulfilled)';
    const known = Object.hasOwn(DEPENDENCIES, condition);
    const word = known ? DEPENDENCIES[condition as keyof typeof DEPENDENCIES] : 'afterany';
    return `${word}:${jobId}(unfulfilled)`;
  });
  return words.join(',') || '(null)';
}

const DEPENDENCIES = {
  ok: 'afterok',
  any: 'afterany',
  fail: 'afternotok',
  each: 'aftercorr',
  start: 'after',
} as const;

/** The waiting tasks of an array, one by one. */
export function apart<Job extends RowJob>(row: JobRow<Job>): JobRow<Job>[] {
  const [, indices] = /_\[([\d,-]+)(?:%\d+)?\]$/.exec(row.id) ?? [];
  if (indices === undefined) return [row];
  return indices.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => ({
      ...row,
      index: from + at,
      id: `${row.job.id}_${from + at}`,
    }));
  });
}

/** Names of nodes that are none: an empty list of a misspelt name misleads. */
export async function refuseNodes(api: Api, names: readonly string[]): Promise<void> {
  const { nodes } = await api.call('listNodes');
  const wrong = names.find((name) => nodes.every((node) => node.name !== name));
  if (wrong !== undefined) throw usage(`Invalid node name ${wrong}`);
}
