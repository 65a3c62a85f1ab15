// Why a task waits: first what forbids it to start at all, then what the scheduler says, and what
// it can expect.

import type { UserActor } from '../../model/actor.ts';
import type { JobId } from '../../model/ids.ts';
import type { JobSpec } from '../../model/job.ts';
import { TURN_LOOKS_MAX } from '../../model/limits.ts';
import type { Absence, Reason } from '../../model/reason.ts';
import type { Settings } from '../../model/settings.ts';
import { type Awaited, awaitedBy, couldHold, explain } from '../../scheduler/answers/explain.ts';
import type { NodeOutline, Surroundings } from '../../scheduler/answers/outline.ts';
import { type Prospect, prospectOf } from '../../scheduler/answers/prospect.ts';
import type { Snapshot } from '../../scheduler/cycle/snapshot.ts';
import type { QueueEntry } from '../../scheduler/line/queue.ts';
import type { Brokerage } from '../../scheduler/room/brokerage.ts';
import { entryOf } from '../jobs/apply.ts';
import { isBlocked } from '../jobs/behind.ts';
import type { Job } from '../jobs/facts.ts';
import { followedAt } from '../jobs/following.ts';
import { type FitSpec, unfitWords } from '../jobs/in-reservation.ts';
import { indicesOf } from '../jobs/indices.ts';
import { withAnyAccount } from '../jobs/request-of.ts';
import type { Accepted } from '../jobs/submit.ts';
import { firstOf } from '../machine.ts';
import { givenWords, roomOf, totalOf, withheldWords } from '../nodes/cards.ts';
import { type ExternalNodes, externalNodes, isExternal } from '../nodes/external.ts';
import type { Node } from '../nodes/facts.ts';
import { cloneWords } from '../nodes/machine.ts';
import { labelsOf, sizesOf } from '../nodes/view.ts';
import { schedulingOf } from '../partitions/settings.ts';
import { brokerageOf, openSnapshotOf, snapshotOf } from '../schedule.ts';
import type { State } from '../state.ts';
import { namedWindow } from '../windows.ts';

/** A task that waits, or would if it were submitted. */
export interface Pending extends Pick<Job, 'held' | 'waitsFor' | 'beginReached'> {
  /** Null: not submitted. */
  readonly id: JobId | null;
  readonly spec: Pick<JobSpec, 'dependencies' | 'pool' | 'foreign'> & FitSpec;
  readonly entry: QueueEntry;
  readonly index: number;
  readonly heldBecause: string | null;
  /** Other arrays whose task with its index it waits for. */
  readonly behind: readonly JobId[];
}

export function pendingOf(job: Job, index: number): Pending {
  const { id, held, waitsFor, beginReached, spec, entry } = job;
  const heldBecause = job.active.get(index)?.heldBecause ?? null;
  const behind = [...job.behind].filter(([, set]) => set.has(index)).map(([on]) => on);
  return { id, held, waitsFor, beginReached, spec, entry, index, heldBecause, behind };
}

/** What has passed all checks of a submission, as it would wait. */
export function pendingAs(
  state: State,
  { spec, waitsFor, behind }: Accepted,
  { name: owner, uid }: Pick<UserActor, 'name' | 'uid'>,
  at: number,
): Pending {
  const pending = indicesOf(spec.array);
  const id = state.nextJobId as JobId;
  return {
    id: null,
    spec,
    heldBecause: null,
    held: spec.held,
    waitsFor: new Set(waitsFor),
    beginReached: spec.beginAt === null || spec.beginAt <= at,
    entry: entryOf(state, { id, owner, uid, submittedAt: at, spec, pending }),
    index: pending.first ?? 0,
    behind: behind.map(({ on }) => on),
  };
}

export function explainPending(
  state: State,
  settings: Settings,
  pending: Pending,
  at: number,
): Reason {
  if (state.behind !== null) return { kind: 'head_behind' };
  const forbidden = forbiddenIn({ state, settings }, pending);
  if (forbidden?.kind === 'dependency') return withHeld(state, withTimes(state, forbidden));
  if (forbidden !== null) return forbidden;
  const scheduling = schedulingOf(state, settings);
  const isOthers = isExternal(scheduling, pending.entry.shape.partition);
  const snapshot = (isOthers ? openSnapshotOf : snapshotOf)(state, settings, 0, at);
  const external = isOthers ? new Map() : externalNodes(state, scheduling);
  const reason = explain(pending.entry, surroundings(state, external), snapshot, at);
  if (reason.kind === 'no_node_can') {
    const { awaited } = state.machine.hooks;
    const gone = reason.request.nodeNames.filter((name) => !state.nodes.has(name));
    const told = gone.length === 0 ? reason : { ...reason, gone };
    return firstOf(awaited.map((hook) => hook(state, pending.entry))) ?? told;
  }
  if (pending.spec.pool === undefined || reason.kind !== 'quota') return reason;
  const { limit } = reason;
  return limit.of === 'array' ? { kind: 'quota', limit: { ...limit, of: 'pool' } } : reason;
}

