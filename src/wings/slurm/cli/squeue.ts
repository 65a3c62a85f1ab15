// `squeue`: what waits and runs.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { JobView } from '../../../kernel/api/jobs.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { byLetters, byNames, type Field, layOut, type Piece } from '../core/formats.ts';
import { compressHosts } from '../core/hostlist.ts';
import { readId } from '../core/ids.ts';
import type { OptionRow } from '../core/option-table.ts';
import { isState } from '../core/states.ts';
import { formatElapsed } from '../core/times.ts';
import {
  apart,
  askedFeatures,
  briefPages,
  endOf,
  type JobRow,
  jobPages,
  openDependencies,
  plainRow,
  type RowJob,
  reasonOf,
  rowsOf,
} from './job-rows.ts';
import { queueJson } from './queue-json.ts';
import {
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
export const QUEUE_OPTIONS = [
  { long: 'jobs', short: 'j', ...value, words: 'only these' },
  { long: 'user', short: 'u', ...value, words: 'only of these users' },
  { long: 'me', words: 'only your own' },
  { long: 'states', short: 't', ...value, words: 'only in these states; `all`' },
  { long: 'name', short: 'n', ...value, words: 'only with these names' },
  { long: 'partition', short: 'p', ...value, words: 'only of these partitions' },
  { long: 'nodelist', short: 'w', ...value, words: 'only on these nodes' },
  { long: 'noheader', short: 'h', words: 'without the first line' },
  { long: 'array', short: 'r', words: 'tasks that wait are one line each' },
  { long: 'format', short: 'o', ...value, words: '`%.18i %.9P …`' },
  { long: 'Format', short: 'O', ...value, words: '`JobID,Name:20,…`' },
  { long: 'long', short: 'l', words: 'with the time limit' },
  { long: 'start', words: 'what waits, and when it would start' },
  { long: 'json', value: 'maybe', words: "in the shape of Slurm's data parser" },
  { long: 'all', short: 'a', words: 'as it is anyway' },
  { long: 'sort', short: 'S', ...value, kind: 'hint', words: 'the oldest come first' },
  { long: 'iterate', short: 'i', ...value, kind: 'refused', words: 'use watch(1)' },
  { long: 'clusters', short: 'M', ...value, words: 'there is one' },
] as const satisfies readonly OptionRow[];

export const summary = 'List jobs, as squeue of Slurm does.';
export const verb = speaking('squeue', squeue);

const USUAL = '%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R';
const STARTS = '%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20N %R';
const LONG = '%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R';

/** Variables that stand for options (squeue(1), "ENVIRONMENT VARIABLES"). */
const SAID = {
  format: 'SQUEUE_FORMAT',
  Format: 'SQUEUE_FORMAT2',
  user: 'SQUEUE_USERS',
  states: 'SQUEUE_STATES',
  partition: 'SQUEUE_PARTITION',
  name: 'SQUEUE_NAMES',
} as const;

async function squeue(context: Context, words: readonly string[]): Promise<number> {
  const { given: typed, operands } = readWords(QUEUE_OPTIONS, words);
  const given = orSaid(typed, context, SAID);
  refuseOperands(operands);
  if (given.iterate !== undefined) throw usage('--iterate is not honoured here: use watch(1)');
  const api = await context.api();
  const me = given.me === undefined ? undefined : (await api.call('whoami')).name;
  const owners = me === undefined ? listOf(given.user) : [me];
  const isStart = given.start !== undefined;
  const states = listOf(given.states ?? (isStart ? 'PENDING' : undefined));
  refuseStates(states);
  const isAll =
    states !== undefined &&
    !states.every((one) =>
      /^(PD|PENDING|R|RUNNING|S|SUSPENDED|CF|CONFIGURING|CG|COMPLETING)$/i.test(one),
    );
  const wanted = owners?.length === 1 ? { owner: owners[0] ?? '' } : {};
  const ids = idsOf(given.jobs);
  if (ids?.some((one) => !readId(one).ok)) throw usage('Invalid job id specified');
  const names = listOf(given.name);
  const partitions = listOf(given.partition);
  const nodelist = hostsOf(given.nodelist);
  const isMeant = ({ id, owner, name, partition }: RowJob): boolean =>
    (ids === undefined || ids.some((one) => one.split('_')[0] === String(id))) &&
    (owners === undefined || owners.includes(owner)) &&
    (names === undefined || names.includes(name)) &&
    (partitions === undefined || partitions.includes(partition));
  const isShown = (row: JobRow<RowJob>): boolean =>
    isIn(row, ids) &&
    (states === undefined ? !row.isOver : isState(row.state, states)) &&
    (nodelist === undefined || row.nodes.some((one) => nodelist.includes(one)));
  const shown = async <Job extends RowJob>(page: readonly Job[]): Promise<JobRow<Job>[]> => {
    const rows: JobRow<Job>[] = [];
    for (const job of page.toReversed()) {
      // Most are waited for by nobody, and some lists have a hundred thousand.
      if (job.array === null) rows.push(plainRow(job));
      else rows.push(...(await rowsOf(api, job, isAll ? 'begun' : 'active')));
    }
    return (given.array === undefined ? rows : rows.flatMap(apart)).filter(isShown);
  };
  const lines =
    given.Format === undefined || (typed.format !== undefined && typed.Format === undefined)
      ? byLetters(given.format ?? usualOf(given), FIELDS)
      : byNames(given.Format, NAMED, { mark: ':' });
  if (!lines.ok) throw usage(lines.error);
  const columns = lines.value;
  // Of many jobs their lines alone are kept: the newest come first, and are shown last.
  const blocks: string[] = [];
  const add = <Row>(pieces: readonly Piece<Row>[], rows: readonly Row[], header = false): void => {
    const some = layOut(pieces, rows, { header, separator: null });
    if (some.length > 0) blocks.push(some.join('\n'));
  };
  const kept: JobRow[][] = [];
  let found = 0;
  const read = async <Job extends RowJob>(
    pages: AsyncIterable<readonly Job[]>,
    take: (rows: JobRow<Job>[]) => void,
  ): Promise<void> => {
    for await (const page of pages) {
      const some = page.filter(isMeant);
      found += some.length;
      take(await shown(some));
    }
  };
  const numbers = ids?.map((one) => Number(one.split('_')[0])).filter(isJobNumber);
  const all = { state: isAll ? 'all' : 'active', ids: numbers, ...wanted } as const;
  const isList = given.json === undefined && !isStart;
  if (!isList) await read(jobPages(api, all), (rows) => kept.push(rows));
  else if (!isAll && isBrief(columns))
    await read(briefPages(api, all), (rows) => add(columns, rows));
  else await read(jobPages(api, all), (rows) => add(columns, rows));
  if (ids?.length === 1 && found === 0 && !(await isKnown(context, ids[0] ?? ''))) {
    throw usage('Invalid job id specified');
  }
  const inOrder = kept.reverse().flat();
  const whole = isStart ? await withStarts(api, inOrder) : inOrder;
  if (given.json !== undefined) {
    context.print(JSON.stringify(queueJson(whole), null, 1));
    return 0;
  }
  add(columns, whole);
  if (given.noheader === undefined) {
    add(columns, [], true);
    // Readers of it leave out two lines.
    if (given.long !== undefined) blocks.push(dateLine(headNow()));
  }
  if (blocks.length > 0) context.print(blocks.reverse().join('\n'));
  return 0;
}

function usualOf({ long, start }: { readonly long?: string; readonly start?: string }): string {
  if (start !== undefined) return STARTS;
  return long === undefined ? USUAL : LONG;
}

/** More jobs are not asked for: the head plans no further either. */
const STARTS_MAX = 500;

/** With when they are planned to start, by today's plan: the oldest are asked for first. */
async function withStarts(api: Api, rows: readonly JobRow[]): Promise<JobRow[]> {
  const starts = new Map<number, number | null>();
  const planned: JobRow[] = [];
  for (const row of rows) {
    const { id } = row.job;
    if (row.startedAt === null && !starts.has(id) && starts.size < STARTS_MAX) {
      starts.set(id, await startOf(api, String(id)));
    }
    planned.push(row.startedAt === null ? { ...row, startedAt: starts.get(id) ?? null } : row);
  }
  return planned;
}

/** By the plan; a job that is not to begin yet is in none. */
async function startOf(api: Api, id: string): Promise<number | null> {
  const { startsAt } = await api.call('explainJob', { params: { id } });
  if (startsAt !== null) return startsAt;
  const { beginAt } = await api.call('getJob', { params: { id } });
  return beginAt !== null && beginAt > headNow() ? beginAt : null;
}

const isJobNumber = (id: number): boolean =>
  Number.isSafeInteger(id) && id > 0 && id < Number.MAX_SAFE_INTEGER;

/** One that is done and no longer listed is no mistake. */
async function isKnown(context: Context, id: string): Promise<boolean> {
  const jobId = Number(id.split('_')[0]);
  if (!Number.isInteger(jobId) || jobId < 1) return false;
  const { jobs } = await (await context.api()).call('history', { query: { jobId, limit: 1 } });
  return jobs.length > 0;
}

function isIn({ id, job, index }: JobRow<RowJob>, ids: readonly string[] | undefined): boolean {
  if (ids === undefined) return true;
  return ids.some((one) => one === String(job.id) || one === id || one === `${job.id}_${index}`);
}

const ran = ({ startedAt, endedAt }: JobRow<RowJob>): string =>
  formatElapsed(startedAt === null ? 0 : (endedAt ?? headNow()) - startedAt);

export const instant = (at: number | null): string => {
  if (at === null) return 'N/A';
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19);
};

