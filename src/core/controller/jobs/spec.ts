// From what a client sent to a complete specification: defaults filled in, every value checked.

import { formatDuration } from '../../base/duration.ts';
import { isPlainLine, toPlainLine } from '../../base/plain-line.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { formatSize } from '../../base/size.ts';
import { isWhole } from '../../base/whole.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import {
  CLIENT_STDIN,
  type JobSpec,
  type OnNodeLoss,
  type OutputFiles,
  type Program,
  type ResourceRequest,
  type Warning,
  type WorkDirectory,
} from '../../model/job.ts';
import * as limits from '../../model/limits.ts';
import { featureLabel, featuresNeeded } from '../../model/node-features.ts';
import { filesThatStay, separateFiles } from '../../model/output-patterns.ts';
import {
  DEFAULT_PARTITION,
  DEFAULT_QOS,
  type Partition,
  partitionOf,
} from '../../model/scheduling.ts';
import type { Settings } from '../../model/settings.ts';
import type { DirectoryWish, Submission } from '../../model/submission.ts';
import { unreadableLabel } from '../nodes/label-checks.ts';
import { sharedLabel } from '../nodes/view.ts';
import { unknownPartition, unknownQos } from '../partitions/admission.ts';
import { readIndices } from './indices.ts';
import { arrayOfItems, longestCommand } from './items.ts';
import { launchTooLarge } from './launch-size.ts';

/** Thrown inside this file only: the first thing that is wrong with a submission. */
class Wrong extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/** What the nodes say to a submission. */
export interface Grounds {
  /** Directories that nodes share with the submitter, those of most nodes first. */
  readonly sharedPaths: readonly string[];
  /** Memory of a job that asks for none. */
  memoryFor(request: ResourceRequest, partition: Partition): number;
}

export function completeSpec(
  wish: Submission,
  settings: Settings,
  grounds: Grounds,
  at: number,
): Result<JobSpec, Refusal> {
  try {
    return ok(complete(wish, settings, grounds, at));
  } catch (error) {
    if (error instanceof Wrong) return err(error.refusal);
    throw error;
  }
}

/** What is wrong with a program, or null. */
export function badProgram(program: Program): Refusal | null {
  try {
    checkProgram(program);
    return launchTooLarge(program, {}, 1);
  } catch (error) {
    if (error instanceof Wrong) return error.refusal;
    throw error;
  }
}

function complete(
  wish: Submission,
  settings: Settings,
  { sharedPaths, memoryFor }: Grounds,
  at: number,
): JobSpec {
  checkProgram(wish.program);
  checkEnvironment(wish.environment ?? {});
  const request = completeRequest(wish, settings);
  checkLaunchSize(wish, request);
  const { directory, labels } = resolveDirectory(wish.directory, sharedPaths);
  const partition = findPartition(wish.partition ?? DEFAULT_PARTITION, settings);
  const features = featuresNeeded(wish).map(featureLabel);
  const placed = { ...request, labels: [...new Set([...request.labels, ...labels, ...features])] };
  const memoryBytes = wantedMemory(wish, settings) ?? memoryFor(placed, partition);
  const qos = findQos(wish.qos ?? DEFAULT_QOS, settings);
  if (wish.beginAt !== undefined) whole('the begin time', wish.beginAt, 0, at + 100 * 365 * DAY_MS);
  const walltimeMs = checkWalltime(wish.walltimeMs ?? defaultWalltime(wish, settings, partition));
  const dependencies = wish.dependencies ?? [];
  if (dependencies.length > limits.DEPENDENCIES_MAX) {
    wrong(`a job waits for at most ${limits.DEPENDENCIES_MAX} others`);
  }
  const array = checkArray(wish);
  checkStdin(wish.files?.stdin, request, array !== null);
  return {
    name: checkName(wish.name ?? defaultName(wish.program)),
    program: wish.program,
    environment: wish.environment ?? {},
    directory,
    files: outputFiles(wish, directory, array !== null),
    request: { ...placed, perNode: { ...placed.perNode, memoryBytes } },
    walltimeMs,
    ...(wish.warning === undefined ? {} : { warning: checkWarning(wish.warning, walltimeMs) }),
    array,
    ...(wish.each === undefined ? {} : { each: wish.each }),
    dependencies,
    beginAt: wish.beginAt ?? null,
    nice: whole('nice', wish.nice ?? 0, -limits.NICE_MAX, limits.NICE_MAX),
    held: wish.held ?? false,
    onNodeLoss: checkLoss(wish.onNodeLoss ?? defaultLoss(directory), settings),
    requeue: wish.requeue ?? true,
    retriesMax: whole('the number of retries', wish.retriesMax ?? 0, 0, limits.RETRIES_MAX),
    partition: partition.name,
    ...(qos === DEFAULT_QOS ? {} : { qos }),
    ...completeMpi(wish, request),
    umask: whole('the umask', wish.umask ?? 0o022, 0, 0o777),
  };
}