type Waiting = Extract<Reason, { kind: 'dependency' }>;

/** Says when the time behind a start is over, of jobs that have started. */
function withTimes({ jobs }: State, reason: Waiting): Waiting {
  if (!('on' in reason)) return reason;
  const on = reason.on.map((dependency) => {
    const job = dependency.condition === 'start' ? jobs.get(dependency.jobId) : undefined;
    const at = job === undefined ? null : followedAt(job, dependency);
    if (job === undefined || at === null) return dependency;
    const since = job.startedAt === null ? 'end' : 'start';
    return { ...dependency, over: { at, since } as const };
  });
  return { ...reason, on };
}

/** Names those of the awaited jobs that start nothing until somebody releases them. */
function withHeld({ jobs }: State, reason: Waiting): Waiting {
  const ids = 'on' in reason ? reason.on.map(({ jobId }) => jobId) : reason.arrays;
  const held = [...new Set(ids)].filter((id) => {
    const job = jobs.get(id);
    return job !== undefined && holdsBack(job, 'on' in reason ? null : reason.index);
  });
  return held.length === 0 ? reason : { ...reason, held };
}

/**
 * Whether it is held, in a time that does not grow with its tasks: lists ask this for each job that
 * waits for an array.
 * @param index of the task that is waited for; null: for all of them
 */
function holdsBack(job: Job, index: number | null): boolean {
  const one = index ?? (job.spec.array === null ? 0 : null);
  if (one !== null && (job.active.get(one)?.heldBecause ?? null) !== null) return true;
  if (!job.held) return false;
  if (index === null) return job.pending.size > 0 || job.behind.size > 0;
  return job.pending.has(index) || isBlocked(job, index);
}

/** Why a task waits and what it can expect. */
export interface LookAhead {
  readonly at: number;
  readonly reason: Reason;
  /** Null while something other than the scheduler keeps it from starting. */
  readonly prospect: Prospect | null;
  /** Where it starts on no node in use. */
  readonly awaited: Awaited | null;
  /** Nodes that would do, and run nothing as root, as its user is. Absent: none. */
  readonly rootless?: readonly string[];
}

/** @param standings queues of sites that decide themselves; null: nothing is known of any */
export function lookAhead(
  state: State,
  settings: Settings,
  pending: Pending,
  at: number,
  standings: Brokerage['standings'] | null = null,
): LookAhead {
  const reason = explainPending(state, settings, pending, at);
  // When the calls of a pool will ask for more workers, no plan says.
  const isPools = reason.kind === 'quota' && reason.limit.of === 'pool';
  if (
    isPools ||
    reason.kind === 'head_behind' ||
    forbiddenIn({ state, settings }, pending) !== null
  ) {
    return { at, reason, prospect: null, awaited: null };
  }
  const snapshot = (): Snapshot => ({
    ...withSites(state, snapshotOf(state, settings, 0, at), standings),
    looksMax: TURN_LOOKS_MAX,
  });
  const prospect = prospectOf(snapshot, pending, at);
  const passed = rootlessNodes(state, pending);
  const rootless = passed.length === 0 ? {} : { rootless: passed };
  const isHopeless = prospect !== null && prospect.forecast === null && !prospect.startsNow;
  if (!isHopeless) return { at, reason, prospect, awaited: null, ...rootless };
  const external = externalNodes(state, schedulingOf(state, settings));
  const awaited = awaitedBy(pending.entry, surroundings(state, external), snapshot(), at);
  return { at, reason, prospect, awaited, ...rootless };
}

