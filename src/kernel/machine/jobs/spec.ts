// From what a client sent to a complete specification: defaults filled in, every value checked.

import { formatDuration } from '../../base/duration.ts';
import { ok, type Result } from '../../base/result.ts';
import { parseGlob } from '../../files/glob.ts';
import { BLOB_HASH } from '../../model/blob.ts';
import type { Refusal } from '../../model/errors.ts';
import type {
  JobSpec,
  OnNodeLoss,
  ResourceRequest,
  Warning,
  WorkDirectory,
} from '../../model/job.ts';
import * as limits from '../../model/limits.ts';
import { OUTPUT_PATTERNS_MAX } from '../../model/limits.ts';
import { featureLabel, featuresNeeded } from '../../model/node-features.ts';
import { keptOf } from '../../model/options/kept.ts';
import {
  DEFAULT_PARTITION,
  DEFAULT_QOS,
  type Partition,
  partitionOf,
} from '../../model/scheduling.ts';
import type { Settings } from '../../model/settings.ts';
import type { Submission } from '../../model/submission.ts';
import { unknownPartition, unknownQos } from '../partitions/admission.ts';
import {
  checkStdin,
  outputFiles,
  resolveDirectory,
  type SharedPaths,
  wantedDirectory,
} from './directory.ts';
import { readIndices } from './indices.ts';
import { arrayOfItems } from './items.ts';
import { completeTargets } from './notify-targets.ts';
import {
  checkEnvironment,
  checkLaunchSize,
  checkName,
  checkProgram,
  defaultName,
} from './program.ts';
import { completeMpi, completeRequest, wantedMemory } from './request.ts';
import { checked, Wrong, whole, wrong } from './wrong.ts';

/** What the nodes say to a submission. */
export interface Grounds {
  readonly sharedPaths: SharedPaths;
  /** Memory of a job that asks for none. */
  memoryFor(request: ResourceRequest, partition: Partition): number;
}

export function completeSpec(
  wish: Submission,
  settings: Settings,
  grounds: Grounds,
  at: number,
): Result<JobSpec, Refusal> {
  return checked(() => complete(wish, settings, grounds, at));
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
  const { directory, labels } = resolveDirectory(wantedDirectory(wish), sharedPaths);
  const partition = findPartition(wish.partition ?? DEFAULT_PARTITION, settings);
  const features = featuresNeeded(wish).map(featureLabel);
  const placed = { ...request, labels: [...new Set([...request.labels, ...labels, ...features])] };
  const memoryBytes = wantedMemory(wish, settings) ?? memoryFor(placed, partition);
  const qos = findQos(wish.qos ?? DEFAULT_QOS, settings);
  if (wish.beginAt !== undefined) {
    whole('the begin time', wish.beginAt, 0, Number.MAX_SAFE_INTEGER);
    if (wish.beginAt > at + 100 * 365 * DAY_MS)
      wrong('the begin time is more than 100 years from now');
  }
  const walltimeMs = checkWalltime(wish.walltimeMs ?? defaultWalltime(wish, settings, partition));
  const dependencies = wish.dependencies ?? [];
  if (dependencies.length > limits.DEPENDENCIES_MAX) {
    wrong(`a job waits for at most ${limits.DEPENDENCIES_MAX} others`);
  }
  const array = checkArray(wish);
  checkStdin(wish.files?.stdin, request, array);
  return {
    name: checkName(wish.name ?? defaultName(wish.program)),
    program: wish.program,
    ...(wish.scriptPath === undefined ? {} : { scriptPath: wish.scriptPath }),
    environment: wish.environment ?? {},
    directory,
    files: outputFiles(wish, directory, array),
    ...completeStaging(wish, directory),
    request: { ...placed, perNode: { ...placed.perNode, memoryBytes } },
    walltimeMs,
    ...(wish.warning === undefined ? {} : { warning: checkWarning(wish.warning, walltimeMs) }),
    array,
    ...(wish.each === undefined ? {} : { each: wish.each }),
    dependencies,
    beginAt: wish.beginAt ?? null,
    held: wish.held ?? false,
    onNodeLoss: checkLoss(wish.onNodeLoss ?? defaultLoss(directory, settings), settings),
    partition: partition.name,
    ...notifyOf(wish, settings),
    ...(qos === DEFAULT_QOS ? {} : { qos }),
    ...completeMpi(wish, request),
    ...keptOf(wish, wrong),
  };
}

const DAY_MS = 86_400_000;

function notifyOf({ notify = [] }: Submission, settings: Settings): Pick<JobSpec, 'notify'> {
  if (notify.length === 0) return {};
  const wishes = completeTargets(notify, settings.notify);
  if (!wishes.ok) throw new Wrong(wishes.error);
  return { notify: wishes.value };
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

/** Time limit of a job that sets none: its partition's, else the cluster's, if allowed. */
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

/** Checks a warning: it comes while the job runs, so the limit must be longer than its lead. */
function checkWarning(warning: Warning, walltimeMs: number | null): Warning {
  const { signal, leadMs, to } = warning;
  whole('a signal', signal, 1, 64);
  whole('the time between signal and time limit in ms', leadMs, 1, 100 * 365 * DAY_MS);
  if (walltimeMs === null) {
    wrong('a signal before the time limit needs a time limit; give one with --time');
  }
  if (leadMs < walltimeMs) return to === undefined ? { signal, leadMs } : { signal, leadMs, to };
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

function checkLoss(onNodeLoss: OnNodeLoss, { nodeTimeoutMs }: Settings): OnNodeLoss {
  if (onNodeLoss.kind !== 'lease') return onNodeLoss;
  whole('the lease in ms', onNodeLoss.leaseMs, 1000, 365 * DAY_MS);
  // A shorter one would run out between the heartbeats of a healthy node.
  if (onNodeLoss.leaseMs < nodeTimeoutMs) {
    wrong(`a lease is at least the node time-out, ${formatDuration(nodeTimeoutMs)}`);
  }
  return onNodeLoss;
}

function defaultLoss(directory: WorkDirectory, { defaults }: Settings): OnNodeLoss {
  if (defaults.onNodeLoss !== undefined) return defaults.onNodeLoss;
  return directory.kind === 'private' ? { kind: 'requeue' } : { kind: 'wait' };
}

/** Whether the list of files is there, and whose, is looked at before (head/files). */
function completeStaging(
  { staging }: Submission,
  directory: WorkDirectory,
): Pick<JobSpec, 'staging'> {
  const { inputs, outputs } = staging ?? {};
  if (directory.kind === 'shared' || (inputs === undefined && outputs === undefined)) return {};
  if (inputs !== undefined && !BLOB_HASH.test(inputs)) wrong(`'${inputs}' is not a SHA-256`);
  return {
    staging: {
      ...(inputs === undefined ? {} : { inputs }),
      ...(outputs === undefined ? {} : { outputs: checkPatterns(outputs) }),
    },
  };
}

function checkPatterns(patterns: readonly string[]): readonly string[] {
  if (patterns.length > OUTPUT_PATTERNS_MAX) {
    wrong(`${patterns.length} output patterns are too many; ${OUTPUT_PATTERNS_MAX} at most`);
  }
  for (const pattern of patterns) {
    const read = parseGlob(pattern);
    if (!read.ok) wrong(`outputs: ${read.error}`);
  }
  return patterns;
}
