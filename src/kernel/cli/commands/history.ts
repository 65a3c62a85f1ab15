// `weft history`: the accounting records of jobs, also of those long gone.

import { headNow } from '../../api/head-time.ts';
import type { HistoryJob, HistoryTask } from '../../api/history.ts';
import { formatSize } from '../../base/size.ts';
import { usage } from '../../model/failure.ts';
import type { JobId } from '../../model/ids.ts';
import {
  ANY_FAILURE,
  isFailure,
  isOutcome,
  OUTCOME_FILTERS,
  type OutcomeKind,
} from '../../model/job.ts';
import type { Context } from '../context.ts';
import { readPlace } from '../ids.ts';
import { itemWords, progressWords } from '../jobs/columns.ts';
import { forEach } from '../jobs/each.ts';
import { historyPages } from '../jobs/history-pages.ts';
import { instantBefore } from '../jobs/instant-before.ts';
import { choice, cutWords, defineFailed, nameIn, readLimit } from '../jobs/row-options.ts';
import { jobStretches, RUNNING, timeLine, WAITING } from '../output/bars.ts';
import { cutLine } from '../output/cut-line.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { colourOf } from '../output/paint.ts';
import { type Column, displayWidth, printable } from '../output/table.ts';
import { instantColumn, spanColumn } from '../output/times.ts';
import { formatExit, formatInstant, formatSpan } from '../output/words.ts';
import { defineVerb } from '../verb.ts';

interface Options extends ListingOptions {
  readonly user?: string;
  readonly name?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly failed?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly tasks?: boolean;
  readonly limit?: string;
  readonly plot?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('[job...]', 'only these jobs');
    command.option('-u, --user <name>', "only this user's");
    command.option('--name <name>', 'only with this name');
    command.option('-s, --state <state>', 'only what is active, or done');
    command.option(
      '--outcome <outcome>',
      `only with this outcome, with --tasks its tasks: ${OUTCOME_FILTERS.join(', ')} (any failure)`,
    );
    defineFailed(command, 'only what failed, in any way: --outcome failure', 'outcome');
    command.option('--since <time>', 'submitted since: 2h (ago), 18:30, 2026-01-31');
    command.option('--until <time>', 'submitted before');
    command.option('--tasks', 'one line per ended start of a task instead');
    command.option('--limit <count>', 'at most this many jobs', '100');
    command.option('--plot', 'when each waited and ran, as bars over time');
    defineListing(command);
  },
  async run({ context, args, options }) {
    const ids = [...new Set(args.map((job) => readPlace(job).jobId))].sort((a, b) => b - a);
    const { jobs, tasks, isCut } = await fetchHistory(context, ids, options);
    const found = new Set(jobs.map(({ id }) => id));
    // Not matched: because of the other options, or because there never was such a job?
    const named = isCut ? [] : ids.map(String);
    const exitCode = await forEach(context, named, async (id) => {
      if (!found.has(Number(id))) await (await context.api()).call('getJob', { params: { id } });
    });
    const now = headNow();
    if (options.plot) {
      for (const line of plot(jobs, now, context.width ?? PLOT_WIDTH)) context.print(line);
    } else if (options.tasks) {
      const name = (task: HistoryTask) => taskName(task);
      const columns = taskColumns(
        now,
        tasks.some(({ item }) => item !== undefined),
      );
      await context.list({ rows: tasks, columns, name, empty: 'No records.' }, options.output);
    } else {
      const name = (row: HistoryJob) => String(row.id);
      const columns = jobColumns(now);
      await context.list({ rows: jobs, columns, name, empty: 'No records.' }, options.output);
    }
    if (isCut) context.note(cutWords(jobs.length, 'job'));
    return exitCode;
  },
});

/** Columns of a plot where there is no terminal. */
const PLOT_WIDTH = 80;
/** Columns for ids and names at most. */
const TITLE_WIDTH = 24;

/** A line of time for each job, the oldest first, between the first submission and the last end. */
function plot(jobs: readonly HistoryJob[], now: number, width: number): string[] {
  if (jobs.length === 0) return ['No records.'];
  const rows = jobs.toReversed();
  const from = Math.min(...rows.map(({ submittedAt }) => submittedAt));
  const until = Math.max(...rows.map(({ endedAt }) => endedAt ?? now));
  const titles = rows.map(({ id, name }) => cutLine(printable(`${id} ${name}`), TITLE_WIDTH));
  const titleWidth = Math.max(...titles.map(displayWidth));
  const room = Math.max(20, width - titleWidth - 2);
  const [first, last] = [formatInstant(from, now), formatInstant(until, now)];
  const gap = ' '.repeat(Math.max(2, room - first.length - last.length));
  const axis = `${' '.repeat(titleWidth)}  ${first}${gap}${last}`;
  const lines = rows.map((job, at) => {
    const title = titles[at] ?? '';
    const padded = title + ' '.repeat(titleWidth - displayWidth(title));
    return `${padded}  ${timeLine(jobStretches(job, now), { from, until }, room)}`;
  });
  return [axis, ...lines, `${WAITING} waited  ${RUNNING} ran`];
}

