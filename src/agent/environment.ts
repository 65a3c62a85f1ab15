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
  const list: string[] = [];
  const names = { ...defaults(of), ...givenBy(of.order), ...identity(of) };
  for (const name in names) {
    const value = names[name] as string;
    // A name with '=' or a NUL anywhere cannot be in an environment; execve would misread it.
    if (name === '' || name.includes('=') || name.includes('\0') || value.includes('\0')) continue;
    list.push(`${name}=${value}`);
  }
  return list;
}

/**
 * Without what is ours to say: of two entries of one name a reader may take either, and by its
 * WEFT_LAUNCH a process is found again.
 */
function givenBy(order: LaunchOrder): Record<string, string> {
  const all = Object.entries(order.environment);
  return Object.fromEntries(all.filter(([name]) => !OURS.test(name)));
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