const DAY_MS = 86_400_000;
/** Names of counted resources stand in keys, lists and on command lines. */
const COUNTED_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;

/** All but the memory, which may depend on the rest. */
function completeRequest(wish: Submission, settings: Settings): ResourceRequest {
  const { defaults } = settings;
  const nodeNames = wish.nodeNames ?? [];
  const nodeCount = wish.nodeCount ?? Math.max(defaults.nodeCount, nodeNames.length);
  whole('the number of nodes', nodeCount, 1, limits.NODES_PER_TASK_MAX);
  if (nodeNames.length > 0 && nodeNames.length < nodeCount) {
    wrong(`${nodeCount} nodes are asked for, but only ${nodeNames.length} are named`);
  }
  if (new Set(nodeNames).size < nodeNames.length) wrong('a node is named twice');
  const processes = wish.processesPerNode ?? (wish.mpi ? 1 : defaults.processesPerNode);
  whole('the number of processes per node', processes, 1, limits.PROCESSES_PER_NODE_MAX);
  const counted = wish.counted ?? defaults.perNode.counted;
  for (const name in counted) {
    if (!COUNTED_NAME.test(name) || name in Object.prototype) {
      wrong(
        `'${name}' is not a name for a counted resource; use letters, digits, '.', '-' and '_'`,
      );
    }
    whole(`the amount of ${name}`, counted[name] as number, 0, limits.COUNTED_PER_NODE_MAX);
  }
  return {
    nodeCount,
    processesPerNode: processes,
    perNode: {
      cpuCount: whole(
        'cpus',
        wish.cpuCount ?? defaults.perNode.cpuCount,
        0,
        limits.CPUS_PER_NODE_MAX,
      ),
      memoryBytes: 0,
      gpuCount: whole(
        'gpus',
        wish.gpuCount ?? defaults.perNode.gpuCount,
        0,
        limits.GPUS_PER_NODE_MAX,
      ),
      counted,
    },
    exclusive: wish.exclusive ?? false,
    labels: checkLabels(wish.labels ?? []),
    nodeNames,
  };
}

/** Undefined: in proportion to the cpus. */
function wantedMemory(wish: Submission, { defaults }: Settings): number | undefined {
  const { memoryBytes, memoryOtherwiseBytes } = wish;
  const bytes = memoryBytes ?? defaults.perNode.memoryBytes ?? memoryOtherwiseBytes;
  return bytes === undefined ? undefined : checkMemory(bytes);
}

/** Its ranks are started by its program, which is one process. */
function completeMpi(
  { mpi }: Submission,
  { processesPerNode, perNode }: ResourceRequest,
): Pick<JobSpec, 'mpi'> {
  if (mpi === undefined) return {};
  if (processesPerNode !== 1) {
    wrong('an MPI job has one process; say how many ranks a node gets with mpi.ranksPerNode');
  }
  const wanted = mpi.ranksPerNode ?? Math.max(1, perNode.cpuCount);
  const most = limits.PROCESSES_PER_NODE_MAX;
  return { mpi: { ranksPerNode: whole('the number of ranks per node', wanted, 1, most) } };
}