/** @param ids the newest first; none: of all jobs */
async function fetchHistory(context: Context, ids: readonly JobId[], options: Options) {
  const limit = readLimit(options.limit ?? '100');
  const outcome = options.failed
    ? ANY_FAILURE
    : choice('--outcome', options.outcome, OUTCOME_FILTERS);
  const filter = {
    owner: nameIn('--user', options.user),
    name: nameIn('--name', options.name),
    state: choice('--state', options.state, ['active', 'done']),
    outcome: options.tasks ? outcomeOfJobs(outcome) : outcome,
    from: instantBefore('--since', options.since),
    until: instantBefore('--until', options.until),
    tasks: options.tasks,
  };
  if ((filter.from ?? 0) >= (filter.until ?? Number.POSITIVE_INFINITY)) {
    throw usage('--since: that is not before --until');
  }
  const jobs = new Map<number, HistoryJob>();
  const tasks: HistoryTask[] = [];
  const api = await context.api();
  let isCut = false;
  for (const [at, jobId] of (ids.length === 0 ? [undefined] : ids).entries()) {
    for await (const page of historyPages(api, { ...filter, jobId }, limit - jobs.size)) {
      for (const row of page.jobs) jobs.set(row.id, row);
      for (const task of page.tasks) {
        if (outcome === undefined || isOutcome(task.outcome.kind, outcome)) tasks.push(task);
      }
      isCut = page.next !== null;
    }
    if (jobs.size < limit) continue;
    isCut ||= at + 1 < ids.length;
    break;
  }
  return { jobs: [...jobs.values()], tasks, isCut };
}

/** A failed task fails its job, whatever its word is; what else its tasks did, it does not say. */
function outcomeOfJobs(wish: string | undefined): string | undefined {
  const isOfFailures =
    wish === ANY_FAILURE || (wish !== undefined && isFailure(wish as OutcomeKind));
  return isOfFailures ? ANY_FAILURE : undefined;
}

function jobColumns(now: number): Column<HistoryJob>[] {
  return [
    { title: 'JOB', value: (job) => String(job.id), align: 'right' },
    { title: 'NAME', value: (job) => job.name, least: 8 },
    { title: 'USER', value: (job) => job.owner, least: 8 },
    { title: 'STATE', value: endWords, colour: colourOf },
    { title: 'EXIT', value: exit },
    { title: 'TASKS', value: taskWords, raw: (job) => job.taskCount, align: 'right' },
    {
      title: 'NODES',
      value: (job) => job.nodes?.join(',') || String(job.nodeCount),
      raw: (job) => job.nodeCount,
      align: 'right',
      wide: true,
    },
    { title: 'CPUS', value: (job) => String(job.cpuCount), align: 'right', wide: true },
    {
      title: 'MEMORY',
      value: (job) => formatSize(job.memoryBytes),
      raw: (job) => job.memoryBytes,
      align: 'right',
      wide: true,
    },
    {
      title: 'LIMIT',
      value: limitWords,
      raw: ({ walltimeMs }) => (walltimeMs ? walltimeMs / 1000 : null),
      align: 'right',
      wide: true,
    },
    instantColumn('SUBMITTED', (job) => job.submittedAt, { now }),
    instantColumn('STARTED', (job) => job.startedAt, { now, wide: true }),
    instantColumn('ENDED', (job) => job.endedAt, { now, wide: true }),
    spanColumn('TIME', (job) => ({ from: job.runStartedAt, until: job.endedAt }), { now }),
    spanColumn('IN ALL', (job) => ({ from: job.startedAt, until: job.endedAt }), {
      now,
      wide: true,
    }),
    { title: 'COMMAND', value: (job) => job.command, least: 12 },
    { title: 'DETAIL', value: (job) => job.outcome?.detail ?? '', wide: true },
  ];
}

/** `-`: not known. */
function limitWords({ walltimeMs }: HistoryJob): string {
  return walltimeMs === null ? 'none' : formatSpan(walltimeMs);
}

function taskColumns(now: number, hasItems: boolean): Column<HistoryTask>[] {
  const values: Column<HistoryTask> = { title: 'VALUES', value: itemWords, least: 8 };
  return [
    { title: 'TASK', value: taskName },
    ...(hasItems ? [values] : []),
    {
      title: 'OUTCOME',
      value: ({ final, outcome }) => (final ? outcome.kind : `${outcome.kind}, again`),
      colour: colourOf,
    },
    { title: 'EXIT', value: exit },
    { title: 'NODES', value: (task) => task.nodes.join(','), least: 6 },
    instantColumn('STARTED', (task) => task.startedAt, { now }),
    spanColumn('TIME', (task) => ({ from: task.startedAt, until: task.endedAt }), { now }),
    {
      title: 'CPU',
      value: (task) => (isMeasured(task) ? formatSpan((task.userUs + task.systemUs) / 1000) : '-'),
      raw: (task) => (isMeasured(task) ? (task.userUs + task.systemUs) / 1e6 : null),
      align: 'right',
    },
    {
      title: 'MEMORY',
      value: (task) => (isMeasured(task) ? formatSize(task.memoryPeakBytes) : '-'),
      raw: (task) => (isMeasured(task) ? task.memoryPeakBytes : null),
      align: 'right',
    },
    { title: 'DETAIL', value: (task) => task.outcome.detail ?? '', least: 12 },
  ];
}

/** No process has a peak of 0: nobody saw it run, or its site does not say what it used. */
function isMeasured({ memoryPeakBytes, userUs, systemUs }: HistoryTask): boolean {
  return memoryPeakBytes + userUs + systemUs > 0;
}

function taskName({ id, epoch }: HistoryTask): string {
  return `${id}#${epoch}`;
}

function endWords({ outcome, state }: HistoryJob): string {
  return outcome?.kind ?? state;
}

/** Count of its tasks, with the words of the list of jobs. */
function taskWords({ taskCount, outcome, outcomeCounts = {} }: HistoryJob): string {
  if (taskCount === 1 || Object.keys(outcomeCounts).length === 0) return String(taskCount);
  return progressWords(taskCount, outcome === null ? 0 : taskCount, outcomeCounts);
}

function exit({ outcome }: Pick<HistoryJob, 'outcome'>): string {
  const { code, signal } = outcome?.exit ?? {};
  return signal === undefined ? String(code ?? '-') : formatExit({ signal });
}
