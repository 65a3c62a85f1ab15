// Hosts as `pbsnodes -a -F json` lists them, queues as `qstat -Q -f -F json` does.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { clockOf, unreadable } from '../read.ts';
import { bytesOf, countOf, type Listed, partOf, recordsIn, wordOf } from './values.ts';

export const NODES_COMMAND = { argv: ['pbsnodes', '-a', '-F', 'json'] };
export const QUEUES_COMMAND = { argv: ['qstat', '-Q', '-f', '-F', 'json'] };

export function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  const listed = recordsIn('pbsnodes', 'nodes', output);
  if (!listed.ok) return listed;
  const [first] = listed.value;
  if (first === undefined) return unreadable('pbsnodes', 'it lists no node');
  const wrong = listed.value.find(([, record]) => wordOf(record.state) === null);
  if (wrong !== undefined) return unreadable('pbsnodes', `node ${wrong[0]} has no state`);
  return ok(listed.value.map(([name, record]) => nodeOf(name, record)));
}

function nodeOf(name: string, listed: Listed): SiteNode {
  const word = wordOf(listed.state) ?? '';
  const has = partOf(listed.resources_available) ?? {};
  // What is 0 is left out of it.
  const used = partOf(listed.resources_assigned) ?? {};
  const cpuCount = countOf(has.ncpus) ?? countOf(listed.pcpus) ?? 0;
  const cpusUsed = countOf(used.ncpus) ?? 0;
  const memory = bytesOf(wordOf(has.mem));
  const memoryUsed = bytesOf(wordOf(used.mem)) ?? 0;
  const queue = wordOf(listed.queue) ?? wordOf(has.Qlist);
  const words = word.split(',').map((one) => one.trim());
  return {
    name,
    state: nodeStateOf(words, { cpusUsed, cpuCount }),
    word,
    reason: wordOf(listed.comment),
    cpuCount,
    cpusUsed,
    memoryBytes: memory,
    memoryFreeBytes: memory === null ? null : Math.max(0, memory - memoryUsed),
    features: featuresOf(has),
    queues: (queue ?? '').split(',').filter((one) => one !== ''),
    // Beside what its daemon says: only an operator has it offline.
    parts: [{ name, isOpen: !words.includes('offline') }],
  };
}

/** The node's architecture, and resources that are true of it, as `gpu` or a former property. */
function featuresOf(has: Listed): readonly string[] {
  const all = Object.entries(has).flatMap(([name, value]) => (isTrue(value) ? [name] : []));
  const arch = wordOf(has.arch);
  return arch === null ? all : [arch, ...all];
}

const DOWN = ['down', 'state-unknown', 'stale', 'unresolvable', 'initializing'];
const STOPPED = ['offline', 'maintenance', 'sleep', 'provisioning', 'wait-provisioning'];
const IN_USE = ['free', 'job-busy', 'job-exclusive', 'busy', 'resv-exclusive'];

function nodeStateOf(
  words: readonly string[],
  node: { readonly cpusUsed: number; readonly cpuCount: number },
): SiteNodeState {
  if (words.some((word) => DOWN.includes(word))) return 'down';
  if (words.some((word) => STOPPED.includes(word))) return 'stopped';
  if (!words.every((word) => IN_USE.includes(word))) return 'unknown';
  if (!words.includes('free') || node.cpusUsed >= node.cpuCount) return 'busy';
  return node.cpusUsed > 0 ? 'running' : 'idle';
}

export function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  const listed = recordsIn('qstat', 'Queue', output);
  if (!listed.ok) return listed;
  return ok(
    listed.value.map(([name, record]) => ({
      name,
      isOpen: isTrue(record.enabled),
      isStarted: isTrue(record.started),
      walltimeMaxMs: clockOf(wordOf(partOf(record.resources_max)?.walltime) ?? ''),
      nodes: [],
    })),
  );
}

export function isTrue(value: unknown): boolean {
  return /^true$/i.test(wordOf(value) ?? '');
}
