// Hosts as `bhosts -json` lists them, queues as `bqueues -json` does. A cpu is one of their slots.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { unreadable } from '../read.ts';
import { countOf, type Fields, fieldOf, recordsIn } from './records.ts';

export const NODES_COMMAND = { argv: ['bhosts', '-o', 'host_name status max njobs', '-json'] };
export const QUEUES_COMMAND = { argv: ['bqueues', '-o', 'queue_name status', '-json'] };

export function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  const records = recordsIn('bhosts', 'HOSTS', output);
  if (!records.ok) return records;
  const nodes = records.value.map(nodeOf);
  const known = nodes.filter((node) => node !== null);
  if (known.length === nodes.length && known.length > 0) return ok(known);
  return unreadable('bhosts', 'a host has no HOST_NAME and STATUS, or it lists none');
}

function nodeOf(fields: Fields): SiteNode | null {
  const [name, word] = [fieldOf(fields, 'HOST_NAME'), fieldOf(fields, 'STATUS')];
  if (name === null || word === null || !/^\S+$/.test(name)) return null;
  const [cpuCount, cpusUsed] = [countOf(fields, 'MAX') ?? 0, countOf(fields, 'NJOBS') ?? 0];
  return {
    name,
    state: nodeStateOf(word, { cpusUsed, cpuCount }),
    word,
    reason: null,
    cpuCount,
    cpusUsed,
    memoryBytes: null,
    memoryFreeBytes: null,
    features: [],
    queues: [],
  };
}

/** Closed by what runs there. */
const BUSY = ['closed_Full', 'closed_Excl', 'closed_cu_Excl', 'closed_Busy'];

function nodeStateOf(
  word: string,
  node: { readonly cpusUsed: number; readonly cpuCount: number },
): SiteNodeState {
  if (word === 'unavail' || word === 'unreach') return 'down';
  if (BUSY.includes(word)) return 'busy';
  if (word.startsWith('closed')) return 'stopped';
  if (word !== 'ok') return 'unknown';
  if (node.cpusUsed === 0) return 'idle';
  return node.cpusUsed >= node.cpuCount ? 'busy' : 'running';
}

export function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  const records = recordsIn('bqueues', 'QUEUES', output);
  if (!records.ok) return records;
  const queues = records.value.map(queueOf);
  const known = queues.filter((queue) => queue !== null);
  if (known.length === queues.length) return ok(known);
  return unreadable('bqueues', 'a queue has no QUEUE_NAME and STATUS');
}

/** `Open:Active`, `Closed:Inact_Adm`. */
function queueOf(fields: Fields): SiteQueue | null {
  const [name, status] = [fieldOf(fields, 'QUEUE_NAME'), fieldOf(fields, 'STATUS')];
  const [, open, active] = /^(\w+):(\w+)$/.exec(status ?? '') ?? [];
  if (name === null || open === undefined) return null;
  const isStarted = active === 'Active';
  return { name, isOpen: open === 'Open', isStarted, walltimeMaxMs: null, nodes: [] };
}