/** Nodes that keep from it only as they run nothing as root. */
function rootlessNodes(state: State, { entry }: Pending): string[] {
  const { request } = entry.shape;
  const anyone = withAnyAccount(request);
  if (anyone.labels.length === request.labels.length) return [];
  const outlines = [...state.nodes.values()].map((node) => outline(state, node));
  const passed = outlines.filter((one) => couldHold(one, anyone) && !couldHold(one, request));
  return passed.map(({ name }) => name);
}

/** With what is known of sites, where anything is. */
export function withSites(
  state: State,
  snapshot: Snapshot,
  standings: Brokerage['standings'] | null,
): Snapshot {
  if (standings === null) return snapshot;
  return { ...snapshot, brokerage: brokerageOf(state, snapshot.scheduling, standings) };
}

/** A reason that no room would mend; also that its reservation was changed and cannot hold it. */
function forbiddenIn(
  head: { readonly state: State; readonly settings: Settings },
  pending: Pending,
): Reason | null {
  const forbidden = forbiddenBy(pending);
  if (forbidden !== null && forbidden.kind !== 'begin_time') return forbidden;
  const own = head.state.reservations.get(pending.entry.shape.reservation ?? '');
  const what = own === undefined ? null : unfitWords(head, own, pending.spec);
  if (own === undefined || what === null) return forbidden;
  return { kind: 'reservation', name: own.name, problem: 'unfit', what };
}

/** What keeps a task from starting whatever room there is. */
function forbiddenBy(pending: Pending): Reason | null {
  const { id: jobId, spec, held, heldBecause, waitsFor, beginReached, behind, index } = pending;
  if (heldBecause !== null) return { kind: 'held', jobId, because: heldBecause };
  if (held) return { kind: 'held', jobId, because: null };
  if (spec.foreign?.isHeld === true) {
    const { site, job, heldBecause: because = null } = spec.foreign;
    return { kind: 'held', there: { site, job, because } };
  }
  if (waitsFor.size > 0) {
    const on = spec.dependencies.filter(({ jobId: other, condition }) => {
      return waitsFor.has(other) && condition !== 'each';
    });
    const named = new Set(on.map(({ jobId: other }) => other));
    const others = [...waitsFor].filter((other) => !named.has(other));
    const namesakes = others.map((other) => ({ jobId: other, condition: 'any' }) as const);
    return { kind: 'dependency', on: [...on, ...namesakes] };
  }
  if (behind.length > 0) return { kind: 'dependency', arrays: behind, index };
  if (beginReached || spec.beginAt === null) return null;
  return { kind: 'begin_time', at: spec.beginAt };
}

/** `external`: nodes that it may not have, as they are another scheduler's. */
function surroundings(state: State, external: ExternalNodes): Surroundings {
  return {
    nodes: [...state.nodes.values()].map((node) => outline(state, node, external.get(node.name))),
    reservationOf: (id) => namedWindow(state, id),
  };
}

function outline(state: State, node: Node, external?: string): NodeOutline {
  const { name, holding } = node;
  const idle = holding.size === 0;
  const absence: Absence | null =
    external === undefined ? unavailable(state, node) : { why: 'external', partition: external };
  return {
    name,
    total: totalOf(node),
    free: roomOf(node),
    idle,
    ...asidesOf(node),
    labels: labelsOf(node),
    ...sizesOf(node),
    unavailable: absence,
  };
}

/** Cards of the node that nobody may be given, and those that tasks have. */
function asidesOf(node: Node): Pick<NodeOutline, 'gpusAside' | 'gpusGiven'> {
  if (node.total.gpuCount === 0) return {};
  const gpusAside = withheldWords(node);
  const gpusGiven = givenWords(node);
  return {
    ...(gpusAside.length === 0 ? {} : { gpusAside }),
    ...(gpusGiven.length === 0 ? {} : { gpusGiven }),
  };
}

function unavailable({ scratch }: State, node: Node): Absence | null {
  const { drain, unreachableSince, connected, fault, pausing } = node;
  const cloned = cloneWords(node);
  if (cloned !== null) return { why: 'faulty', fault: cloned };
  if (drain !== null) return { why: 'drained', reason: drain.reason };
  if (unreachableSince !== null) return { why: 'away', isUnreachable: true };
  if (!connected) return { why: 'away', isUnreachable: false };
  if (fault !== null) return { why: 'faulty', fault };
  if (pausing.now !== null) return { why: 'paused', pause: pausing.now };
  const unlooked = scratch.unlooked.get(node.name);
  return unlooked === undefined ? null : { why: 'unlooked', site: unlooked.site };
}
