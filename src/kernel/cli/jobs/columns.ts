// Columns of job and task listings.

import type { JobView, TaskView } from '../../api/jobs.ts';
import { formatSize } from '../../base/size.ts';
import { formatItem } from '../../model/items.ts';
import { colourOf } from '../output/paint.ts';
import { byOwnClock } from '../output/prose.ts';
import type { Column } from '../output/table.ts';
import { instantColumn, spanColumn } from '../output/times.ts';
import { endCounts } from '../progress/end-counts.ts';
import { failedCount } from './failed-tasks.ts';
import { endRemark, type Given } from './outcome.ts';

/** `held` and the outcome say more than `pending` and `done`. */
export function stateWords(view: Pick<JobView, 'state' | 'outcome'> & { held?: boolean }): string {
  if (view.state === 'done') return view.outcome?.kind ?? 'done';
  return view.state === 'pending' && view.held ? 'held' : view.state;
}

/** The row with the word of the column STATE, as `weft status` has it, for JSON and templates. */
export function withStatus<T extends Parameters<typeof stateWords>[0]>(
  row: T,
): T & { readonly status: string } {
  return { ...row, status: stateWords(row) };
}

function progress(job: JobView): string {
  if (job.array === null) return '1';
  return progressWords(job.taskCount, job.taskCounts['done'] ?? 0, job.outcomeCounts);
}

/**
 * `3/100` completed, and `3/100, 2 failed`: what failed or was cancelled stands beside it. `ended`:
 * how many did.
 */
export function progressWords(
  total: number,
  ended: number,
  counts: Readonly<Record<string, number>>,
): string {
  const { completed, failed, cancelled } = endCounts(ended, counts);
  const words = [`${completed}/${total}`];
  if (failed > 0) words.push(`${failed} failed`);
  if (cancelled > 0) words.push(`${cancelled} cancelled`);
  return words.join(', ');
}

/** `a=1 b=2`, the point of a sweep. */
export function itemWords({ item }: Pick<TaskView, 'item'>): string {
  return item === undefined ? '' : formatItem(item);
}

function remark(job: JobView): string {
  if (job.notice !== null) return job.notice;
  if (job.state === 'done') return endOfJob(job);
  if (job.reason === null) return '';
  return job.state === 'running' ? `next task: ${job.reason.words}` : job.reason.words;
}

/** How many of several tasks failed comes first, then why one did. */
function endOfJob(job: JobView): string {
  const why = endRemark(job, job);
  const failed = failedCount(job);
  if (job.array === null || failed === 0) return why;
  return [`${failed} of ${job.taskCount} failed`, why].filter(Boolean).join('; ');
}

function priorityWords({ priority }: JobView): string {
  return priority === null ? '-' : String(Math.round(priority));
}

/** `?`: it ran where nobody has recorded. */
function nodeWords({ nodes, nodesUnknown }: JobView): string {
  return nodesUnknown ? '?' : nodes.join(',') || '-';
}

export function jobColumns(now: number): Column<JobView>[] {
  return [
    { title: 'JOB', value: (job) => String(job.id), align: 'right' },
    { title: 'NAME', value: (job) => job.name, least: 8 },
    { title: 'USER', value: (job) => job.owner, least: 8 },
    { title: 'STATE', value: stateWords, colour: colourOf },
    { title: 'TASKS', value: progress, align: 'right' },
    spanColumn('TIME', (job) => ({ from: job.runStartedAt, until: job.endedAt }), { now }),
    { title: 'NODES', value: nodeWords, least: 6 },
    { title: 'PARTITION', value: (job) => job.partition, wide: true },
    { title: 'SOURCE', value: (job) => job.siteJob ?? job.source, wide: true },
    { title: 'PRIORITY', value: priorityWords, align: 'right', wide: true },
    {
      title: 'CPUS',
      value: (job) => String(job.request.perNode.cpuCount),
      align: 'right',
      wide: true,
    },
    {
      title: 'MEMORY',
      value: (job) => formatSize(job.request.perNode.memoryBytes),
      raw: (job) => job.request.perNode.memoryBytes,
      align: 'right',
      wide: true,
    },
    instantColumn('SUBMITTED', (job) => job.submittedAt, { now, wide: true }),
    instantColumn('STARTED', (job) => job.startedAt, { now, wide: true }),
    instantColumn('ENDED', (job) => job.endedAt, { now, wide: true }),
    { title: 'DIRECTORY', value: (job) => job.directory ?? 'private', wide: true },
    { title: 'REMARK', value: (job) => byOwnClock(remark(job), now), least: 12 },
    { title: 'COMMAND', value: (job) => job.command, wide: true },
  ];
}

/** `given`: what its job was given, for how a task ended. */
export function taskColumns(
  now: number,
  { hasItems = false, given }: { readonly hasItems?: boolean; readonly given?: Given } = {},
): Column<TaskView>[] {
  const remarkOf = (task: TaskView) => byOwnClock(taskRemark(task, given), now);
  const values: Column<TaskView> = { title: 'VALUES', value: itemWords, least: 8 };
  return [
    { title: 'TASK', value: (task) => task.id },
    ...(hasItems ? [values] : []),
    { title: 'STATE', value: stateWords, colour: colourOf },
    { title: 'EPOCH', value: (task) => String(task.epoch), align: 'right' },
    spanColumn('TIME', (task) => ({ from: task.startedAt, until: task.endedAt }), { now }),
    { title: 'NODES', value: (task) => task.nodes.join(',') || '-', least: 6 },
    instantColumn('STARTED', (task) => task.startedAt, { now, wide: true }),
    instantColumn('ENDED', (task) => task.endedAt, { now, wide: true }),
    { title: 'REMARK', value: remarkOf, least: 12 },
  ];
}

function taskRemark(task: TaskView, given?: Given): string {
  if (task.notice !== null) return task.notice;
  if (task.reason !== null && task.state === 'pending') return task.reason.words;
  return endRemark(task, given);
}