/** `Sat Nov 28 19:59:31 2026`, as of ctime(3). */
export function dateLine(now: number): string {
  const [day = '', month = '', date = '', year = '', clock = ''] = String(new Date(now)).split(' ');
  return `${day} ${month} ${date} ${clock} ${year}`;
}

const limit = ({ job }: JobRow<RowJob>): string =>
  job.walltimeMs === null ? 'UNLIMITED' : formatElapsed(job.walltimeMs);
const field = <Job extends RowJob = JobView>(
  title: string,
  of: (row: JobRow<Job>) => string | number,
): Field<JobRow<Job>> => ({ title, value: (row) => String(of(row)) });
const brief = field<RowJob>;

/** What needs no more of a job than its rows are made of. */
const BRIEF: Readonly<Record<string, Field<JobRow<RowJob>>>> = {
  i: brief('JOBID', ({ id }) => id),
  A: brief('JOBID', ({ job }) => job.id),
  F: brief('ARRAY_JOB_ID', ({ job }) => job.id),
  K: brief('ARRAY_TASK_ID', ({ index, id }) => index ?? /\[(.*)\]/.exec(id)?.[1] ?? 'N/A'),
  P: brief('PARTITION', ({ job }) => job.partition),
  j: brief('NAME', ({ job }) => job.name),
  u: brief('USER', ({ job }) => job.owner),
  U: brief('UID', ({ job }) => job.owner),
  a: brief('ACCOUNT', () => ''),
  t: brief('ST', ({ state }) => state.short),
  T: brief('STATE', ({ state }) => state.long),
  M: brief('TIME', ran),
  l: brief('TIME_LIMIT', limit),
  L: brief('TIME_LEFT', ({ job, startedAt }) =>
    job.walltimeMs === null
      ? 'UNLIMITED'
      : formatElapsed(job.walltimeMs - (startedAt === null ? 0 : headNow() - startedAt)),
  ),
  D: brief('NODES', ({ job }) => job.request.nodeCount),
  N: brief('NODELIST', ({ nodes, where }) => (nodes.length === 0 ? '' : where)),
  R: brief('NODELIST(REASON)', ({ where }) => where),
  r: brief('REASON', reasonOf),
  S: brief('START_TIME', ({ startedAt }) => instant(startedAt)),
  e: brief('END_TIME', (row) => {
    const end = endOf(row);
    return end === null && row.startedAt !== null ? 'NONE' : instant(end);
  }),
  B: brief('EXEC_HOST', ({ nodes }) => nodes[0] ?? 'n/a'),
  k: brief('COMMENT', () => '(null)'),
};
const FIELDS: Readonly<Record<string, Field<JobRow>>> = {
  ...BRIEF,
  C: field('CPUS', ({ job }) => job.request.perNode.cpuCount * job.request.nodeCount),
  m: field(
    'MIN_MEMORY',
    ({ job }) => `${Math.floor(job.request.perNode.memoryBytes / 1_048_576)}M`,
  ),
  V: field('SUBMIT_TIME', ({ job }) => instant(job.submittedAt)),
  n: field('REQ_NODES', ({ job }) => compressHosts(job.request.nodeNames)),
  c: field('MIN_CPUS', ({ job }) => job.request.perNode.cpuCount),
  W: field('LICENSES', ({ job }) => {
    const counted = Object.entries(job.request.ofCluster ?? {});
    return counted.map(([name, count]) => `${name}:${count}`).join(',') || '(null)';
  }),
  o: field('COMMAND', ({ job }) => job.command),
  Z: field('WORK_DIR', ({ job }) => job.directory ?? ''),
  Q: field('PRIORITY', ({ job }) => Math.max(0, Math.round(job.priority ?? 0))),
  p: field('PRIORITY', ({ job }) => Math.max(0, Math.round(job.priority ?? 0))),
  q: field('QOS', ({ job }) => job.qos ?? 'normal'),
  b: field('TRES_PER_NODE', ({ job }) =>
    job.request.perNode.gpuCount > 0 ? `gres:gpu:${job.request.perNode.gpuCount}` : 'N/A',
  ),
  f: field('FEATURES', ({ job }) => askedFeatures(job.request.labels).join('&') || '(null)'),
  E: field('DEPENDENCY', ({ job }) => openDependencies(job)),
};

