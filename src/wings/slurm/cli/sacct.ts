// `sacct`: what ran, from the history, with what is active.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { HistoryJob, HistoryTask } from '../../../kernel/api/history.ts';
import type { JobView } from '../../../kernel/api/jobs.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { historyPages } from '../../../kernel/cli/jobs/history-pages.ts';
import { instantBefore } from '../../../kernel/cli/jobs/instant-before.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';
import type { StepView } from '../../steps/api/step-view.ts';
import { byNames, type Field, layOut } from '../core/formats.ts';
import { compressHosts } from '../core/hostlist.ts';
import { slurmId } from '../core/ids.ts';
import type { OptionRow } from '../core/option-table.ts';
import { endedAs, isState, type SlurmState, slurmState } from '../core/states.ts';
import { formatLong, formatUsed } from '../core/times.ts';
import { accountOf } from './accounts.ts';
import { instant } from './instants.ts';
import { exitOf, jobPages, rowsOf as queueRows } from './job-rows.ts';
import { META } from './queue-json.ts';
import {
  clusterOf,
  hostsOf,
  idsOf,
  listOf,
  orSaid,
  readWords,
  refuseOperands,
  refuseStates,
  speaking,
} from './speaking.ts';

const value = { value: 'always' } as const;
export const ACCOUNT_OPTIONS = [
  { long: 'jobs', short: 'j', ...value, many: true, words: 'only these' },
  { long: 'user', short: 'u', ...value, many: true, words: 'only of these users' },
  { long: 'allusers', short: 'a', words: 'of all users' },
  { long: 'name', ...value, many: true, words: 'only with these names' },
  { long: 'partition', short: 'r', ...value, many: true, words: 'only of these partitions' },
  { long: 'state', short: 's', ...value, many: true, words: 'only in these states' },
  {
    long: 'starttime',
    short: 'S',
    ...value,
    words: 'that were there since, submitted at most 31 days before it, two with --allusers',
  },
  { long: 'endtime', short: 'E', ...value, words: 'submitted before' },
  { long: 'allocations', short: 'X', words: 'without a line for the script itself' },
  { long: 'noheader', short: 'n', words: 'without the first lines' },
  { long: 'parsable', short: 'p', words: '| between columns, and behind the last' },
  { long: 'parsable2', short: 'P', words: '| between columns' },
  { long: 'delimiter', ...value, words: 'in place of |' },
  { long: 'format', short: 'o', ...value, many: true, words: '`JobID%20,State,Elapsed`' },
  { long: 'brief', short: 'b', words: 'JobID, State and ExitCode' },
  { long: 'json', value: 'maybe', words: "in the shape of Slurm's data parser" },
  { long: 'clusters', short: 'M', ...value, words: 'the name of this one, or `all`' },
  { long: 'duplicates', short: 'D', words: 'a job has one record, that of its last start' },
  { long: 'truncate', short: 'T', words: 'times are as they were' },
  { long: 'allclusters', short: 'L', words: 'there is one' },
  { long: 'local', words: 'as it is anyway' },
  { long: 'noconvert', words: 'as it is anyway' },
  { long: 'nodelist', short: 'N', ...value, many: true, words: 'only what ran on these nodes' },
  { long: 'accounts', short: 'A', ...value, kind: 'hint', words: 'there are no accounts here' },
  { long: 'helpformat', short: 'e', words: 'names of the columns' },
  { long: 'long', short: 'l', words: 'with all that is known of a job' },
  { long: 'units', ...value, words: 'memory in K, M, G, T or P' },
  { long: 'federation', words: 'there is one cluster' },
  { long: 'whole-hetjob', value: 'maybe', words: 'there are none' },
  { long: 'verbose', short: 'v', words: 'nothing more is said' },
] as const satisfies readonly OptionRow[];

export const summary = 'Accounting records of jobs, as sacct of Slurm shows them.';
export const verb = speaking('sacct', sacct);

