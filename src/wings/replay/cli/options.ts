// Options that `replay` and `simulate` share: the machine, the policy, and what to make of it.

import type { Command } from 'commander';
import { nearest } from '../../../kernel/base/nearest-word.ts';
import { parseSize } from '../../../kernel/base/size.ts';
import { read } from '../../../kernel/cli/submit/read.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { GPUS_PER_NODE_MAX } from '../../../kernel/model/limits.ts';
import { PLANNING_POLICIES, type PlanningPolicy } from '../../../kernel/model/scheduling.ts';
import { parseCount } from '../../../kernel/model/submission-values.ts';
import type { Machine } from '../core/machine.ts';

/** More would not end while somebody waits for it. */
const COUNT_MAX = 999_999_999;

export interface ReplayOptions {
  readonly procs?: string;
  readonly nodes?: string;
  readonly cpus?: string;
  readonly memory?: string;
  readonly gpus?: string;
  readonly policy?: string;
  readonly depth?: string;
  readonly seed?: string;
  readonly output?: string;
  readonly jobsOut?: string;
  readonly plot?: string;
}

export function defineMachineOptions(command: Command): void {
  command.option('--nodes <count>', 'equal nodes');
  command.option('--cpus <count>', 'of each node');
  command.option('--memory <size>', 'memory of each node; without it, memory is not considered');
}

/** `seedOf`: what the seed decides. */
export function defineReplayOptions(command: Command, seedOf: string): void {
  command.option('--seed <number>', seedOf, '1');
  command.option(
    '--policy <policy>',
    `who may start before whom: ${PLANNING_POLICIES.join(', ')}`,
    'easy',
  );
  command.option('--depth <count>', 'waiting jobs that conservative plans ahead; default: all');
  command.option('--jobs-out <file>', 'write submit, start and end of each job as CSV');
  command.option('--plot <file>', 'draw utilisation and queue over time as SVG');
  command.option('-o, --output <format>', 'json');
}

/** The machine that is asked for; null when none is. */
export function readMachine(options: ReplayOptions): Machine | null {
  const { procs, nodes, cpus, memory, gpus } = options;
  if (procs !== undefined) {
    if ([nodes, cpus, memory, gpus].some((one) => one !== undefined)) {
      throw usage('--procs excludes --nodes, --cpus, --memory and --gpus');
    }
    return { nodeCount: 1, cpusPerNode: readCount('--procs', procs), memoryBytesPerNode: null };
  }
  if ([nodes, cpus, memory, gpus].every((one) => one === undefined)) return null;
  if (nodes === undefined || cpus === undefined) throw usage('--nodes and --cpus need each other');
  const machine = {
    nodeCount: readCount('--nodes', nodes),
    cpusPerNode: readCount('--cpus', cpus),
    memoryBytesPerNode: memory === undefined ? null : readMemory(memory),
  };
  if (gpus === undefined) return machine;
  const gpusPerNode = read('--gpus', gpus, (text) => parseCount(text, 1, GPUS_PER_NODE_MAX));
  return { ...machine, gpusPerNode };
}

export function readPolicy(text = 'easy'): PlanningPolicy {
  const policy = PLANNING_POLICIES.find((known) => known === text.replaceAll('-', '_'));
  if (policy !== undefined) return policy;
  if (text === 'fcfs') return 'fifo';
  const guess = nearest(text, PLANNING_POLICIES);
  const hint = guess === null ? PLANNING_POLICIES.join(', ') : `Did you mean '${guess}'?`;
  throw usage(`--policy: '${text}' is unknown.`, hint);
}

/** `Infinity` when nothing is said. */
export function readDepth(text: string | undefined): number {
  return text === undefined ? Infinity : readCount('--depth', text);
}

export function readSeed(text = '1'): number {
  return read('--seed', text, (value) => parseCount(value, 0, COUNT_MAX));
}

/** A whole number from 1. */
export function readCount(flag: string, text: string): number {
  return read(flag, text, (value) => parseCount(value, 1, COUNT_MAX));
}

function readMemory(text: string): number {
  const size = parseSize(text);
  if (!size.ok) throw usage(`--memory: ${size.error}`);
  if (size.value > 0) return size.value;
  throw usage('--memory: a node without memory can run nothing');
}
