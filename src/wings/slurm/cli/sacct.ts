// `sacct`: what ran, from the history, with what is active.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { instantBefore } from '../../../kernel/cli/jobs/instant-before.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { beginOf } from '../core/begin.ts';
import { byNames, layOut, type Piece } from '../core/formats.ts';
import type { OptionRow } from '../core/option-table.ts';
import { isState } from '../core/states.ts';
import { FIELDS, json, LONG, USUAL } from './account-fields.ts';
import { type Row, recordedJobs, rowsOf, type Wanted } from './account-rows.ts';
import { instant } from './instants.ts';
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
  { long: 'accounts', short: 'A', ...value, kind: 'refused', words: 'there are no accounts here' },
  { long: 'helpformat', short: 'e', words: 'names of the columns' },
  { long: 'long', short: 'l', words: 'with all that is known of a job' },
  { long: 'units', ...value, words: 'memory in K, M, G, T or P' },
  { long: 'federation', words: 'there is one cluster' },
  { long: 'whole-hetjob', value: 'maybe', words: 'there are none' },
  { long: 'verbose', short: 'v', words: 'nothing more is said' },
] as const satisfies readonly OptionRow[];

export const summary = 'Accounting records of jobs, as sacct of Slurm shows them.';
export const verb = speaking('sacct', sacct);

type Given = ReturnType<typeof readWords<(typeof ACCOUNT_OPTIONS)[number]['long']>>['given'];

async function sacct(context: Context, words: readonly string[]): Promise<number> {
  const { given: typed, operands } = readWords(ACCOUNT_OPTIONS, words);
  const given =
    typed.brief === undefined ? orSaid(typed, context, { format: 'SACCT_FORMAT' }) : typed;
  refuseOperands(operands);
  if (given.helpformat !== undefined) {
    context.print(Object.keys(FIELDS).join('\n'));
    return 0;
  }
  const rows = await wantedRows(context, given);
  if (given.json === undefined) await printTable(context, given, rows);
  else {
    context.print(JSON.stringify({ meta: META, errors: [], jobs: json(rows) }, null, 1));
  }
  return 0;
}

async function wantedRows(context: Context, given: Given): Promise<Row[]> {
  const hosts = hostsOf(given.nodelist);
  refuseStates(listOf(given.state));
  const api = await context.api();
  await clusterOf(context, given.clusters);
  const ids = idsOf(given.jobs);
  const me = (await api.call('whoami')).name;
  const isOfAll = given.allusers !== undefined || ids !== undefined || hosts !== undefined;
  const owners = listOf(given.user) ?? (isOfAll ? undefined : [me]);
  const owner = owners?.length === 1 ? owners[0] : undefined;
  const { from, until, before } = spanOf(given, { ids, owner });
  const jobs = (await recordedJobs(context, { ids, from: before, until, owner }))
    .filter(({ job }) => from === undefined || job.endedAt === null || job.endedAt >= from)
    .filter(({ job }) => owners === undefined || owners.includes(job.owner))
    .filter(({ job }) => isAmong(given.name, job.name) && isAmong(given.partition, job.partition));
  // In JSON a step stands in its job.
  const holds = ({ id, part }: Row, named: string): boolean =>
    given.json !== undefined && part === null && named.startsWith(`${id}.`);
  const parts = given.allocations === undefined ? 'with steps' : 'allocations';
  const rows = await rowsOf(context, jobs, parts);
  return inStates(rows, listOf(given.state))
    .filter((row) => ids === undefined || ids.some((one) => isOf(row.id, one) || holds(row, one)))
    .filter(({ nodes }) => hosts === undefined || nodes.some((name) => hosts.includes(name)));
}

/** Allocations in one of these states with all that is within them, whatever its own state. */
function inStates(rows: readonly Row[], states: readonly string[] | undefined): readonly Row[] {
  if (states === undefined) return rows;
  const left = new Set(
    rows.filter(({ part, state }) => part === null && isState(state, states)).map(({ id }) => id),
  );
  return rows.filter(({ id, part }) => left.has(part === null ? id : id.replace(/\.[^.]+$/, '')));
}

/** True of a row of the job, task or step that somebody names. */
const isOf = (id: string, named: string): boolean =>
  id === named || id.split(/[_.]/)[0] === named || id.startsWith(`${named}.`);