interface Row {
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
  /** Processes of a step; absent: of the allocation, which has none itself. */
  readonly ranks?: number;
}

async function sacct(context: Context, words: readonly string[]): Promise<number> {
  const { given: typed, operands } = readWords(ACCOUNT_OPTIONS, words);
  const given =
    typed.brief === undefined ? orSaid(typed, context, { format: 'SACCT_FORMAT' }) : typed;
  refuseOperands(operands);
  if (given.helpformat !== undefined) {
    context.print(Object.keys(FIELDS).join('\n'));
    return 0;
  }
  const hosts = hostsOf(given.nodelist);
  refuseStates(listOf(given.state));
  const api = await context.api();
  await clusterOf(context, given.clusters);
  const ids = idsOf(given.jobs);
  const me = (await api.call('whoami')).name;
  const owners =
    given.allusers !== undefined || ids !== undefined
      ? listOf(given.user)
      : (listOf(given.user) ?? [me]);
  const owner = owners?.length === 1 ? owners[0] : undefined;
  const from = since(given.starttime, ids);
  const until = given.endtime === undefined ? undefined : readInstant('--endtime', given.endtime);
  if (from !== undefined && until !== undefined && from > until)
    throw usage(`Start time (${instant(from)}) requested is after end time (${instant(until)}).`);
  const before = (from ?? 0) - (owner === undefined ? BEFORE_MS : OWN_BEFORE_MS);
  const submittedFrom = from === undefined ? undefined : Math.max(0, before);
  const jobs = await historyOf(context, { ids, from: submittedFrom, until, owner });
  const some = jobs
    .filter(({ job }) => from === undefined || job.endedAt === null || job.endedAt >= from)
    .filter(({ job }) => owners === undefined || owners.includes(job.owner))
    .filter(({ job }) => isAmong(given.name, job.name) && isAmong(given.partition, job.partition));
  const all: Row[] = [];
  const steps = given.allocations === undefined ? await stepRows(api, some) : null;
  const live = await liveJobs(api, some);
  for (const one of some) all.push(...withSteps(await rowsOf(api, one, live), steps));
  const rows = all
    .filter(
      ({ id }) =>
        ids === undefined ||
        ids.some((one) => id === one || id.split(/[_.]/)[0] === one || id.startsWith(`${one}.`)),
    )
    .filter(({ state }) => given.state === undefined || isState(state, listOf(given.state) ?? []))
    .filter(({ part }) => given.allocations === undefined || part === null)
    .filter(({ nodes }) => hosts === undefined || nodes.some((name) => hosts.includes(name)));
  if (given.json !== undefined) {
    context.print(
      JSON.stringify(
        { meta: META, errors: [], jobs: rows.filter(({ part }) => part === null).map(json) },
        null,
        1,
      ),
    );
    return 0;
  }
  const format = given.format ?? usualOf(given);
  const pieces = byNames(format, FIELDS, { mark: '%', right: true });
  if (!pieces.ok) throw usage(pieces.error);
  const unit = unitOf(given.units);
  const { clusterName } = /cluster/i.test(format) ? await api.call('info') : { clusterName: '' };
  const shown = pieces.value.map((piece) => {
    if (piece.kind === 'text') return piece;
    if (piece.title === 'Cluster') return { ...piece, value: () => clusterName };
    return unit === null || !MEMORY.test(piece.title)
      ? piece
      : { ...piece, value: (row: Row) => inUnit(piece.value(row), unit) };
  });
  const bar = given.parsable !== undefined || given.parsable2 !== undefined;
  const header = given.noheader === undefined;
  const separator = bar ? (given.delimiter ?? '|') : null;
  const spaced = bar
    ? shown
    : shown.flatMap((piece) => [piece, { kind: 'text', text: ' ' } as const]);
  const closing = given.parsable !== undefined;
  const lines = layOut(spaced, rows, { header, separator, closing, cutBy: '+' });
  const [first, ...rest] = lines;
  if (first !== undefined) context.print(first);
  if (header && !bar) {
    context.print(
      pieces.value
        .map((piece) => `${'-'.repeat(piece.kind === 'field' ? piece.width : 0)} `)
        .join(''),
    );
  }
  for (const line of rest) context.print(line);
  return 0;
}

