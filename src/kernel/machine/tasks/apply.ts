// Applying what happened to tasks and their parts.

import { assert, present } from '../../base/assert.ts';
import {
  type EpochId,
  formatEpochId,
  formatTaskId,
  type NodeName,
  type TaskPlace,
} from '../../model/ids.ts';
import type { Outcome } from '../../model/job.ts';
import type { ProcessEnd, Share, SignalOrder } from '../../model/orders.ts';
import type { Billed } from '../../scheduler/line/usage-book.ts';
import type { Of } from '../events.ts';
import {
  countHeld,
  dequeueEntry,
  jobOf,
  noteEnds,
  noteOutcome,
  requeueEntry,
} from '../jobs/apply.ts';
import type { Job, Part, Task } from '../jobs/facts.ts';
import { addActive, endedSet, removeActive } from '../jobs/parts.ts';
import { indexOf, placeOf } from '../jobs/place.ts';
import {
  claim,
  claimNext,
  leave,
  nodeOf,
  refreshPool,
  takeCpusBack,
  unclaim,
} from '../nodes/apply.ts';
import { isGateway } from '../nodes/members.ts';
import type { EventTable } from '../noun.ts';
import type { State } from '../state.ts';
import { isNext } from './shown-state.ts';
import { isStopped } from './stops.ts';

