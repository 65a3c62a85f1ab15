// Jobs as rows of squeue: of an array each task that has begun, and those that wait together.

import type { JobView, ListJobsReply, TaskView } from '../../../kernel/api/jobs.ts';
import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';
import { compressHosts } from '../core/hostlist.ts';
import { endReason, type SlurmExit, type SlurmState, slurmState } from '../core/states.ts';

export interface JobRow {
  /** `42`, `42_7`, `42_[8-99%4]`. */
  readonly id: string;
  readonly job: JobView;
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

/** Newest first. The head makes the next page while whoever asked is busy with the last one. */
export async function* jobPages(
  api: Api,
  { state, owner, name, ids, before: first }: Wanted,
): AsyncGenerator<JobView[]> {
  if (ids !== undefined && ids.length <= ASKED_MAX) return yield* theseJobs(api, state, ids);
  const ask = (before: number | undefined): Promise<ListJobsReply> => {
    const asked = api.call('listJobs', { query: { state, limit: 1000, owner, name, before } });
    asked.catch(() => undefined); // Told when it is waited for, unless nobody does any more.
    return asked;
  };
  let asked: Promise<ListJobsReply> | null = ask(first);
  while (asked !== null) {
    const { jobs, next }: ListJobsReply = await asked;
    asked = next === null ? null : ask(next);
    yield jobs;
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

export async function rowsOf(api: Api, job: JobView): Promise<JobRow[]> {
  if (job.array === null) return [plainRow(job)];
  const tasks = await tasksOf(api, job);
  const waiting = new IntervalSet();
  const rows: JobRow[] = [];
  for (const task of tasks) {
    if (task.index === null) continue;
    if (task.state === 'pending') waiting.add(task.index);
    else rows.push(taskRow(job, task));
  }
  if (waiting.size === 0) return rows;
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

async function tasksOf(api: Api, { id }: JobView): Promise<TaskView[]> {
  const tasks: TaskView[] = [];
  let after: number | null = null;
  do {
    const page: { tasks: TaskView[]; next: number | null } = await api.call('listTasks', {
      params: { id: String(id) },
      query: after === null ? { limit: 1000 } : { limit: 1000, after },
    });
    tasks.push(...page.tasks);
    after = page.next;
  } while (after !== null);
  return tasks;
}

function plainRow(job: JobView): JobRow {
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

function taskRow(job: JobView, task: TaskView): JobRow {
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
function reason(job: JobView): string {
  const { held, reason: why } = job;
  if (held) return '(JobHeldUser)';
  if (isAtLimit(job)) return '(JobArrayTaskLimit)';
  return `(${REASONS[why?.kind ?? ''] ?? 'Resources'})`;
}

/** An array that has as many tasks under way as it may. */
function isAtLimit({ runningMax, taskCounts }: JobView): boolean {
  if (runningMax == null) return false;
  const begun = Object.entries(taskCounts).filter(([state]) => !/^(?:pending|done)$/.test(state));
  return begun.reduce((sum, [, count]) => sum + count, 0) >= runningMax;
}

/** Slurm's word for why it waits, or ended as it did. */
export function reasonOf({ where, isOver, kind, detail }: JobRow): string {
  if (where.startsWith('(')) return where.slice(1, -1);
  return isOver ? endReason(kind, detail) : 'None';
}

/** Labels by which folders are found are asked for by nobody. */
export function askedFeatures(labels: readonly string[]): readonly string[] {
  return labels.filter((label) => !label.startsWith('shared='));
}

export function exitOf(
  exit: { readonly code?: number | undefined; readonly signal?: number | undefined } | null,
) {
  return { code: exit?.code ?? 0, signal: exit?.signal ?? 0 };
}

/** When it ends at the latest where it has not ended; null: nobody knows. */
export function endOf({ job, startedAt, endedAt, isOver }: JobRow): number | null {
  if (isOver || startedAt === null || job.walltimeMs === null) return endedAt;
  return startedAt + job.walltimeMs;
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
export function apart(row: JobRow): JobRow[] {
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