function usualOf({ brief, long }: { readonly brief?: string; readonly long?: string }): string {
  if (brief !== undefined) return 'JobID,State,ExitCode';
  return long === undefined ? USUAL : LONG;
}

const UNITS = 'KMGTP';
const MEMORY = /^(?:MaxRSS|ReqMem|AllocTRES|ReqTRES)$/;

function unitOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text.length !== 1 || !UNITS.includes(text)) throw usage(`Invalid units option: ${text}`);
  return text;
}

/** `512M` as `0.50G`. */
function inUnit(text: string, unit: string): string {
  return text.replace(/(^|mem=)(\d+)([KM])/, (_, before: string, amount: string, of: string) => {
    const steps = UNITS.indexOf(unit) - UNITS.indexOf(of);
    return `${before}${(Number(amount) / 1024 ** steps).toFixed(2)}${unit}`;
  });
}

/** Jobs that were there in that time may have been submitted so long before it. */
const BEFORE_MS = 2 * 86_400_000;
const OWN_BEFORE_MS = 31 * 86_400_000;

const isAmong = (list: string | undefined, one: string): boolean =>
  list === undefined || (listOf(list) ?? []).includes(one);

/** Without a time and without jobs: since midnight, as in Slurm. */
function since(text: string | undefined, ids: readonly string[] | undefined): number | undefined {
  if (text !== undefined) return readInstant('--starttime', text);
  if (ids !== undefined) return undefined;
  const midnight = new Date(headNow());
  return midnight.setHours(0, 0, 0, 0);
}

function readInstant(flag: string, text: string): number {
  const [, count, unit] = /^now-(\d+)(second|minute|hour|day|week)s?$/.exec(text) ?? [];
  const MS: Readonly<Record<string, number>> = {
    second: 1000,
    minute: 60_000,
    hour: 3_600_000,
    day: 86_400_000,
    week: 604_800_000,
  };
  if (count !== undefined) return headNow() - Number(count) * (MS[unit ?? ''] ?? 0);
  if (text === 'now') return headNow();
  const american =
    /^(\d{2})(\d{2})(\d{2})?$/.exec(text) ??
    /^(\d{1,2})[/.](\d{1,2})(?:[/.](\d{2}))?(?:-(\d{1,2}:\d{2}(?::\d{2})?))?$/.exec(text);
  if (american !== null) return dayIn(flag, american);
  return instantBefore(flag, text) ?? headNow();
}

