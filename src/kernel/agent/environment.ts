// What a process finds in its environment: the job's own values, then who and where it is.

import { WHERE_HEAD_IS } from '../model/head-variables.ts';
import { ATTACHED_STDIN } from '../model/job.ts';
import { LAUNCH_STRING_BYTES_MAX } from '../model/limits.ts';
import type { LaunchOrder } from '../model/orders.ts';
import { threadCounts } from '../model/thread-counts.ts';
import { INPUT_VARIABLE, inputPipe } from './attached-input.ts';
import { ranksPerNode } from './host-lines.ts';
import { slotsFile } from './names.ts';
import type { AgentPart, Surroundings, Variables } from './part.ts';

/** Values of variables by name. */
type Values = Record<string, string>;

/** Where jobs find programs, on a node that says nothing of it. */
export const JOB_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The same with programs of the system, which container engines start. */
export function enginesPath(jobPath = JOB_PATH): string {
  return `${jobPath}:/usr/local/sbin:/usr/sbin:/sbin`;
}

/** Names that only the agent gives a value, but for those that say where programs find its head. */
const OURS = /^(WEFT_.*|CM_NODE_RANK|CM_PROC_RANK)$/s;

export interface Environment {
  /** The part that is the same for all processes here, as `NAME=value`. */
  readonly common: string[];
  /** What wings say of one of them beside it. */
  readonly ofRank: (rank: number) => string[];
  /** Names in the common part that what joins the task does not find. */
  readonly ofProcesses: ReadonlySet<string>;
}

export function buildEnvironment(of: Surroundings, parts: readonly AgentPart[]): Environment {
  const given = givenBy(of.order);
  const own: Values = identity(of);
  const usual: Values = {};
  const ranked: NonNullable<Variables['ofRank']>[] = [];
  const ofProcesses = new Set<string>();
  for (const part of parts) {
    const by = part.variables?.(of);
    if (by?.ours !== undefined) Object.assign(own, by.ours);
    if (by?.usual !== undefined) Object.assign(usual, by.usual);
    if (by?.ofRank !== undefined) ranked.push(by.ofRank);
    for (const name of by?.ofProcesses ?? []) ofProcesses.add(name);
  }
  const ofRank = (rank: number): string[] => {
    return ranked.flatMap((by) =>
      Object.entries(by(rank)).map(([name, value]) => `${name}=${value}`),
    );
  };
  const differing = new Set(ranked.flatMap((by) => Object.keys(by(0))));
  Object.assign(usual, usualOf(of), whereHeadIs(of, given), threadsOf(of.order, given));
  // Loops, not lists of lists: each start of a task passes here with some sixty variables.
  const list: string[] = [];
  for (const name in usual) if (!given.has(name)) addEntry(list, name, usual[name] as string);
  for (const [name, entry] of given) {
    if (!Object.hasOwn(own, name) && !differing.has(name)) list.push(entry);
  }
  for (const name in own) addEntry(list, name, own[name] as string);
  // What the job itself says is said to whatever joins it, too.
  for (const name of ofProcesses) {
    if (given.has(name) && !Object.hasOwn(own, name)) ofProcesses.delete(name);
  }
  return { common: list, ofRank, ofProcesses };
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
    if (OURS.test(name) && !WHERE_HEAD_IS.has(name)) continue;
    if (canBeSaid(name, value)) given.set(name, `${name}=${value}`);
  }
  givenBefore.set(environment, given);
  return given;
}

function addEntry(list: string[], name: string, value: string): void {
  if (canBeSaid(name, value)) list.push(`${name}=${value}`);
}

/** None with '=' in the name or a NUL anywhere: execve would misread it. */
function canBeSaid(name: string, value: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0') && !value.includes('\0');
}

function usualOf({ account, temporary, settings }: Surroundings): Values {
  const { home, name, shell } = account;
  const path = settings.jobPath ?? JOB_PATH;
  const usual: Values = { PATH: path, HOME: home, USER: name, LOGNAME: name, SHELL: shell };
  if (temporary !== null) usual['TMPDIR'] = temporary;
  return usual;
}

/** An address, and no token; a job that sets one of them means another head, or its own way. */
function whereHeadIs(
  { settings: { headDirectory } }: Surroundings,
  given: ReadonlyMap<string, string>,
): Values {
  const isSaid = [...WHERE_HEAD_IS].some((name) => given.has(name));
  return headDirectory === undefined || isSaid ? {} : { WEFT_DIR: headDirectory };
}

function threadsOf(order: LaunchOrder, given: ReadonlyMap<string, string>): Values {
  const { cpuCount } = order.share.resources;
  // A job that asked for none has no number that would be right.
  if (cpuCount === 0) return {};
  const each = Math.max(1, Math.floor(cpuCount / ranksPerNode(order)));
  return threadCounts(each, (name) => given.has(name));
}

function identity(of: Surroundings): Record<string, string> {
  const { order, hostFile, settings } = of;
  const { place, share, nodes } = order;
  const gpus = share.gpus.map((gpu) => settings.gpuFrom + gpu).join(',');
  const values: Record<string, string> = {
    WEFT_JOB_ID: `${place.jobId}`,
    WEFT_JOB_NAME: order.jobName,
    WEFT_TASK_ID: order.epochId.slice(0, order.epochId.indexOf('#')),
    WEFT_EPOCH: `${order.epoch}`,
    WEFT_NODE_RANK: `${order.nodeRank}`,
    ...nodeList(nodes),
    WEFT_NODE_COUNT: `${nodes.length}`,
    WEFT_PROCS_PER_NODE: `${ranksPerNode(order)}`,
    WEFT_HOSTFILE: hostFile,
    WEFT_HOSTFILE_SLOTS: slotsFile(hostFile),
    WEFT_CPUS: `${share.resources.cpuCount}`,
    WEFT_MEMORY_BYTES: `${share.resources.memoryBytes}`,
    WEFT_GPUS: gpus,
    CM_NODE_RANK: `${order.nodeRank}`,
  };
  const hasGpus = settings.resources.gpuCount > 0;
  if (share.gpus.length > 0 || hasGpus) values['CUDA_VISIBLE_DEVICES'] = gpus;
  if (place.index !== null) values['WEFT_ARRAY_INDEX'] = `${place.index}`;
  if (order.files.stdin === ATTACHED_STDIN) {
    const { epochId } = order;
    values[INPUT_VARIABLE] = inputPipe(settings, { uid: of.account.uid, epochId });
  }
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

/** With the part that differs from process to process. */
export function environmentOfProcess(
  { common, ofRank }: Environment,
  rank: number,
  mark: string,
): string[] {
  const own = ofRank(rank);
  return [
    ...common,
    ...own,
    `WEFT_PROC_RANK=${rank}`,
    `CM_PROC_RANK=${rank}`,
    `WEFT_LAUNCH=${mark}`,
  ];
}

/**
 * Environment of a program that joins a task with so many processes here: a rank among them would
 * not be its own, and where they meet it would wait for ever, or take a place.
 */
export function environmentOfJoining(
  { common, ofProcesses }: Environment,
  processesPerNode: number,
): string[] {
  const kept = common.filter((entry) => !ofProcesses.has(entry.slice(0, entry.indexOf('='))));
  return processesPerNode > 1 ? kept : [...kept, 'WEFT_PROC_RANK=0', 'CM_PROC_RANK=0'];
}