/** What happens to the state, by the kind of event. */
export const taskEvents = {
  task_allocated(state, event, at) {
    const job = jobOf(state, event.place.jobId);
    const index = indexOf(event.place);
    const isNext = event.next === true;
    dequeueEntry(state, job);
    assert(job.pending.delete(index), `task ${job.id}[${index}] is pending`);
    if (!isNext) countHeld(state, job, 1);
    const task = job.active.get(index) ?? newTask(job, index);
    addActive(job, task);
    task.state = 'starting';
    task.epoch = event.epoch;
    task.life = state.lives.at(-1)?.id ?? null;
    state.epochMax = Math.max(state.epochMax, event.epoch);
    task.startedAt = null;
    task.waitsSince = at;
    task.buildMs = timeBefore(state, job, event.shares);
    task.ending = null;
    task.stops.clear();
    task.suspendTurn = 0;
    task.pausedMs = 0;
    const epochId = epochIdOf(task);
    task.parts = new Map(
      event.shares.map((share, nodeRank) => {
        const part = newPart(share, nodeRank);
        part.isNext = isNext;
        return [
          share.node,
          isGateway(nodeOf(state, share.node)) ? { ...part, atSite: true } : part,
        ];
      }),
    );
    const take = isNext ? claimNext : claim;
    for (const share of event.shares) take(state, epochId, share, task);
    if (!isNext) state.usage.hold(job.owner, billedOf(task), at);
    job.startedAt ??= at;
    requeueEntry(state, job);
  },
  task_held(state, event) {
    const task = taskOf(state, event.place);
    const { job } = task;
    dequeueEntry(state, job);
    job.pending.delete(task.index);
    task.heldBecause = event.because;
    requeueEntry(state, job);
  },
  task_requeued(state, event, at) {
    const task = taskOf(state, event.place);
    noteLoss(task, event.outcome);
    noteEnded(state, task, event.outcome, { at, next: 'requeued' });
    if (event.counts === 'failure') task.failures += 1;
    if (event.counts === 'crash') task.crashes += 1;
    if (event.counts === 'anew') task.crashes = 0;
    putBack(state, task, event.abandoned, at);
  },
  task_done(state, event, at) {
    const task = taskOf(state, event.place);
    noteLoss(task, event.outcome);
    noteEnded(state, task, event.outcome, { at, next: 'done' });
    const wasNext = isNext(task);
    leaveEpoch(state, task, event.abandoned, at);
    const { job } = task;
    removeActive(job, task.index);
    endedSet(job, event.outcome).add(task.index);
    noteOutcome(job, event.outcome);
    noteEnds(state, job, { indices: [task.index], outcome: event.outcome, at });
    if (!wasNext) countHeld(state, job, -1);
  },
  part_asked(state, event) {
    const { part } = partOf(state, event);
    part.isAsked = true;
    state.scratch.touched.push({ node: event.node, epochId: event.epochId });
  },
  part_started(state, event, at) {
    const { task, part } = partOf(state, event);
    part.state = 'started';
    const startedAt = event.startedAt ?? at;
    part.nodeStartedAt = (event.nodeAt ?? at) - (at - startedAt);
    nodeOf(state, event.node).launchFailures = 0;
    // A suspend asked for while it was starting can be told now.
    if (isStopped(task)) state.scratch.touched.push({ node: event.node, epochId: event.epochId });
    for (const other of task.parts.values()) if (other.state === 'ordered') return;
    // A short part may have ended before the last one started.
    task.startedAt ??= startedAt;
    if (task.state !== 'starting') return;
    task.state = 'running';
    stirNodes(state, task);
  },
  /** Starts the task's own time: the build is done. */
  part_built(state, event) {
    const { task, part } = partOf(state, event);
    task.buildMs = Math.min(task.buildMs, event.tookMs);
    part.isBuilt = true;
    noteBuilt(state, task.job, event.node);
    stirNodes(state, task);
  },
  part_ended(state, event, at) {
    const { task, part } = partOf(state, event);
    const { cause, nodeFault, processes, usage, detail, there, stored } = event;
    part.state = 'ended';
    part.end = {
      cause,
      nodeFault,
      processes,
      usage,
      at: event.endedAt ?? at,
      ...(detail === undefined ? {} : { detail }),
      ...(there === undefined ? {} : { there }),
      ...(stored === undefined ? {} : { stored }),
    };
    const node = nodeOf(state, event.node);
    // What a node says itself clears by itself; the count is for what somebody has to look into.
    if (cause === 'launch_failed' && nodeFault && node.fault === null) node.launchFailures += 1;
    const sum = task.job.usage;
    if (cause === 'exited' && isClean(processes)) noteBuilt(state, task.job, event.node);
    task.job.usage = {
      userUs: sum.userUs + usage.userUs,
      systemUs: sum.systemUs + usage.systemUs,
      memoryPeakBytes: Math.max(sum.memoryPeakBytes, usage.memoryPeakBytes),
    };
    if (task.state !== 'completing') task.waitsSince = at;
    task.state = 'completing';
    state.scratch.keepingTrouble.delete(event.epochId);
    const { next } = present(nodeOf(state, event.node).holding.get(event.epochId), 'the claim');
    unclaim(state, event.epochId, event.node);
    // What somebody ends may have to make room.
    if (next === null && task.ending === null) state.scratch.freed.note(event.node, task.job.id);
  },
  claim_dropped(state, event) {
    unclaim(state, event.epochId, event.node);
  },
  end_asked(state, event, at) {
    const task = taskOf(state, event.place);
    if (task.state !== 'completing') task.waitsSince = at;
    task.ending =
      event.why === 'sibling'
        ? { kind: 'sibling', outcome: present(event.outcome, 'the outcome of the sibling') }
        : { kind: event.why, by: event.by, ...because(event), ...haste(event) };
    task.state = 'completing';
    touch(state, task);
    stirNodes(state, task);
    if (!state.indexes.preempted.has(task)) return;
    // A stopped one goes on to end: it takes back what is free of what it gave.
    for (const name of task.parts.keys()) refreshPool(state, nodeOf(state, name));
  },
  signal_asked(state, event) {
    const task = taskOf(state, event.place);
    state.signalSerial += 1;
    const { signal, to } = event;
    const epochId = epochIdOf(task);
    const all = { kind: 'signal', epochId, signal, serial: state.signalSerial } as const;
    const order: SignalOrder = to === undefined ? all : { ...all, to };
    for (const part of task.parts.values()) {
      if (part.state !== 'started' && part.state !== 'suspended') continue;
      nodeOf(state, part.share.node).signals.set(epochId, order);
    }
    touch(state, task);
  },
} satisfies Partial<EventTable>;

