// The safety rules that are judged on live processes (S1, S2, S3, S10, S11, J8) and on the durable
// record (S6, S8, S10). One function per rule.

import type { Event } from '../../src/kernel/machine/declared.ts';
import { parseIndices } from '../../src/kernel/machine/jobs/indices.ts';
import type { JobId, TaskPlace } from '../../src/kernel/model/ids.ts';
import { formatTaskId, parseTaskId } from '../../src/kernel/model/ids.ts';
import { NEXT_WAIT_MS_MAX } from '../../src/kernel/model/limits.ts';
import { addResources, fitsIn, NO_RESOURCES } from '../../src/kernel/model/resources.ts';
import type { Machine } from '../machine.ts';
import type { SimProcess } from '../process.ts';
import { type EpochPlace, type JobTruth, placeOf, type Truth } from '../truth.ts';
import { type Rule, Violation } from '../violation.ts';
import { checkChange, checkElement, checkRetry } from './later.ts';
import { checkWindows } from './windows.ts';

export interface SafetyWorld {
  readonly truth: Truth;
  readonly now: () => number;
  readonly killGraceMs: number;
  readonly machines: ReadonlyMap<string, Machine>;
}

/** Timers, messages to the launcher and the repeat of KILL may take this much together. */
const SLACK_MS = 4000;
/** What a build may take in a simulated cluster. */
export const BUILD_MS_MAX = 3_600_000;

/** A process starts: everything that must hold for it, judged before it is among the living. */
export function checkStart(world: SafetyWorld, process: SimProcess): void {
  const place = placeOf(process);
  const job = checkKnown(world, place);
  if (!process.isLeftover) {
    checkStartsOnce(world, process, place);
    checkDependencies(world, job);
    checkElement(world.truth, job, indexOf(place));
  }
  checkOneEpoch(world, process, place, job);
  checkNext(world, process, place);
  checkRunningLimit(world, place, job);
  checkFits(world, process);
}

/** S1: no process runs for a job, or for an epoch, that the disk does not know. */
function checkKnown({ truth }: SafetyWorld, { jobId, epochId }: EpochPlace): JobTruth {
  const job = truth.jobs.get(jobId);
  if (job === undefined) throw broken('S1', `a process runs for job ${jobId}, which is unknown`);
  if (!truth.allocations.has(epochId)) {
    throw broken('S1', `a process runs for ${epochId}, which is not on disk`);
  }
  return job;
}

/** S3: each process of an epoch starts at most once. */
function checkStartsOnce({ truth }: SafetyWorld, process: SimProcess, place: EpochPlace): void {
  const again = (truth.ran.get(place.epochId) ?? []).some(
    (other) => other.node === process.node && placeOf(other).rank === place.rank,
  );
  if (again) throw broken('S3', `${place.epochId} rank ${place.rank} starts twice`);
}

/** S3: one live epoch of a task, unless its owner prefers a second copy to waiting. */
function checkOneEpoch(
  world: SafetyWorld,
  process: SimProcess,
  place: EpochPlace,
  job: JobTruth,
): void {
  const { onNodeLoss } = job.spec;
  for (const other of world.truth.live) {
    const theirs = placeOf(other);
    if (theirs.taskId !== place.taskId || theirs.epoch === place.epoch) continue;
    const isHere = other.node === process.node;
    if (onNodeLoss.kind === 'requeue' && !isHere) continue;
    if (onNodeLoss.kind === 'lease' && isUnwatched(world, other, onNodeLoss.leaseMs)) continue;
    const words = `${place.epochId} starts on ${process.node} while ${theirs.epochId}`;
    throw broken('S3', `${words} lives on ${other.node}`);
  }
}

/** S5: what was next on a node begins there only until its time for that is over. */
function checkNext(
  { truth, now }: SafetyWorld,
  { node }: SimProcess,
  { epochId, jobId }: EpochPlace,
): void {
  if (!truth.wasNext(epochId)) return;
  const lateMs = NEXT_WAIT_MS_MAX * 1.05 + SLACK_MS;
  for (const { id, slots } of truth.reservations.values()) {
    const since = truth.setAsideAt.get(id);
    if (since === undefined || now() - since <= lateMs || id === truth.reservationOf(jobId)) {
      continue;
    }
    const isOpen = slots.some(({ from, until, shares }) => {
      return Object.hasOwn(shares, node) && from + lateMs <= truth.headAt && truth.headAt < until;
    });
    if (isOpen) throw broken('S5', `${epochId} begins on ${node}, which ${id} has for long`);
  }
}