function checkMemory(bytes: number): number {
  whole('memory', bytes, 0, limits.MEMORY_PER_NODE_MAX);
  // Below this no program starts, so it is a unit forgotten: `--memory 512` for `512M`.
  if (bytes > 0 && bytes < 1_048_576) {
    wrong(
      `${formatSize(bytes)} bytes of memory is too little for any program; is the unit missing?`,
    );
  }
  return bytes;
}

function checkProgram(program: Program): void {
  if (program.kind === 'argv' && (program.argv.length === 0 || program.argv[0] === '')) {
    wrong('there is no command to run');
  }
  if (program.kind === 'shell' && program.line.trim() === '') wrong('there is no command to run');
  if (program.kind === 'script' && program.text.length > limits.SCRIPT_BYTES_MAX) {
    wrong(`the script is larger than ${formatSize(limits.SCRIPT_BYTES_MAX)}`);
  }
  const texts = program.kind === 'argv' ? program.argv : Object.values(program).flat();
  if (texts.some((text) => text.includes('\0'))) wrong('a command cannot contain a NUL character');
}

function checkEnvironment(variables: Readonly<Record<string, string>>): void {
  for (const name in variables) {
    const value = variables[name] as string;
    // `__proto__` is no ordinary key of a plain object: it would not come back from the journal.
    const bad = name === '' || name === '__proto__' || name.includes('=') || name.includes('\0');
    if (bad || value.includes('\0')) {
      wrong(`'${name}' is not a name for an environment variable, or its value has a NUL`);
    }
  }
}

function checkLaunchSize(wish: Submission, { processesPerNode }: ResourceRequest): void {
  const refusal = launchTooLarge(longestCommand(wish), wish.environment ?? {}, processesPerNode);
  if (refusal !== null) throw new Wrong(refusal);
}

function checkName(name: string): string {
  if (name === '' || name.length > limits.NAME_LENGTH_MAX || !isPlainLine(name)) {
    const signs = 'without control characters and marks of text direction';
    wrong(`a job name has 1-${limits.NAME_LENGTH_MAX} printable characters, ${signs}`);
  }
  return name;
}

/** The last path part of the first word. */
function defaultName(program: Program): string {
  if (program.kind === 'script') return 'script';
  const first = program.kind === 'argv' ? program.argv[0] : program.line.trim().split(/\s+/)[0];
  const base =
    (first ?? '')
      .split('/')
      .filter((part) => part !== '')
      .at(-1) ?? 'job';
  return (
    toPlainLine(base)
      .slice(0, 50)
      .replace(/[\ud800-\udbff]$/, '') || 'job'
  );
}

function findPartition(name: string, { scheduling }: Settings): Partition {
  const partition = partitionOf(scheduling, name);
  if (partition === null) throw new Wrong(unknownPartition(scheduling, name));
  return partition;
}

function findQos(name: string, { scheduling }: Settings): string {
  const unknown = unknownQos(scheduling, name);
  if (unknown !== null) throw new Wrong(unknown);
  return name;
}

function checkLabels(labels: readonly string[]): readonly string[] {
  const refusal = unreadableLabel(labels);
  if (refusal !== null) throw new Wrong(refusal);
  return labels;
}

/**
 * Time limit of a job that sets none: its partition's, else the cluster's, but never more than
 * allowed.
 */
function defaultWalltime(
  { walltimeMs }: Submission,
  { defaults }: Settings,
  { limits: { walltimeDefaultMs, walltimeMs: maxMs } }: Partition,
): number | null {
  if (walltimeMs === null) return null;
  const wanted = walltimeDefaultMs ?? defaults.walltimeMs ?? maxMs;
  return wanted === null || maxMs === null ? wanted : Math.min(wanted, maxMs);
}

function checkWalltime(wanted: number | null): number | null {
  if (wanted === null) return null;
  if (wanted < 1000) wrong('a time limit is at least 1s; leave it out for none');
  return whole('the time limit in ms', wanted, 1000, 100 * 365 * DAY_MS);
}