export function taskOf(state: State, place: TaskPlace): Task {
  const task = jobOf(state, place.jobId).active.get(indexOf(place));
  return present(task, `task ${formatTaskId(place.jobId, place.index)}`);
}

/** What its epoch holds on all its nodes, as fair share bills it. */
export function billedOf(task: Task): Billed {
  const billed = { cpuCount: 0, memoryBytes: 0, gpuCount: 0 };
  for (const { share, isNext } of task.parts.values()) {
    if (isNext) continue;
    billed.cpuCount += share.resources.cpuCount;
    billed.memoryBytes += share.resources.memoryBytes;
    billed.gpuCount += share.resources.gpuCount;
  }
  const gpuTypes = gpuTypesOf(task);
  return gpuTypes === null ? billed : { ...billed, gpuTypes };
}

/** How many gpus of which type it holds; null: none of a known type. */
function gpuTypesOf({ parts }: Task): Readonly<Record<string, number>> | null {
  let counts: Record<string, number> | null = null;
  for (const { share } of parts.values()) {
    for (const type of share.gpuTypes ?? []) {
      if (type === '') continue;
      counts ??= {};
      counts[type] = (counts[type] ?? 0) + 1;
    }
  }
  return counts;
}

export function epochIdOf(task: Task): EpochId {
  return formatEpochId(task.id, task.epoch);
}

function haste({
  closes,
  hastens,
  discards,
  holds,
}: Of<'end_asked'>): Pick<Of<'end_asked'>, 'closes' | 'hastens' | 'discards' | 'holds'> {
  return {
    ...(holds ? { holds } : {}),
    ...(closes ? { closes } : {}),
    ...(hastens ? { hastens } : {}),
    ...(discards ? { discards } : {}),
  };
}

function because({ because }: Of<'end_asked'>): { readonly because?: string } {
  return because === undefined ? {} : { because };
}

function isClean(processes: readonly ProcessEnd[]): boolean {
  return processes.length > 0 && processes.every(({ exit }) => exit.code === 0);
}

/** What a start may take before its own time, ms. */
function timeBefore(state: State, job: Job, shares: readonly Share[]): number {
  let ms = 0;
  for (const hook of state.machine.hooks.timeBefore) ms += hook(job, shares);
  return ms;
}

function noteBuilt(state: State, job: Job, node: NodeName): void {
  for (const hook of state.machine.hooks.onBuilt) hook(state, job, node);
}

/** Puts the task back into the queue. */
export function putBack(
  state: State,
  task: Task,
  abandoned: readonly NodeName[],
  at: number,
): void {
  const { job } = task;
  const wasNext = isNext(task);
  leaveEpoch(state, task, abandoned, at);
  task.state = 'pending';
  dequeueEntry(state, job);
  if (!wasNext) countHeld(state, job, -1);
  job.pending.add(task.index);
  requeueEntry(state, job);
}

/** When its last part ended; now, where one may still run. */
export function lastEndOf(task: Task, at: number): number {
  let last = -Infinity;
  for (const { end } of task.parts.values()) last = Math.max(last, end?.at ?? at);
  return last === -Infinity ? at : Math.min(last, at);
}

/** A worker that leaves by itself holds no calls. */
function noteLoss({ job }: Task, { kind }: Outcome): void {
  if (job.spec.pool !== undefined && kind !== 'completed') job.losses += 1;
}