/** J8: no more tasks of an array run than its limit says; what is given up may go on somewhere. */
function checkRunningLimit({ truth }: SafetyWorld, { jobId, epochId }: EpochPlace, job: JobTruth) {
  const max = job.spec.array?.runningMax;
  if (max === undefined || job.spec.pool !== undefined || !truth.isCounted(epochId)) return;
  const running = new Set([epochId]);
  for (const process of truth.live) {
    const other = placeOf(process);
    if (other.jobId === jobId && truth.isCounted(other.epochId)) running.add(other.epochId);
  }
  if (running.size <= max) return;
  throw broken('J8', `of job ${jobId} no more than ${max} may run, and these do: ${[...running]}`);
}

/**
 * A lease is kept by the launcher, or where that was killed, by an agent that is up for so long.
 */
function isUnwatched(world: SafetyWorld, process: SimProcess, leaseMs: number): boolean {
  const machine = world.machines.get(process.node);
  if (machine === undefined || !machine.orphans.has(process)) return false;
  const since = machine.agentSince;
  return since === null || world.now() - since <= leaseMs + world.killGraceMs + SLACK_MS;
}

/** S2: what lives on a node is at most what the node has, each gpu once, exclusive alone. */
function checkFits({ truth, machines }: SafetyWorld, process: SimProcess): void {
  const total = machines.get(process.node)?.make.resources ?? NO_RESOURCES;
  const epochs = new Map<string, { process: SimProcess; job: JobTruth; stands: boolean }>();
  for (const one of [...truth.live, process]) {
    const { epochId, jobId } = placeOf(one);
    const job = truth.jobs.get(jobId);
    if (one.node !== process.node || job === undefined || job.spec.system !== undefined) continue;
    const stands = isStopped(one) && (epochs.get(epochId)?.stands ?? true);
    epochs.set(epochId, { process: one, job, stands });
  }
  let used = NO_RESOURCES;
  const gpus = new Map<string, number>();
  const cards = machines.get(process.node)?.cards ?? null;
  for (const [epochId, { process: one, job, stands }] of epochs) {
    const { request } = truth.specOf(epochId) ?? job.spec;
    if (request.exclusive && epochs.size > 1) {
      throw broken('S2', `${epochId} is not alone on ${process.node}: ${[...epochs.keys()]}`);
    }
    const share = one.variables.get('WEFT_GPU_SHARE_BYTES');
    // Shares are counted by card; what stands still may have given its cpus to others, its memory
    // it keeps.
    const { cpuCount, gpuCount } = request.perNode;
    const held = { cpuCount: stands ? 0 : cpuCount, gpuCount: share === undefined ? gpuCount : 0 };
    used = addResources(used, { ...request.perNode, ...held });
    for (const gpu of (one.variables.get('WEFT_GPUS') ?? '').split(',')) {
      if (gpu === '') continue;
      const whole = cards?.memoryOf(Number(gpu)) ?? 1;
      const sum = (gpus.get(gpu) ?? 0) + (share === undefined ? whole : Number(share));
      if (sum > whole) {
        throw broken('S2', `gpu ${gpu} of ${process.node} is used twice: ${[...epochs.keys()]}`);
      }
      gpus.set(gpu, sum);
    }
  }
  if (fitsIn(used, total)) return;
  throw broken('S2', `${process.node} runs more than it has: ${[...epochs.keys()]}`);
}

/** The task's index in the state: 0 for a plain job. */
function indexOf({ taskId }: EpochPlace): number {
  const task = parseTaskId(taskId);
  return task.ok ? (task.value.index ?? 0) : 0;
}

function isStopped(process: SimProcess): boolean {
  return process.runningSince === null;
}

/** S10: a dependent never starts before what it waits for has ended as wished. */
function checkDependencies({ truth }: SafetyWorld, job: JobTruth): void {
  for (const { jobId, condition } of job.spec.dependencies) {
    if (condition === 'each' || condition === 'start') continue;
    const kind = truth.jobs.get(jobId)?.outcome?.kind;
    const isMet =
      kind !== undefined &&
      (condition === 'any' || (condition === 'ok') === (kind === 'completed'));
    if (!isMet) throw broken('S10', `job ${job.id} starts before job ${jobId} ended ${condition}`);
  }
}