/** It comes while the job runs, so the limit must be further off than its lead. */
function checkWarning({ signal, leadMs }: Warning, walltimeMs: number | null): Warning {
  whole('a signal', signal, 1, 64);
  whole('the time between signal and time limit in ms', leadMs, 1, 100 * 365 * DAY_MS);
  if (walltimeMs === null) {
    wrong('a signal before the time limit needs a time limit; give one with --time');
  }
  if (leadMs < walltimeMs) return { signal, leadMs };
  const [lead, limit] = [leadMs, walltimeMs].map(formatDuration);
  return wrong(`the signal must come ${lead} before the time limit, which is only ${limit}`);
}

function checkArray(wish: Submission): JobSpec['array'] {
  const { array: wanted, each } = wish;
  const made = each === undefined ? ok(wanted) : arrayOfItems(each, wish);
  if (!made.ok) return wrong(made.error);
  const array = made.value;
  if (array === undefined) return null;
  const indices = readIndices(array.indices);
  if (!indices.ok) return wrong(indices.error);
  if (array.runningMax === undefined) return { indices: indices.value.toString() };
  whole('the limit of running tasks', array.runningMax, 1, limits.ARRAY_TASKS_MAX);
  return { indices: indices.value.toString(), runningMax: array.runningMax };
}

function outputFiles(
  { files = {}, directory: wanted }: Submission,
  directory: WorkDirectory,
  isArray: boolean,
): OutputFiles {
  const isMoved = wanted?.kind === 'auto' && directory.kind === 'private';
  const kept = isMoved ? filesThatStay(files) : files;
  return isArray ? separateFiles(kept) : kept;
}

/** The bytes that a client sends are there once: who of several should read them? */
function checkStdin(stdin: string | undefined, request: ResourceRequest, isArray: boolean): void {
  if (stdin !== CLIENT_STDIN) return;
  const processes = request.nodeCount * request.processesPerNode;
  if (processes === 1 && !isArray) return;
  const whom = isArray ? 'an array' : `${processes} processes`;
  wrong(`standard input goes to one process, not to ${whom}; use --stdin FILE, which all can read`);
}

function checkLoss(onNodeLoss: OnNodeLoss, { nodeTimeoutMs }: Settings): OnNodeLoss {
  if (onNodeLoss.kind !== 'lease') return onNodeLoss;
  whole('the lease in ms', onNodeLoss.leaseMs, 1000, 365 * DAY_MS);
  // A shorter one would run out between the heartbeats of a healthy node.
  if (onNodeLoss.leaseMs < nodeTimeoutMs) {
    wrong(`a lease is at least the node time-out, ${formatDuration(nodeTimeoutMs)}`);
  }
  return onNodeLoss;
}

function defaultLoss(directory: WorkDirectory): OnNodeLoss {
  return directory.kind === 'private' ? { kind: 'requeue' } : { kind: 'wait' };
}

/** The directory, and the label of the nodes that have it. */
function resolveDirectory(
  wish: DirectoryWish | undefined,
  shared: readonly string[],
): { directory: WorkDirectory; labels: readonly string[] } {
  if (wish === undefined || wish.kind === 'private') {
    return { directory: { kind: 'private' }, labels: [] };
  }
  const { path } = wish;
  if (!path.startsWith('/') || path.includes('\0')) wrong(`'${path}' is not an absolute path`);
  if (path.split('/').includes('..')) wrong(`'${path}' has a '..'; write the path without it`);
  const root = shared.find((one) => isInside(path, one));
  if (root !== undefined) {
    return { directory: { kind: 'shared', path }, labels: [sharedLabel(root)] };
  }
  if (wish.kind === 'auto') return { directory: { kind: 'private' }, labels: [] };
  throw new Wrong(refuse('directory.not_shared', { path }));
}

export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

function whole(what: string, value: number, min: number, max: number): number {
  if (!isWhole(value, min, max)) {
    wrong(`${what} must be a whole number from ${min} to ${max}, not ${value}`);
  }
  return value;
}

function wrong(what: string): never {
  throw new Wrong(refuse('argument.invalid', { what }));
}
