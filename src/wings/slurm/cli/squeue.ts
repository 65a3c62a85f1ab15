// `squeue`: what waits and runs.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { JobDetail, JobView } from '../../../kernel/api/jobs.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { byLetters, byNames, layOut, type Piece } from '../core/formats.ts';
import { readId } from '../core/ids.ts';
import type { OptionRow } from '../core/option-table.ts';
import { isState } from '../core/states.ts';
import { mayHaveAccount } from './accounts.ts';
import { wholeNodes } from './held.ts';
import { dateLine } from './instants.ts';
import {
  apart,
  briefPages,
  type JobRow,
  jobPages,
  plainRow,
  type RowJob,
  refuseNodes,
  rowsOf,
} from './job-rows.ts';
import { isBrief, LETTERS, NAMES, needsPage, type QueueRow } from './queue-fields.ts';
import { queueJson } from './queue-json.ts';
import { orderOf } from './queue-order.ts';
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
  { long: 'qos', short: 'q', ...value, words: 'only with these qualities of service' },
  { long: 'licenses', short: 'L', ...value, words: 'only with one of these' },
  { long: 'array-unique', words: 'as --array' },
  { long: 'all', short: 'a', words: 'as it is anyway' },
  { long: 'hide', words: 'as it is anyway' },
  { long: 'noconvert', words: 'as it is anyway' },
  { long: 'priority', short: 'P', words: 'as it is anyway' },
  { long: 'verbose', short: 'v', words: 'as it is anyway' },
  { long: 'local', words: 'there is one cluster' },
  { long: 'federation', words: 'there is one cluster' },
  { long: 'sibling', words: 'there is one cluster' },
  { long: 'sort', short: 'S', ...value, words: '`P,t,-p`: by columns; else the oldest come first' },
  { long: 'iterate', short: 'i', ...value, kind: 'refused', words: 'use watch(1)' },
  { long: 'clusters', short: 'M', ...value, words: 'the name of this one, or `all`' },
  { long: 'account', short: 'A', ...value, kind: 'refused', words: 'there are no accounts here' },
  { long: 'steps', short: 's', value: 'maybe', kind: 'refused', words: 'say sacct -j' },
  { long: 'reservation', short: 'R', ...value, kind: 'refused', words: 'say -O Reservation' },
  { long: 'yaml', value: 'maybe', kind: 'refused', words: 'say --json' },
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
  sort: 'SQUEUE_SORT',
  qos: 'SQUEUE_QOS',
  licenses: 'SQUEUE_LICENSES',
  array: 'SQUEUE_ARRAY',
  account: 'SQUEUE_ACCOUNT',
} as const;

/** What jobs are chosen by; heads leave some of it out where the usual columns are asked for. */
type Meant = RowJob &
  Pick<Partial<JobView>, 'qos'> & { readonly request: Pick<JobView['request'], 'ofCluster'> };