/** When jobs were there, in ms, and since when such may have been submitted. */
function spanOf(
  given: Given,
  { ids, owner }: Pick<Wanted, 'ids' | 'owner'>,
): Pick<Wanted, 'from' | 'until'> & { readonly before: number | undefined } {
  const from = since(given.starttime, ids);
  const until = given.endtime === undefined ? undefined : readInstant('--endtime', given.endtime);
  if (from === undefined) return { from, until, before: undefined };
  if (until !== undefined && from > until)
    throw usage(`Start time (${instant(from)}) requested is after end time (${instant(until)}).`);
  const beforeMs = owner === undefined ? BEFORE_MS : OWN_BEFORE_MS;
  return { from, until, before: Math.max(0, from - beforeMs) };
}

async function printTable(context: Context, given: Given, rows: readonly Row[]): Promise<void> {
  const pieces = await piecesOf(context, given);
  const isBarred = given.parsable !== undefined || given.parsable2 !== undefined;
  const header = given.noheader === undefined;
  const separator = isBarred ? (given.delimiter ?? '|') : null;
  const spaced = isBarred
    ? pieces
    : pieces.flatMap((piece) => [piece, { kind: 'text', text: ' ' } as const]);
  const closing = given.parsable !== undefined;
  const lines = layOut(spaced, rows, { header, separator, closing, cutBy: '+' });
  const [first, ...rest] = lines;
  if (first !== undefined) context.print(first);
  if (header && !isBarred) {
    const widths = pieces.map((piece) => (piece.kind === 'field' ? piece.width : 0));
    context.print(widths.map((width) => `${'-'.repeat(width)} `).join(''));
  }
  for (const line of rest) context.print(line);
}

/** Columns that are asked for, with what only the options or the head know of them. */
async function piecesOf(context: Context, given: Given): Promise<readonly Piece<Row>[]> {
  const format = given.format ?? usualOf(given);
  const pieces = byNames(format, FIELDS, { mark: '%', right: true });
  if (!pieces.ok) throw usage(pieces.error);
  const unit = unitOf(given.units);
  const api = await context.api();
  const { clusterName } = /cluster/i.test(format) ? await api.call('info') : { clusterName: '' };
  return pieces.value.map((piece) => {
    if (piece.kind === 'text') return piece;
    if (piece.title === 'Cluster') return { ...piece, value: () => clusterName };
    return unit === null || !MEMORY.test(piece.title)
      ? piece
      : { ...piece, value: (row: Row) => inUnit(piece.value(row), unit) };
  });
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
  return midnight(0);
}

function readInstant(flag: string, text: string): number {
  const [now, sign, count = '0', unit = 'second'] =
    /^now(?:([+-])(\d+)(second|minute|hour|day|week)?s?)?$/.exec(text) ?? [];
  const MS: Readonly<Record<string, number>> = {
    second: 1000,
    minute: 60_000,
    hour: 3_600_000,
    day: 86_400_000,
    week: 604_800_000,
  };
  const movedMs = Number(count) * (MS[unit] ?? 0);
  if (now !== undefined) return sign === '-' ? headNow() - movedMs : headNow() + movedMs;
  if (text === 'today') return midnight(0);
  if (text === 'tomorrow') return midnight(1);
  const american =
    /^(\d{2})(\d{2})(\d{2})?$/.exec(text) ??
    /^(\d{1,2})[/.](\d{1,2})(?:[/.](\d{2}))?(?:-(\d{1,2}:\d{2}(?::\d{2})?))?$/.exec(text);
  if (american !== null) return dayIn(flag, american);
  // `noon`, `4:00pm` and their like are those of `sbatch --begin`.
  return instantBefore(flag, beginOf(text)) ?? headNow();
}

/** Midnight so many days from today. */
function midnight(days: number): number {
  const date = new Date(headNow());
  date.setDate(date.getDate() + days);
  return date.setHours(0, 0, 0, 0);
}

/** `MMDDYY`, `01/31/26-18:30` and its like: of this year where it says none. */
function dayIn(flag: string, [, month = '', day = '', year, clock]: RegExpExecArray): number {
  const of = year === undefined ? new Date(headNow()).getFullYear() : 2000 + Number(year);
  const date = `${of}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = clock === undefined ? '' : `T${clock.padStart(clock.length > 5 ? 8 : 5, '0')}`;
  return instantBefore(flag, `${date}${time}`) ?? headNow();
}
