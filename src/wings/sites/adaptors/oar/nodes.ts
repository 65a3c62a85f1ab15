// Nodes as `oarnodes -J` lists them, a record for each core; queues as `oarnotify -l` does.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { isRecord, parseJson, recordsOf, textOf, unreadable, wholeOf } from '../read.ts';
import { failure } from './failure.ts';

export const NODES_COMMAND = { argv: ['oarnodes', '-J'] };
export const QUEUES_COMMAND = { argv: ['oarnotify', '-l'] };

const MIB = 1_048_576;

export function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  if (output.code !== 0) return failure('oarnodes', output);
  const document = parseJson(output.stdout);
  const resources = isRecord(document) ? recordsOf(Object.values(document)) : null;
  if (resources === null) return unreadable('oarnodes', 'its answer is no JSON of resources');
  const cores = Map.groupBy(
    resources.filter((one) => textOf(one.network_address) !== null),
    (one) => textOf(one.network_address) ?? '',
  );
  return ok([...cores].map(([name, of]) => nodeOf(name, of)));
}

function nodeOf(name: string, cores: readonly Readonly<Record<string, unknown>>[]): SiteNode {
  const words = [...new Set(cores.map((core) => textOf(core.state) ?? 'no state'))];
  const isDrained = cores.some((core) => core.drain === 'YES');
  const cpusUsed = cores.filter((core) => (textOf(core.jobs) ?? '') !== '').length;
  const memory = wholeOf(cores[0]?.mem);
  return {
    name,
    state: nodeStateOf(words, { isDrained, cpusUsed, cpuCount: cores.length }),
    word: [...words, ...(isDrained ? ['drain'] : [])].join('+'),
    reason: null,
    cpuCount: cores.length,
    cpusUsed,
    memoryBytes: memory === null ? null : memory * MIB,
    memoryFreeBytes: null,
    features: [],
    queues: [],
    parts: [{ name, isOpen: !isDrained }],
  };
}

function nodeStateOf(
  words: readonly string[],
  node: { readonly isDrained: boolean; readonly cpusUsed: number; readonly cpuCount: number },
): SiteNodeState {
  if (words.some((word) => word === 'Dead' || word === 'Suspected')) return 'down';
  if (words.includes('Absent') || node.isDrained) return 'stopped';
  if (!words.every((word) => word === 'Alive')) return 'unknown';
  if (node.cpusUsed >= node.cpuCount) return 'busy';
  return node.cpusUsed > 0 ? 'running' : 'idle';
}

/** A name in its own line, and what is set of it in the lines behind a tab. */
export function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  if (output.code !== 0) return failure('oarnotify', output);
  const queues: { name: string; isStarted: boolean | null }[] = [];
  for (const line of output.stdout.split('\n')) {
    const [, value] = /^\s+state = (\S+)/.exec(line) ?? [];
    const last = queues.at(-1);
    if (value !== undefined && last !== undefined) last.isStarted = value === 'Active';
    else if (/^\S+$/.test(line)) queues.push({ name: line, isStarted: null });
  }
  const unread = queues.find(({ isStarted }) => isStarted === null);
  if (unread !== undefined) return unreadable('oarnotify', `queue ${unread.name} has no state`);
  return ok(
    queues.map(({ name, isStarted }) => {
      return { name, isOpen: true, isStarted: isStarted === true, walltimeMaxMs: null, nodes: [] };
    }),
  );
}
