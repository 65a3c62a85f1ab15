// `scontrol update`: jobs, and for operators nodes and partitions.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { PARTITION_STATES } from '../../../kernel/model/scheduling.ts';
import { beginOf } from '../core/begin.ts';
import { expandHosts } from '../core/hostlist.ts';
import { niceOf } from '../core/request.ts';
import { parseLimit } from '../core/times.ts';
import { idList } from './our-ids.ts';
import { fieldsOf, runOurs } from './speaking.ts';

/** `update JobId=42 TimeLimit=2:00:00`, `update NodeName=n1 State=DRAIN Reason=disk`. */
export async function update(context: Context, words: readonly string[]): Promise<number> {
  // `update job 42 nice=5` is meant, too.
  const [first = '', second = '', ...more] = words;
  const isApart = /^(?:job(?:id)?|node(?:name)?|partition(?:name)?)$/i.test(first);
  const said = fieldsOf(isApart ? [`${first}=${second}`, ...more] : words);
  const job = said.get('jobid') ?? said.get('job');
  const node = said.get('nodename') ?? said.get('node');
  const partition = said.get('partitionname') ?? said.get('partition');
  if (job !== undefined) {
    let code = 0;
    for (const id of idList(job)) code = (await updateJob(context, id, said)) || code;
    return code;
  }
  if (node !== undefined) return updateNode(context, node, said);
  if (partition !== undefined) return updatePartition(context, partition, said);
  throw usage(
    'No valid entity in update command',
    'There are JobId=…, NodeName=… and PartitionName=….',
  );
}

async function updatePartition(
  context: Context,
  name: string,
  said: ReadonlyMap<string, string>,
): Promise<number> {
  const other = [...said.keys()].find((key) => !/^(?:partition(?:name)?|state)$/.test(key));
  const state = PARTITION_STATES.find((one) => one === said.get('state')?.toLowerCase());
  if (other !== undefined || state === undefined)
    throw usage(
      `Update of this parameter is not supported: ${other ?? 'state'}`,
      'There is State=UP, DOWN, DRAIN and INACTIVE; see weft partition set.',
    );
  await (await context.api()).call('changePartition', { params: { name }, body: { state } });
  return 0;
}

const CHANGES: Readonly<Record<string, string>> = {
  timelimit: '--time',
  partition: '--partition',
  nice: '--nice',
  jobname: '--name',
  name: '--name',
  qos: '--qos',
  comment: '--comment',
  starttime: '--begin',
  arraytaskthrottle: '--at-once',
  numnodes: '--nodes',
  gres: '--gpus',
  trespernode: '--gpus',
  mincpusnode: '--cpus',
  minmemorynode: '--memory',
};

/** A value as our options have it. */
function changed(key: string, text: string): string {
  if (key === 'timelimit') return limitWords(text);
  if (key === 'starttime') return beginOf(text);
  if (key === 'nice') return niceOf(text);
  if (key === 'gres' || key === 'trespernode') return gpusOf(text);
  if (key === 'arraytaskthrottle') return text === '0' ? 'none' : text;
  return key === 'minmemorynode' && /^\d+$/.test(text) ? `${text}M` : text;
}

async function updateJob(
  context: Context,
  id: string,
  said: ReadonlyMap<string, string>,
): Promise<number> {
  const move = moveIn(said);
  const moved = move === null ? null : await movedLimit(context, id, move);
  const flags = [...said].flatMap(([key, text]) => {
    if (key === 'jobid' || key === 'job') return [];
    if (moved !== null && /^timelimit[+-]?$/.test(key)) return [`--time=${moved}`];
    if (key === 'priority' && text === '0') return ['--hold'];
    const flag = CHANGES[key];
    if (flag === undefined)
      throw usage(
        `Update of this parameter is not supported: ${key}=${text}`,
        `There are ${Object.keys(CHANGES).join(', ')} and priority=0.`,
      );
    return [`${flag}=${changed(key, text)}`];
  });
  return runOurs(context, ['change', ...flags, '--', id]);
}

/** `+5` of `TimeLimit=+5` and of `TimeLimit+=5`; null: none, or -1, which is no limit at all. */
function moveIn(said: ReadonlyMap<string, string>): string | null {
  const limit = said.get('timelimit') ?? '';
  if (/^[+-]/.test(limit) && limit !== '-1') return limit;
  const sign = ['+', '-'].find((one) => said.has(`timelimit${one}`));
  return sign === undefined ? null : `${sign}${said.get(`timelimit${sign}`)}`;
}

/** The limit of a job with so much more or less than it has: `+5`, `-1:00:00`. */
async function movedLimit(context: Context, id: string, text: string): Promise<string> {
  const limit = parseLimit(text.slice(1));
  if (!limit.ok) throw usage(limit.error);
  const params = { id: id.replace(/\[.*/, '') };
  const { walltimeMs } = await (await context.api()).call('getJob', { params });
  if (limit.value === null || walltimeMs === null)
    throw usage(`Invalid time limit specification: ${text}`, 'It has none to add to.');
  const ms = text.startsWith('+') ? walltimeMs + limit.value : walltimeMs - limit.value;
  return `${Math.round(ms / 1000)}s`;
}

/** `gpu:2`, `gres:gpu:a100:2`; nothing else is of nodes. */
function gpusOf(text: string): string {
  const [, gpus] = /^(?:gres[:/])?gpu[:=]((?:[\w.-]+:)?\d+)$/i.exec(text) ?? [];
  return gpus ?? refuseGres(text);
}

function refuseGres(text: string): never {
  throw usage(`Invalid generic resource (gres) specification: ${text}`);
}

function limitWords(text: string): string {
  const limit = parseLimit(text);
  if (!limit.ok) throw usage(limit.error);
  return limit.value === null ? 'none' : `${Math.round(limit.value / 1000)}s`;
}

async function updateNode(
  context: Context,
  list: string,
  said: ReadonlyMap<string, string>,
): Promise<number> {
  const names = expandHosts(list);
  if (names === null) throw usage(`Invalid node name specified: ${list}`);
  const state = said.get('state')?.toUpperCase();
  const reason = said.get('reason');
  if (state === 'DRAIN' || state === 'DOWN') {
    if (state === 'DOWN')
      throw usage(
        'State=DOWN is not honoured here',
        'State=DRAIN keeps new work away; `weft node lost` gives up what runs.',
      );
    if (reason === undefined) throw usage('You must specify a reason when DRAINING a node');
    return runOurs(context, ['node', 'drain', `--reason=${reason}`, '--', ...names]);
  }
  if (state !== 'RESUME' && state !== 'IDLE')
    throw usage(`Invalid node state specified: ${state ?? ''}`, 'There are DRAIN and RESUME.');
  return runOurs(context, ['node', 'undrain', '--', ...names]);
}