async function squeue(context: Context, words: readonly string[]): Promise<number> {
  const { given: typed, operands } = readWords(QUEUE_OPTIONS, words);
  const given = orSaid(typed, context, SAID);
  refuseOperands(operands);
  if (given.account !== undefined)
    throw usage('SQUEUE_ACCOUNT is not honoured here: there are no accounts');
  const api = await context.api();
  const cluster = await clusterOf(context, given.clusters);
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
  const classes = listOf(given.qos);
  const licenses = listOf(given.licenses);
  const nodelist = hostsOf(given.nodelist);
  if (nodelist !== undefined) await refuseNodes(api, nodelist);
  const isMeant = ({ id, owner, name, partition, qos, request }: Meant): boolean =>
    (ids === undefined || ids.some((one) => one.split('_')[0] === String(id))) &&
    (owners === undefined || owners.includes(owner)) &&
    (names === undefined || names.includes(name)) &&
    (partitions === undefined || partitions.includes(partition)) &&
    (classes === undefined || classes.includes(qos ?? 'normal')) &&
    (licenses === undefined || licenses.some((one) => one in (request.ofCluster ?? {})));
  const isShown = (row: JobRow<RowJob>): boolean =>
    isIn(row, ids) &&
    (states === undefined ? !row.isOver : isState(row.state, states)) &&
    (nodelist === undefined || row.nodes.some((one) => nodelist.includes(one)));
  const withWhole = wholeNodes(api);
  const isApart = given.array !== undefined || given['array-unique'] !== undefined;
  const shown = async <Job extends RowJob>(page: readonly Job[]): Promise<JobRow<Job>[]> => {
    const rows: JobRow<Job>[] = [];
    for (const job of page.toReversed()) {
      // Most are waited for by nobody, and some lists have a hundred thousand.
      if (job.array === null) rows.push(plainRow(job));
      else rows.push(...(await rowsOf(api, job, isAll ? 'begun' : 'active')));
    }
    return (isApart ? rows.flatMap(apart) : rows).filter(isShown);
  };
  const lines =
    given.Format === undefined || (typed.format !== undefined && typed.Format === undefined)
      ? byLetters(given.format ?? usualOf(given), LETTERS)
      : byNames(given.Format, NAMES, { mark: ':' });
  if (!lines.ok) throw usage(lines.error);
  const columns = lines.value;
  const order = given.sort === undefined ? null : orderOf(given.sort);
  if (order?.ok === false) throw usage(order.error);
  // Of many jobs their lines alone are kept: the newest come first, and are shown last.
  const blocks: string[] = [];
  const add = <Row>(pieces: readonly Piece<Row>[], rows: readonly Row[], header = false): void => {
    const some = layOut(pieces, rows, { header, separator: null });
    if (some.length > 0) blocks.push(some.join('\n'));
  };
  const kept: QueueRow[][] = [];
  const pages = new Map<number, JobDetail>();
  let found = 0;
  const seen = new Set<string>();
  const read = async <Job extends RowJob>(
    pages: AsyncIterable<readonly Job[]>,
    take: (rows: JobRow<Job>[]) => void | Promise<void>,
  ): Promise<void> => {
    for await (const page of pages) {
      const some = page.filter(isMeant);
      found += some.length;
      if (owners !== undefined) for (const { owner } of some) seen.add(owner);
      await take(await shown(some));
    }
  };
  const numbers = ids?.map((one) => Number(one.split('_')[0])).filter(isJobNumber);
  const all = { state: isAll ? 'all' : 'active', ids: numbers, ...wanted } as const;
  const isList = given.json === undefined && !isStart && order === null;
  const isOfRows = !isAll && classes === undefined && licenses === undefined;
  if (isList && isOfRows && isBrief(columns))
    await read(briefPages(api, all), (rows) => add(columns, rows));
  else
    await read(jobPages(api, all), async (some) => {
      const rows = await withWhole(some);
      if (!isList) kept.push(rows);
      else add(columns, needsPage(columns) ? await withPages(api, rows, pages) : rows);
    });
  if (ids?.length === 1 && found === 0 && !(await isKnown(context, ids[0] ?? ''))) {
    throw usage('Invalid job id specified');
  }
  const unseen = me === undefined ? (owners ?? []).filter((name) => !seen.has(name)) : [];
  await refuseNobody(context, unseen, owners?.length === unseen.length);
  const oldestFirst = kept.reverse().flat();
  const isPaged = !isList && needsPage(columns);
  const paged = isPaged ? await withPages(api, oldestFirst, pages) : oldestFirst;
  const started = isStart ? await withStarts(api, paged) : paged;
  const whole = order === null ? started : started.toSorted(order.value);
  if (given.json !== undefined) {
    context.print(JSON.stringify(queueJson(whole), null, 1));
    return 0;
  }
  add(columns, whole);
  if (given.noheader === undefined) {
    add(columns, [], true);
    // Readers of it leave out two lines.
    if (given.long !== undefined) blocks.push(dateLine(headNow()));
    if (cluster !== null) blocks.push(`CLUSTER: ${cluster}`);
  }
  if (blocks.length > 0) context.print(blocks.reverse().join('\n'));
  return 0;
}

/** Users that there are none of, as Slurm says it: an empty list of a misspelt name misleads. */
async function refuseNobody(
  context: Context,
  names: readonly string[],
  isAll: boolean,
): Promise<void> {
  const wrong: string[] = [];
  for (const name of names) if (await isNobody(context, name)) wrong.push(`Invalid user: ${name}`);
  if (wrong.length === 0) return;
  if (isAll && wrong.length === names.length) throw usage(wrong.join('\nsqueue: error: '));
  for (const words of wrong) context.error(`squeue: error: ${words}\n`);
}

/** True of a name with no account here, and neither known to the head nor the owner of a job. */
async function isNobody(context: Context, owner: string): Promise<boolean> {
  if (await mayHaveAccount(owner)) return false;
  const api = await context.api();
  const listed = await api.call('listJobs', { query: { owner, state: 'all', limit: 1 } });
  if (listed.jobs.length > 0 || listed.ownerIsKnown === true) return false;
  return (await api.call('history', { query: { owner, limit: 1 } })).jobs.length === 0;
}

function usualOf({ long, start }: { readonly long?: string; readonly start?: string }): string {
  if (start !== undefined) return STARTS;
  return long === undefined ? USUAL : LONG;
}

/** Pages of so many jobs, the newest, are asked for; columns of others say that they are not. */
const PAGES_MAX = 1000;

async function withPages(
  api: Api,
  rows: readonly JobRow[],
  pages: Map<number, JobDetail>,
): Promise<QueueRow[]> {
  for (const { id } of rows.toReversed().map(({ job }) => job)) {
    if (pages.has(id) || pages.size >= PAGES_MAX) continue;
    pages.set(id, await api.call('getJob', { params: { id: String(id) } }));
  }
  return rows.map((row) => {
    const page = pages.get(row.job.id);
    return page === undefined ? row : { ...row, page };
  });
}

/** More jobs are not asked for: the head plans no further either. */
const STARTS_MAX = 500;

/** With when they are planned to start, by today's plan: the oldest are asked for first. */
async function withStarts(api: Api, rows: readonly QueueRow[]): Promise<QueueRow[]> {
  const starts = new Map<number, number | null>();
  const planned: QueueRow[] = [];
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
