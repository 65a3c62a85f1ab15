// `weft history`: the accounting records of jobs, also of those long gone.

import type { HistoryJob, HistoryTask } from '../../api/history.ts';
import { parseDuration } from '../../core/base/duration.ts';
import { formatSize } from '../../core/base/size.ts';
import { formatTaskId, type JobId } from '../../core/model/ids.ts';
import { OUTCOMES } from '../../core/model/job.ts';
import type { Context } from '../context.ts';
import { usage } from '../failure.ts';
import { readPlace } from '../ids.ts';
import { elapsed } from '../jobs/columns.ts';
import { historyPages } from '../jobs/history-pages.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import type { Column } from '../output/table.ts';
import { formatExit, formatInstant, formatSpan } from '../output/words.ts';
import { parseInstant } from '../submit/instant.ts';
import { defineVerb } from '../verb.ts';
import { choice, cutWords, readLimit } from './jobs.ts';

interface Options extends ListingOptions {
  readonly user?: string;
  readonly name?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly until?: string;
  readonly tasks?: boolean;
  readonly limit?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('[job]', 'only this job');
    command.option('-u, --user <name>', "only this user's");
    command.option('--name <name>', 'only with this name');
    command.option('-s, --state <state>', 'only what is active, or done');
    command.option('--outcome <outcome>', `only with this outcome: ${OUTCOMES.join(', ')}`);
    command.option('--since <time>', 'submitted since: 2h (ago), 18:30, 2026-01-31');
    command.option('--until <time>', 'submitted before');
    command.option('--tasks', 'one line per ended start of a task instead');
    command.option('--limit <count>', 'at most this many jobs', '100');
    defineListing(command);
  },
  async run({ context, args: [job], options }) {
    const { jobs, tasks, isCut } = await fetchHistory(context, job, options);
    // Nothing matched: because of the other options, or because there never was such a job?
    if (job !== undefined && jobs.length === 0) {
      await (await context.api()).call('getJob', { params: { id: String(readPlace(job).jobId) } });
    }
    const now = Date.now();
    if (options.tasks) {
      const name = (task: HistoryTask) => taskName(task);
      const columns = taskColumns(now);
      await context.list({ rows: tasks, columns, name, empty: 'No records.' }, options.output);
    } else {
      const name = (row: HistoryJob) => String(row.jobId);
      const columns = jobColumns(now);
      await context.list({ rows: jobs, columns, name, empty: 'No records.' }, options.output);
    }
    if (isCut) context.note(cutWords(jobs.length, 'jobs'));
    return 0;
  },
});

async function fetchHistory(context: Context, job: string | undefined, options: Options) {
  const limit = readLimit(options.limit ?? '100');
  const filter = {
    jobId: job === undefined ? undefined : readPlace(job).jobId,
    owner: options.user,
    name: options.name,
    state: choice('--state', options.state, ['active', 'done']),
    outcome: choice('--outcome', options.outcome, OUTCOMES),
    from: instantBefore('--since', options.since),
    until: instantBefore('--until', options.until),
    tasks: options.tasks,
  };
  const jobs = new Map<number, HistoryJob>();
  const tasks: HistoryTask[] = [];
  let isCut = false;
  for await (const page of historyPages(await context.api(), filter, limit)) {
    for (const row of page.jobs) jobs.set(row.jobId, row);
    for (const task of page.tasks) tasks.push(task);
    isCut = page.next !== null;
  }
  return { jobs: [...jobs.values()], tasks, isCut };
}

/** A duration counts back from now; a time of day is the last one that was. */
function instantBefore(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const now = Date.now();
  const ago = /^\d+:/.test(text) ? null : parseDuration(text);
  if (ago?.ok) return now - ago.value;
  const at = parseInstant(text, now);
  if (!at.ok) throw usage(`${flag}: ${at.error}`);
  return /^\d{1,2}:/.test(text) ? at.value - 86_400_000 : at.value;
}

function jobColumns(now: number): Column<HistoryJob>[] {
  return [
    { title: 'JOB', value: (job) => String(job.jobId), align: 'right' },
    { title: 'NAME', value: (job) => job.name },
    { title: 'USER', value: (job) => job.owner },
    { title: 'OUTCOME', value: (job) => job.outcome ?? job.state },
    { title: 'EXIT', value: exit },
    { title: 'TASKS', value: (job) => String(job.taskCount), align: 'right' },
    { title: 'NODES', value: (job) => String(job.nodeCount), align: 'right', wide: true },
    { title: 'CPUS', value: (job) => String(job.cpuCount), align: 'right', wide: true },
    { title: 'MEMORY', value: (job) => formatSize(job.memoryBytes), align: 'right', wide: true },
    { title: 'LIMIT', value: limitWords, align: 'right', wide: true },
    { title: 'SUBMITTED', value: (job) => formatInstant(job.submittedAt, now) },
    { title: 'STARTED', value: (job) => formatInstant(job.startedAt, now), wide: true },
    { title: 'ENDED', value: (job) => formatInstant(job.endedAt, now), wide: true },
    { title: 'TIME', value: (job) => elapsed(job.runStartedAt, job.endedAt, now), align: 'right' },
    {
      title: 'IN ALL',
      value: (job) => elapsed(job.startedAt, job.endedAt, now),
      align: 'right',
      wide: true,
    },
    { title: 'COMMAND', value: (job) => job.command },
    { title: 'DETAIL', value: (job) => job.detail ?? '', wide: true },
  ];
}

/** `-`: not known. */
function limitWords({ walltimeMs }: HistoryJob): string {
  if (walltimeMs == null) return '-';
  return walltimeMs === 0 ? 'none' : formatSpan(walltimeMs);
}

function taskColumns(now: number): Column<HistoryTask>[] {
  return [
    { title: 'TASK', value: taskName },
    { title: 'OUTCOME', value: (task) => (task.final ? task.outcome : `${task.outcome}, again`) },
    { title: 'EXIT', value: exit },
    { title: 'NODES', value: (task) => task.nodes.join(',') },
    { title: 'STARTED', value: (task) => formatInstant(task.startedAt, now) },
    { title: 'TIME', value: (task) => elapsed(task.startedAt, task.endedAt, now), align: 'right' },
    {
      title: 'CPU',
      value: (task) => formatSpan((task.userUs + task.systemUs) / 1000),
      align: 'right',
    },
    { title: 'MEMORY', value: (task) => formatSize(task.memoryPeakBytes), align: 'right' },
    { title: 'DETAIL', value: (task) => task.detail ?? '' },
  ];
}

function taskName({ jobId, index, epoch }: HistoryTask): string {
  return `${formatTaskId(jobId as JobId, index)}#${epoch}`;
}

function exit(row: { exitCode: number | null; signal: number | null }): string {
  if (row.signal !== null) return formatExit({ signal: row.signal });
  return row.exitCode === null ? '-' : String(row.exitCode);
}