const BRIEF_VALUES: ReadonlySet<unknown> = new Set(Object.values(BRIEF).map(({ value }) => value));
const isBrief = (pieces: readonly Piece<JobRow>[]): pieces is readonly Piece<JobRow<RowJob>>[] =>
  pieces.every((piece) => piece.kind === 'text' || BRIEF_VALUES.has(piece.value));

function tres({ job: { request } }: JobRow): string {
  const { nodeCount, perNode } = request;
  const memory = Math.floor((perNode.memoryBytes * nodeCount) / 1_048_576);
  const gpus = perNode.gpuCount === 0 ? '' : `,gres/gpu=${perNode.gpuCount * nodeCount}`;
  return `cpu=${perNode.cpuCount * nodeCount},mem=${memory}M,node=${nodeCount}${gpus}`;
}

const named = (letter: string) => ({ ...(FIELDS[letter] as Field<JobRow>), width: 20 });
const NAMED = {
  JobID: named('i'),
  JobArrayID: named('i'),
  ArrayJobID: named('F'),
  ArrayTaskID: named('K'),
  Partition: named('P'),
  Name: named('j'),
  UserName: named('u'),
  Account: named('a'),
  State: named('T'),
  StateCompact: named('t'),
  TimeUsed: named('M'),
  TimeLimit: named('l'),
  TimeLeft: named('L'),
  NumNodes: named('D'),
  NumCPUs: named('C'),
  MinMemory: named('m'),
  NodeList: named('N'),
  ReasonList: named('R'),
  Reason: named('r'),
  StartTime: named('S'),
  EndTime: named('e'),
  SubmitTime: named('V'),
  Command: named('o'),
  WorkDir: named('Z'),
  PriorityLong: named('Q'),
  QOS: named('q'),
  Dependency: named('E'),
  Licenses: named('W'),
  Feature: named('f'),
  ReqNodes: named('n'),
  BatchHost: named('B'),
  Comment: named('k'),
  'tres-per-node': named('b'),
  'tres-alloc': { title: 'TRES_ALLOC', width: 60, value: tres },
  MinCPUs: named('c'),
  UserID: named('U'),
};