/** S11: while its agent lives, no process outlives its walltime by more than the grace. */
export function checkWalltimes({ truth, now, killGraceMs, machines }: SafetyWorld): void {
  for (const process of truth.live) {
    const { epochId } = placeOf(process);
    const walltimeMs = truth.specOf(epochId)?.walltimeMs ?? null;
    const since = machines.get(process.node)?.agentSince ?? null;
    if (walltimeMs === null || since === null || process.runningSince === null) continue;
    const ranMs = process.ranMs + now() - process.runningSince - builtMsOf(process, since);
    // A clock may be slow by a few parts in a hundred.
    const overMs = Math.min(ranMs - walltimeMs * 1.05, now() - since);
    if (overMs <= killGraceMs * 1.05 + SLACK_MS) continue;
    throw broken('S11', `${epochId} still runs on ${process.node} ${overMs} ms over its walltime`);
  }
}

/** An agent that was away while a build ended counts it until its return, when it sees that. */
function builtMsOf({ plan, builtAtMs, ranMs, runningSince }: SimProcess, since: number): number {
  if (plan.build === undefined) return 0;
  if (builtAtMs === undefined) return BUILD_MS_MAX;
  const ranAtReturn = ranMs + since - (runningSince ?? since);
  return Math.max(builtAtMs, ranAtReturn);
}

/** An event that has become durable, judged against the truth before it. */
export function checkEvent({ truth, machines, now }: SafetyWorld, event: Event, at: number): void {
  truth.headAt = at;
  switch (event.kind) {
    case 'reservation_created':
    case 'reservation_changed':
      truth.setAsideAt.set(event.reservation.id, now());
      return;
    case 'reservation_extended':
    case 'reservation_slot_found':
      truth.setAsideAt.set(event.id, now());
      return;
    case 'job_submitted':
      // What a retry of a batch makes has the names of what it retries: see batches.ts.
      if (event.spec.batch !== undefined) return;
      if (event.spec.retry !== undefined) return checkRetry(truth, event, event.spec.retry);
      // Looks of the cluster itself come again and again.
      if (event.spec.system !== undefined) return;
      return checkSubmittedOnce(truth, event.jobId, event.spec.name);
    case 'job_changed':
      return checkChange(truth, event);
    case 'task_allocated':
      checkNotDone(truth, event.place, 'starts');
      if (event.epoch !== truth.taskOf(event.place).epoch + 1) {
        throw broken('S3', `${textOf(event.place)} skips to epoch ${event.epoch}`);
      }
      for (const { node } of event.shares) {
        if (truth.drained.has(node) && !isOfSystem(truth, event.place)) {
          throw broken('S10', `${textOf(event.place)} is given to ${node}, which is drained`);
        }
      }
      return event.next ? undefined : checkWindows(truth, machines, event, at);
    case 'part_placed': {
      // What its node has begun by itself is judged by when that was.
      if (event.begun) return;
      const next = truth.nextAt(event);
      if (next === null) return;
      const { place, share } = next;
      return checkWindows(truth, machines, { place, shares: [share] }, at);
    }
    case 'task_done':
      return checkNotDone(truth, event.place, 'ends');
    case 'pending_ended':
      for (const index of parseIndices(event.indices)) {
        checkNotDone(truth, { jobId: event.jobId, index }, 'ends');
      }
      return;
    case 'job_done':
      if ((truth.jobs.get(event.jobId)?.outcome ?? null) !== null) {
        throw broken('S6', `job ${event.jobId} is done a second time`);
      }
      return;
    default:
  }
}

/** The program of a maintenance runs on drained nodes too, and beside whoever was suspended. */
function isOfSystem(truth: Truth, { jobId }: Pick<TaskPlace, 'jobId'>): boolean {
  return truth.jobs.get(jobId)?.spec.system !== undefined;
}

/** S8: every submission of a run has a name of its own. */
function checkSubmittedOnce(truth: Truth, jobId: JobId, name: string): void {
  for (const job of truth.jobs.values()) {
    if (job.spec.name !== name) continue;
    throw broken('S8', `submission ${name} became job ${job.id} and job ${jobId}`);
  }
}

/** S6: done is final. */
function checkNotDone(truth: Truth, place: TaskPlace, verb: string): void {
  if (truth.taskOf(place).outcome !== null) {
    throw broken('S6', `${textOf(place)} ${verb} although it is done`);
  }
}

function textOf({ jobId, index }: TaskPlace): string {
  return formatTaskId(jobId, index);
}

function broken(rule: Rule, words: string): Violation {
  return new Violation(rule, words);
}
