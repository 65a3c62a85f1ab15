// `scontrol create reservation` and `delete`, by our own commands.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { beginOf } from '../core/begin.ts';
import { expandHosts } from '../core/hostlist.ts';
import { parseLimit } from '../core/times.ts';
import { fieldsOf, runOurs } from './speaking.ts';

/** What is said about a reservation; other words are refused by name. */
const WORDS = ['reservationname', 'starttime', 'duration', 'users', 'nodes', 'nodecnt', 'flags'];
const HINT =
  'There are ReservationName, StartTime, Duration, Users, Nodes, NodeCnt, Flags=IGNORE_JOBS.';

/** `create reservation [ReservationName=lab] StartTime=now Duration=60 Users=ann Nodes=n[1-2]`. */
export async function createReservation(
  context: Context,
  [what = '', ...rest]: readonly string[],
): Promise<number> {
  const isNamed = /^reservation(?:name)?=/i.test(what);
  if (!isNamed && what.toLowerCase() !== 'reservation')
    throw usage(`Invalid keyword: create ${what}`, 'There is create reservation.');
  const said = fieldsOf((isNamed ? [what, ...rest] : rest).map(withWholeKey));
  const unknown = [...said.keys()].find((key) => !WORDS.includes(key));
  if (unknown !== undefined)
    throw usage(`Creating a reservation with ${unknown} is not honoured here`, HINT);
  const flags = await flagsOf(context, said);
  const made: Buffer[] = [];
  const code = await runOurs(
    context,
    ['reserve', 'create', ...flags, '--output=name'],
    (text) => void made.push(Buffer.from(text)),
  );
  if (code === 0) context.print(`Reservation created: ${Buffer.concat(made).toString().trim()}`);
  return code;
}

/** `delete ReservationName=lab`. */
export function deleteReservation(context: Context, words: readonly string[]): Promise<number> {
  const [, name = ''] = /^reservation(?:name)?[= ](.+)$/i.exec(words.join(' ')) ?? [];
  if (name === '') throw usage('Invalid keyword: delete', 'There is delete ReservationName=….');
  return runOurs(context, ['reserve', 'cancel', '--', name]);
}

/** `Reservation=lab` says its name, too (scontrol(1)). */
function withWholeKey(word: string): string {
  return word.replace(/^reservation=/i, 'ReservationName=');
}

async function flagsOf(context: Context, said: ReadonlyMap<string, string>): Promise<string[]> {
  const duration = parseLimit(said.get('duration') ?? '');
  if (!duration.ok || duration.value === null)
    throw usage('A reservation needs Duration=…', 'Minutes, hours:minutes:seconds or days-hours.');
  const flags = [`--duration=${Math.round(duration.value / 1000)}s`];
  const put = (flag: string, text: string | undefined): void => {
    if (text !== undefined) flags.push(`${flag}=${text}`);
  };
  put('--name', said.get('reservationname'));
  const start = beginOf(said.get('starttime') ?? 'now');
  if (start !== 'now') put('--at', start);
  put('--users', said.get('users'));
  const named = said.get('nodes');
  const nodes = named === undefined ? null : await nodesOf(context, named);
  put('--nodes-named', nodes?.join(','));
  put('--nodes', said.get('nodecnt') ?? (nodes === null ? undefined : String(nodes.length)));
  for (const flag of (said.get('flags') ?? '').split(',')) {
    if (flag.toUpperCase() === 'IGNORE_JOBS') flags.push('--force');
    else if (flag !== '')
      throw usage(
        `Flags=${flag} is not honoured here`,
        'Maintenance is `weft maint node-off`, what repeats `weft reserve create --cron`.',
      );
  }
  return flags;
}

async function nodesOf(context: Context, text: string): Promise<readonly string[]> {
  if (text.toUpperCase() === 'ALL')
    return (await (await context.api()).call('listNodes')).nodes.map(({ name }) => name);
  const names = expandHosts(text);
  if (names === null) throw usage(`Invalid node name specified: ${text}`);
  return names;
}
