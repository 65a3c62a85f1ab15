// Nodes and partitions of Slurm.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { nodesOf, textOf, unreadable } from '../read.ts';
import { failure, listOf } from './listing.ts';
import { limitOf } from './time.ts';
import { numberOf, stringsOf } from './values.ts';

export const NODES_COMMAND = { argv: ['sinfo', '-a', '--json'] };
export const QUEUES_COMMAND = { argv: ['scontrol', 'show', 'partition', '-a', '-o'] };

const MIB = 1_048_576;

export function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  const listed = listOf('sinfo', 'nodes', output);
  return listed.ok ? ok(nodesIn(listed.value)) : listed;
}

/** Some versions list a node once for each of its partitions. */
export function nodesIn(listed: readonly Readonly<Record<string, unknown>>[]): readonly SiteNode[] {
  const nodes = new Map<string, SiteNode>();
  for (const one of listed) {
    const name = textOf(one.name);
    if (name !== null) nodes.set(name, nodeOf(name, one));
  }
  return [...nodes.values()];
}

function nodeOf(name: string, listed: Readonly<Record<string, unknown>>): SiteNode {
  const words = [...stringsOf(listed.state), ...stringsOf(listed.state_flags)];
  const memory = numberOf(listed.real_memory);
  const memoryUsed = numberOf(listed.alloc_memory) ?? 0;
  return {
    name,
    state: nodeStateOf(words.map((word) => word.toUpperCase())),
    word: words.join('+') || 'no state',
    reason: textOf(listed.reason),
    cpuCount: numberOf(listed.cpus) ?? 0,
    cpusUsed: numberOf(listed.alloc_cpus) ?? 0,
    memoryBytes: memory === null ? null : memory * MIB,
    memoryFreeBytes: memory === null ? null : Math.max(0, memory - memoryUsed) * MIB,
    features: listed.active_features === undefined ? [] : featuresOf(listed.active_features),
    queues: stringsOf(listed.partitions),
    // Beside what its daemon says: only an operator drains.
    parts: [{ name, isOpen: !words.some((word) => /^DRAIN/i.test(word)) }],
  };
}

function featuresOf(value: unknown): readonly string[] {
  return stringsOf(value).flatMap((words) => words.split(',').filter((word) => word !== ''));
}

const STATES: Readonly<Record<string, SiteNodeState>> = {
  IDLE: 'idle',
  MIXED: 'running',
  ALLOCATED: 'busy',
  DOWN: 'down',
  ERROR: 'down',
  FUTURE: 'down',
};
const DOWN = ['NOT_RESPONDING', 'POWERED_DOWN', 'POWERING_DOWN', 'INVALID_REG', 'FUTURE'];
const STOPPED = [
  'DRAIN',
  'DRAINED',
  'DRAINING',
  'FAIL',
  'FAILING',
  'MAINTENANCE',
  'MAINT',
  'RESERVED',
];

function nodeStateOf(words: readonly string[]): SiteNodeState {
  const states = words.flatMap((word) => STATES[word] ?? []);
  if (states.includes('down') || words.some((word) => DOWN.includes(word))) return 'down';
  if (words.some((word) => STOPPED.includes(word))) return 'stopped';
  return states[0] ?? 'unknown';
}

export function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  if (output.code !== 0) return failure('scontrol', output);
  const lines = output.stdout.split('\n').filter((line) => line !== '');
  const queues = lines.flatMap(queueOf);
  if (queues.length === lines.length) return ok(queues);
  return unreadable('scontrol', 'a line of its partitions has no PartitionName and State');
}

/** `PartitionName=main … State=UP …`: no value of these has a blank. */
function queueOf(line: string): SiteQueue[] {
  const fields = new Map(
    line.split(' ').map((field) => {
      const at = field.indexOf('=');
      return [field.slice(0, at), field.slice(at + 1)] as const;
    }),
  );
  const name = fields.get('PartitionName');
  const state = fields.get('State');
  if (name === undefined || state === undefined) return [];
  return [
    {
      name,
      isOpen: state === 'UP' || state === 'DOWN',
      isStarted: state === 'UP' || state === 'DRAIN',
      walltimeMaxMs: limitOf(fields.get('MaxTime') ?? ''),
      nodes: nodesOf(fields.get('Nodes') ?? null),
    },
  ];
}