/** Keeps what the history wants to know of the epoch before its parts go. */
/** `next`: whether the task starts again. */
function noteEnded(
  state: State,
  task: Task,
  outcome: Outcome,
  { at, next }: { readonly at: number; readonly next: 'requeued' | 'done' },
): void {
  const usage = { userUs: 0, systemUs: 0, memoryPeakBytes: 0 };
  for (const { end } of task.parts.values()) {
    if (end === null) continue;
    usage.userUs += end.usage.userUs;
    usage.systemUs += end.usage.systemUs;
    usage.memoryPeakBytes = Math.max(usage.memoryPeakBytes, end.usage.memoryPeakBytes);
  }
  const { job, index, epoch, startedAt } = task;
  const nodes = [...task.parts.keys()];
  const { cpuCount, memoryBytes, gpuCount, gpuTypes = {} } = billedOf(task);
  if (next === 'done') state.scratch.paces.note(task, lastEndOf(task, at));
  state.scratch.endedEpochs.push({
    job,
    index,
    epoch,
    nodes,
    startedAt,
    endedAt: lastEndOf(task, at),
    usage,
    gpuCount,
    gpuType: Object.keys(gpuTypes).sort().join('+') || null,
    whole: hasWholeNodes(state, task) ? { cpuCount, memoryBytes } : null,
    final: next === 'done',
    outcome,
  });
}

/** Not of a task behind a gateway: what it claims there is the site, of which it has some nodes. */
function hasWholeNodes({ nodes }: State, { job, parts }: Task): boolean {
  if (!job.spec.request.exclusive) return false;
  return [...parts.keys()].every((name) => {
    const node = nodes.get(name);
    return node === undefined || !isGateway(node);
  });
}

/** Claims on nodes where the epoch may still run stay, without the task, until it is gone. */
function leaveEpoch(state: State, task: Task, abandoned: readonly string[], at: number): void {
  if (!isNext(task)) {
    state.usage.release(task.job.owner, billedOf(task), { endedAt: lastEndOf(task, at), at });
  }
  const epochId = epochIdOf(task);
  for (const part of task.parts.values()) {
    const { node } = part.share;
    const holding = nodeOf(state, node).holding.get(epochId);
    // A hello from before the report was acknowledged brings an ended part back as a stale claim.
    const holds = holding?.task === task;
    assert(holds === abandoned.includes(node), `${epochId} left ${node} as said`);
    if (!holds) continue;
    // To be ended there it runs once more, and nobody is left to give its cpus back to.
    if (holding.yieldedCpus > 0) takeCpusBack(state, epochId, node);
    leave(state, node, holding);
  }
  task.parts = new Map();
  task.ending = null;
  task.stops.clear();
  state.indexes.preempted.delete(task);
}

/** The part of an epoch that holds the node; a bug where it does not. */
export function partOf(
  state: State,
  event: { readonly epochId: EpochId; readonly node: string },
): { task: Task; part: Part } {
  const node = nodeOf(state, event.node as Part['share']['node']);
  const task = present(node.holding.get(event.epochId)?.task, `the task of ${event.epochId}`);
  return { task, part: present(task.parts.get(node.name), `its part on ${node.name}`) };
}

/** Has the task's nodes told again what is wanted of it. */
export function touch(state: State, task: Task): void {
  const epochId = epochIdOf(task);
  for (const part of task.parts.values()) {
    if (part.state !== 'ended') state.scratch.touched.push({ node: part.share.node, epochId });
  }
}

/** The scheduler is to look anew at when its nodes are free. */
export function stirNodes(state: State, task: Task): void {
  for (const name of task.parts.keys()) state.indexes.pool.stir(name);
}

function newPart(share: Share, nodeRank: number): Part {
  const none = { isNext: false, turnHeard: 0, pausedMs: 0, pausedAt: null, end: null };
  return { share, nodeRank, state: 'ordered', ...none };
}

function newTask(job: Job, index: number): Task {
  return {
    id: formatTaskId(job.id, placeOf(job, index).index),
    job,
    index,
    state: 'pending',
    epoch: 0,
    unbegun: 0,
    life: null,
    waitsSince: null,
    failures: 0,
    crashes: 0,
    parts: new Map(),
    startedAt: null,
    buildMs: 0,
    ending: null,
    stops: new Map(),
    pausedMs: 0,
    suspendTurn: 0,
    heldBecause: null,
  };
}