/** `MMDDYY`, `01/31/26-18:30` and its like: of this year where it says none. */
function dayIn(flag: string, [, month = '', day = '', year, clock]: RegExpExecArray): number {
  const of = year === undefined ? new Date(headNow()).getFullYear() : 2000 + Number(year);
  const date = `${of}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = clock === undefined ? '' : `T${clock.padStart(clock.length > 5 ? 8 : 5, '0')}`;
  return instantBefore(flag, `${date}${time}`) ?? headNow();
}

/** More are asked for by time. */
const JOBS_MAX = 1_000_000;

interface Found {
  readonly job: HistoryJob;
  readonly tasks: readonly HistoryTask[];
}

async function historyOf(
  context: Context,
  {
    ids,
    from,
    until,
    owner,
  }: {
    ids: readonly string[] | undefined;
    from: number | undefined;
    until: number | undefined;
    owner: string | undefined;
  },
): Promise<Found[]> {
  const numbers =
    ids === undefined ? [null] : [...new Set(ids.map((one) => Number(one.split(/[_.]/)[0])))];
  const found: Found[] = [];
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

/** More are read page by page: a program that looks after many jobs asks again and again. */
const ASKED_MAX = 3;
/** Where they lie far apart, and pages would be full of other jobs. */
const FAR_ASKED_MAX = 50;
/** Jobs of a page that are about as much work as one request for a job. */
const NEAR = 50;

/** Those of many jobs that have not ended, so that each needs no request of its own. */
async function liveJobs(api: Api, found: readonly Found[]): Promise<ReadonlyMap<number, JobView>> {
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

/** What never started, or has not ended, has no record: it is as the queue has it. */
async function rowsOf(
  api: Api,
  { job, tasks }: Found,
  jobs: ReadonlyMap<number, JobView>,
): Promise<Row[]> {
  const ended = tasks.filter(({ final }) => final).flatMap((task) => taskRows(job, task));
  const told = new Set(ended.map(({ id }) => id));
  if (job.state === 'done' && job.taskCount === 1 && told.size === 0) return [endedRow(job)];
  const isWhole = ended.filter(({ part }) => part === null).length === job.taskCount;
  if (job.state === 'done' && isWhole) return ended;
  const view = jobs.get(job.id) ?? (await api.call('getJob', { params: { id: String(job.id) } }));
  const live = await queueRows(api, view);
  const others = live.filter(({ id }) => !told.has(id));
  return [...others.map((row) => ({ ...row, job, part: null, used: null })), ...ended];
}

/** One that never started. */
function endedRow(job: HistoryJob): Row {
  const state = slurmState('done', (job.outcome?.kind ?? null) as OutcomeKind | null);
  const { startedAt, endedAt, nodes = [] } = job;
  const { job: exit } = endedAs(
    (job.outcome?.kind ?? null) as OutcomeKind | null,
    exitOf(job.outcome?.exit ?? null),
  );
  const whole = { id: String(job.id), part: null, used: null };
  return { ...whole, job, state, exit, startedAt, endedAt, nodes };
}

function taskRows(job: HistoryJob, task: HistoryTask): Row[] {
  const id = task.index === null ? String(job.id) : `${job.id}_${task.index}`;
  const { startedAt, endedAt, nodes } = task;
  const state = slurmState('done', task.outcome.kind);
  const { job: exit, batch } = endedAs(task.outcome.kind, exitOf(task.outcome.exit));
  const row = { id, part: null, job, state, exit, startedAt, endedAt, nodes, used: task };
  if (startedAt === null) return [{ ...row, used: null }];
  const own = { ...row, state: batch.state ?? state, exit: batch };
  return [row, { ...own, id: `${id}.batch`, part: 'batch', ranks: 1 }];
}

/** Steps of these jobs, as far as they are the caller's to see, by what Slurm calls their tasks. */
async function stepRows(api: Api, found: readonly Found[]): Promise<ReadonlyMap<string, Row[]>> {
  const rows = new Map<string, Row[]>();
  const jobs = new Map(found.map(({ job }) => [job.id, job]));
  const [first, last] = [found.at(0)?.job.id, found.at(-1)?.job.id];
  if (first === undefined || last === undefined) return rows;
  let after: string | null = null;
  do {
    const query = { from: first, to: last };
    const page: { steps: StepView[]; next: string | null } = await api.call('listAllSteps', {
      query: after === null ? query : { ...query, after },
    });
    for (const step of page.steps) {
      const job = jobs.get(Number.parseInt(step.id, 10));
      if (job === undefined) continue;
      const task = slurmId(step.id.slice(0, step.id.lastIndexOf('.')));
      rows.set(task, [...(rows.get(task) ?? []), stepRow(job, step)]);
    }
    after = page.next;
  } while (after !== null);
  return rows;
}

function stepRow(job: HistoryJob, step: StepView): Row {
  const { startedAt, endedAt, nodes, used, command, exit, processes: ranks } = step;
  const part = command.split(' ')[0]?.split('/').at(-1) ?? command;
  const state = stepState(step);
  const id = slurmId(step.id);
  return { id, part, job, state, exit: exitOf(exit), startedAt, endedAt, nodes, used, ranks };
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
    return rows[at + 1]?.id === `${task}.batch` ? [row] : [row, ...(steps.get(task) ?? [])];
  });
}

const USUAL = 'JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode';
const LONG =
  'JobID,JobIDRaw,JobName,Partition,MaxRSS,NTasks,AllocCPUS,Elapsed,State,ExitCode,AveCPU,ReqMem,AllocTRES';
const field = (
  title: string,
  width: number,
  of: (row: Row) => string | number,
): Field<Row> & { width: number } => ({
  title,
  width,
  value: (row) => String(of(row)),
});

const elapsedMs = ({ startedAt, endedAt }: Row): number =>
  startedAt === null ? 0 : (endedAt ?? headNow()) - startedAt;
const cpus = ({ job }: Row): number => job.cpuCount * job.nodeCount;
const tres = (row: Row): string => {
  const { memoryBytes, nodeCount } = row.job;
  return `cpu=${cpus(row)},mem=${Math.floor(memoryBytes / 1_048_576)}M,node=${nodeCount}`;
};
const waited = ({ job, startedAt, part }: Row): string =>
  startedAt === null || part !== null ? '' : formatLong(startedAt - job.submittedAt);

/** Columns of sacct that stay empty: the records have nothing of them. */
const UNKNOWN =
  `AdminComment AssocID AveCPUFreq AveDiskRead AveDiskWrite AvePages AveRSS AveVMSize BlockID
  Comment Constraints ConsumedEnergy ConsumedEnergyRaw Container DBIndex Flags Layout Licenses
  MaxDiskRead MaxDiskReadNode MaxDiskReadTask MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask MaxPages
  MaxPagesNode MaxPagesTask MaxRSSNode MaxRSSTask MaxVMSize MaxVMSizeNode MaxVMSizeTask McsLabel MinCPU
  MinCPUNode MinCPUTask Priority QOS QOSRAW Reason ReqCPUFreq ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin
  ReqNodes Reservation ReservationId ResvCPU ResvCPURAW SystemComment TRESUsageInAve TRESUsageInMax
  TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMin TRESUsageInMinNode TRESUsageInMinTask
  TRESUsageInTot TRESUsageOutAve TRESUsageOutMax TRESUsageOutMaxNode TRESUsageOutMaxTask
  TRESUsageOutMin TRESUsageOutMinNode TRESUsageOutMinTask TRESUsageOutTot WCKey WCKeyID WorkDir`.split(
    /\s+/,
  );

const FIELDS = Object.fromEntries(
  [
    field('JobID', 12, ({ id }) => id),
    field('JobIDRaw', 12, ({ id }) => id),
    field('JobName', 10, ({ job, part }) => part ?? job.name),
    field('User', 9, ({ job, part }) => (part === null ? job.owner : '')),
    field('Partition', 10, ({ job, part }) => (part === null ? job.partition : '')),
    field('UID', 6, ({ job, part }) => (part === null ? (accountOf(job.owner)?.uid ?? '') : '')),
    field('GID', 6, ({ job, part }) => (part === null ? (accountOf(job.owner)?.gid ?? '') : '')),
    field('Group', 9, ({ job, part }) =>
      part === null ? (accountOf(job.owner)?.group ?? '') : '',
    ),
    field('Account', 10, () => ''),
    field('AllocCPUS', 10, cpus),
    field('NCPUS', 10, cpus),
    field('ReqCPUS', 8, cpus),
    field('AllocNodes', 10, ({ job }) => job.nodeCount),
    field('NNodes', 8, ({ job, part, nodes }) => {
      return part === null || part === 'batch' ? job.nodeCount : nodes.length;
    }),
    field('NTasks', 8, ({ ranks }) => ranks ?? ''),
    field('AllocTRES', 10, tres),
    field('ReqTRES', 10, tres),
    field('ReqMem', 10, ({ job }) => `${Math.floor(job.memoryBytes / 1_048_576)}M`),
    field('State', 10, ({ state }) => state.long),
    field('ExitCode', 8, ({ exit }) => `${exit.code}:${exit.signal}`),
    field('DerivedExitCode', 15, ({ exit }) => `${exit.code}:0`),
    field('Submit', 19, ({ job }) => instant(job.submittedAt)),
    field('Start', 19, ({ startedAt }) => (startedAt === null ? 'Unknown' : instant(startedAt))),
    field('End', 19, ({ endedAt }) => (endedAt === null ? 'Unknown' : instant(endedAt))),
    field('Elapsed', 10, (row) => formatLong(elapsedMs(row))),
    field('ElapsedRaw', 10, (row) => Math.floor(elapsedMs(row) / 1000)),
    field('Timelimit', 10, ({ job }) =>
      job.walltimeMs === null ? 'UNLIMITED' : formatLong(job.walltimeMs),
    ),
    field('NodeList', 15, ({ nodes }) =>
      nodes.length === 0 ? 'None assigned' : compressHosts(nodes),
    ),
    field('MaxRSS', 10, ({ used, part }) =>
      used === null || part === null ? '' : `${Math.ceil(used.memoryPeakBytes / 1024)}K`,
    ),
    field('AveCPU', 10, ({ used, part, ranks = 1 }) =>
      used === null || part === null
        ? ''
        : formatLong((used.userUs + used.systemUs) / 1000 / ranks),
    ),
    field('TotalCPU', 10, ({ used }) =>
      formatUsed(used === null ? 0 : (used.userUs + used.systemUs) / 1000),
    ),
    field('UserCPU', 10, ({ used }) => formatUsed((used?.userUs ?? 0) / 1000)),
    field('SystemCPU', 10, ({ used }) => formatUsed((used?.systemUs ?? 0) / 1000)),
    field('CPUTime', 10, (row) => formatLong(elapsedMs(row) * cpus(row))),
    field('CPUTimeRAW', 10, (row) => Math.floor(elapsedMs(row) / 1000) * cpus(row)),
    field('Cluster', 10, () => ''),
    field('Eligible', 19, ({ job }) => instant(job.submittedAt)),
    field('Reserved', 10, waited),
    field('Planned', 10, waited),
    field('Suspended', 10, () => formatLong(0)),
    field('TimelimitRaw', 12, ({ job }) =>
      job.walltimeMs === null ? 'UNLIMITED' : Math.ceil(job.walltimeMs / 60_000),
    ),
    field('SubmitLine', 20, ({ job, part }) => (part === null ? job.command : '')),
    ...UNKNOWN.map((name) => field(name, 10, () => '')),
  ].map((one) => [one.title, one]),
);

const seconds = (at: number | null): number => (at === null ? 0 : Math.floor(at / 1000));

function json(row: Row): object {
  const { id, job, state, exit, startedAt, endedAt, nodes } = row;
  const index = Number(/_(\d+)$/.exec(id)?.[1] ?? Number.NaN);
  return {
    job_id: job.id,
    array: {
      job_id: Number.isNaN(index) ? 0 : job.id,
      task_id: Number.isNaN(index) ? null : index,
    },
    name: job.name,
    user: job.owner,
    partition: job.partition,
    state: { current: state.long, reason: 'None' },
    exit_code: {
      status: exit.signal > 0 ? 'SIGNALED' : 'SUCCESS',
      return_code: exit.code,
      signal: { signal_id: exit.signal },
    },
    nodes: nodes.length === 0 ? 'None assigned' : compressHosts(nodes),
    time: {
      submission: seconds(job.submittedAt),
      start: seconds(startedAt),
      end: seconds(endedAt),
      elapsed: Math.floor(elapsedMs(row) / 1000),
      limit: job.walltimeMs === null ? null : Math.ceil(job.walltimeMs / 60_000),
    },
  };
}
