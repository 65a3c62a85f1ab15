// What a process finds in its environment: the job's own values, then who and where it is.

import { LAUNCH_STRING_BYTES_MAX } from '../core/model/limits.ts';
import type { LaunchOrder } from '../core/model/orders.ts';
import type { UserAccount } from '../ports/users.ts';

export interface Surroundings {
  readonly order: LaunchOrder;
  readonly account: UserAccount;
  readonly hostFile: string;
  /** Private directory for temporary files; null = the system's own. */
  readonly temporary: string | null;
  /** Whether the node has gpus at all: a task without one then sees none. */
  readonly hasGpus: boolean;
}

const PATH = '/usr/local/bin:/usr/bin:/bin';
/** Names that only the agent gives a value. */
const OURS = /^(WEFT_.*|CM_NODE_RANK|CM_PROC_RANK)$/s;

/** The part that is the same for all processes here, as `NAME=value`. */
export function buildEnvironment(of: Surroundings): string[] {
  const given = givenBy(of.order);
  const own = identity(of);
  const asked = [...given].filter(([name]) => !Object.hasOwn(own, name));
  const usual = Object.entries(defaults(of));
  return [
    ...usual.flatMap(([name, value]) => (given.has(name) ? [] : entryOf(name, value))),
    ...asked.map(([, entry]) => entry),
    ...Object.entries(own).flatMap(([name, value]) => entryOf(name, value)),
  ];
}

/** By a job's variables: orders of its tasks that came together share them. */
const givenBefore = new WeakMap<LaunchOrder['environment'], ReadonlyMap<string, string>>();

/**
 * `NAME=value` by name, without what is ours to say: of two entries of one name a reader may take
 * either, and by its WEFT_LAUNCH a process is found again.
 */
function givenBy({ environment }: LaunchOrder): ReadonlyMap<string, string> {
  const known = givenBefore.get(environment);
  if (known !== undefined) return known;
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (OURS.test(name)) continue;
    for (const entry of entryOf(name, value)) given.set(name, entry);
  }
  givenBefore.set(environment, given);
  return given;
}

/** None with '=' in the name or a NUL anywhere: execve would misread it. */
function entryOf(name: string, value: string): string[] {
  const entry = `${name}=${value}`;
  return name === '' || name.includes('=') || entry.includes('\0') ? [] : [entry];
}

function defaults({ account, temporary }: Surroundings): Record<string, string> {
  return {
    PATH,
    HOME: account.home,
    USER: account.name,
    LOGNAME: account.name,
    SHELL: account.shell,
    ...(temporary === null ? {} : { TMPDIR: temporary }),
  };
}

function identity({ order, hostFile, hasGpus }: Surroundings): Record<string, string> {
  const { place, share, nodes } = order;
  const values: Record<string, string> = {
    WEFT_JOB_ID: `${place.jobId}`,
    WEFT_TASK_ID: order.epochId.slice(0, order.epochId.indexOf('#')),
    WEFT_EPOCH: `${order.epoch}`,
    WEFT_NODE_RANK: `${order.nodeRank}`,
    ...nodeList(nodes),
    WEFT_NODE_COUNT: `${nodes.length}`,
    WEFT_PROCS_PER_NODE: `${order.processesPerNode}`,
    WEFT_HOSTFILE: hostFile,
    WEFT_CPUS: `${share.resources.cpuCount}`,
    WEFT_MEMORY_BYTES: `${share.resources.memoryBytes}`,
    WEFT_GPUS: share.gpus.join(','),
    CM_NODE_RANK: `${order.nodeRank}`,
  };
  if (share.gpus.length > 0 || hasGpus) values['CUDA_VISIBLE_DEVICES'] = share.gpus.join(',');
  if (place.index !== null) values['WEFT_ARRAY_INDEX'] = `${place.index}`;
  if (order.array !== null) {
    values['WEFT_ARRAY_FIRST'] = `${order.array.first}`;
    values['WEFT_ARRAY_LAST'] = `${order.array.last}`;
    values['WEFT_ARRAY_COUNT'] = `${order.array.count}`;
  }
  return values;
}

/** Thousands of nodes make a longer variable than Linux takes; the host file has them all. */
function nodeList(nodes: LaunchOrder['nodes']): Record<string, string> {
  const list = nodes.join(',');
  return list.length > LAUNCH_STRING_BYTES_MAX - 64 ? {} : { WEFT_NODELIST: list };
}

/** The part that differs from process to process. */
export function environmentOfProcess(
  common: readonly string[],
  rank: number,
  mark: string,
): string[] {
  return [...common, `WEFT_PROC_RANK=${rank}`, `CM_PROC_RANK=${rank}`, `WEFT_LAUNCH=${mark}`];
}
