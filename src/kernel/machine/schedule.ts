// One scheduling cycle: what the plan starts becomes allocations, and what must make room is told
// to.

import { present } from '../base/assert.ts';
import type { UserName } from '../model/ids.ts';
import { LOOKS_PER_CYCLE_MAX, PARTS_AHEAD_MAX, STARTS_PER_CYCLE_MAX } from '../model/limits.ts';
import type { Share } from '../model/orders.ts';
import { type Scheduling, siteRuleOf } from '../model/scheduling.ts';
import type { Settings } from '../model/settings.ts';
import { plan } from '../scheduler/cycle/plan.ts';
import type { Preemption } from '../scheduler/cycle/preempt.ts';
import { type ActiveTask, NO_RULES, type Snapshot } from '../scheduler/cycle/snapshot.ts';
import { fairStandings } from '../scheduler/line/fair-share.ts';
import { QuotaBook, sizeOf } from '../scheduler/line/quota.ts';
import type { Taker } from '../scheduler/room/board.ts';
import { type Brokerage, NO_BROKERAGE } from '../scheduler/room/brokerage.ts';
import type { ClusterUse } from '../scheduler/room/cluster-room.ts';
import { backlogJobs, decideBacklog, fillPlaces } from './backlog.ts';
import { capsOf, groupCapsFor } from './caps.ts';
import { jobOf } from './jobs/apply.ts';
import type { Job, Task } from './jobs/facts.ts';
import { placeOf } from './jobs/place.ts';
import { decideLateMaintenances } from './maintenance/course.ts';
import { externalNodes, externalWindows, setAside } from './nodes/external.ts';
import { siteOf } from './nodes/members.ts';
import { schedulingOf } from './partitions/settings.ts';
import type { Chain } from './scratch.ts';
import type { State } from './state.ts';
import type { Step } from './step.ts';
import { taskOf } from './tasks/apply.ts';
import { askCancel } from './tasks/cancel.ts';
import { nextEpoch } from './tasks/epoch.ts';
import { isNext } from './tasks/shown-state.ts';
import { closedNodes, stoppedTasks } from './tasks/stopped.ts';
import { latestEndOf, timeLeft } from './tasks/time-limit.ts';
import { allWindows } from './windows.ts';

export interface CycleOptions {
  /** Load average per cpu by node, for partitions that place by it. */
  readonly loads?: Snapshot['loads'];
  /** Queues of sites, for partitions that compare them. */
  readonly standings?: Brokerage['standings'];
  readonly looksMax?: number;
}

export function decideSchedule(
  step: Step,
  { loads = NO_RULES.loads, standings, looksMax = LOOKS_PER_CYCLE_MAX }: CycleOptions,
): void {
  const { state } = step;
  decideLateMaintenances(step);
  const chain = nextOfChain(state);
  const snapshot = snapshotOf(state, step.settings, STARTS_PER_CYCLE_MAX, step.at);
  const ended = fillPlaces(step, snapshot);
  // Added to by this cycle only: whoever merely asks what would be planned must leave no trace.
  const { hopeless, rest: from } = chain;
  const brokerage = brokerageOf(state, snapshot.scheduling, standings);
  const known = { ...snapshot, loads, brokerage };
  const askers = backlogJobs(state, ended);
  const planned = plan({ ...known, looksMax, hopeless, from, askers }, step.at);
  const isDoubtful = chain.isStirred || looksBack(state, chain);
  for (const taker of planned.resumes) resume(step, taker);
  for (const { jobId, index, shares, choice } of planned.starts) {
    const job = present(state.jobs.get(jobId), `job ${jobId}`);
    allocate(step, job, index, shares);
    state.scratch.brokerage.note(job, index, { shares, choice });
  }
  for (const preemption of planned.preemptions) preempt(step, preemption);
  decideBacklog(step, { snapshot, plan: planned, ended });
  // Allocations only make nodes fuller: nothing more can start until something else changes.
  const { rest } = planned;
  state.scratch.scheduleDue = rest === null && isDoubtful;
  state.scratch.chain = rest === null ? null : { ...chain, rest };
  const { pool, queue } = state.indexes;
  if (rest === null) pool.unwatch();
  if (rest === null) queue.unwatch();
  else queue.watch();
  state.scratch.plansAhead = planned.plansAhead;
}

/** The task has these from now on, as its next epoch. */
export function allocate(step: Step, job: Job, index: number, shares: readonly Share[]): void {
  const epoch = nextEpoch(step.state, { job, index }, shares);
  step.emit({ kind: 'task_allocated', place: placeOf(job, index), epoch, shares });
}

/** Time alone may let a task start. */
export function noteDueCycle(step: Step): void {
  if (step.state.scratch.plansAhead || isOrderMoving(step)) step.state.scratch.scheduleDue = true;
}

/** Fair share moves with what is being used: somebody else may be first by now. */
function isOrderMoving({ state, settings }: Step): boolean {
  return settings.scheduling.weights.fairShare !== 0 && state.indexes.queue.size > 0;
}

/** What sites are compared by, as their listings and our own books have it. */
export function brokerageOf(
  { scratch }: State,
  { prices = {} }: Scheduling,
  standings: Brokerage['standings'] = NO_BROKERAGE.standings,
): Brokerage {
  return { standings, prices, data: scratch.brokerage.data };
}

/** What partitions place by: only then are loads, or queues of sites, worth collecting. */
export function asksFor(state: State, settings: Settings): { loads: boolean; standings: boolean } {
  const rules = Object.values(schedulingOf(state, settings).partitions).map((one) => one.placement);
  return {
    loads: rules.includes('least_loaded'),
    standings: rules.some((rule) => siteRuleOf(rule) !== null),
  };
}

/** Whether the next cycle is to follow at once. */
export function isCycleDue({ scratch: { scheduleDue, chain }, behind }: State): boolean {
  if (behind !== null) return false;
  return scheduleDue || chain !== null;
}

/**
 * Cycles that are cut short follow each other and remember where they stopped and what is hopeless,
 * so that each gets further. What happens meanwhile is for another round.
 */
function nextOfChain(state: State): Chain {
  const { chain } = state.scratch;
  if (chain !== null) {
    if (state.scratch.scheduleDue) chain.isStirred = true;
    return chain;
  }
  state.indexes.pool.watch();
  return { hopeless: new Map(), rest: null, isStirred: false };
}

/** Whether something remembered is older than the nodes are. */
function looksBack({ indexes: { pool } }: State, { hopeless }: Chain): boolean {
  for (const { seen } of hopeless.values()) if (seen < pool.changes) return true;
  return false;
}

/** The state as the scheduler sees it at this instant. Looking at it changes nothing. */
export function snapshotOf(
  state: State,
  settings: Settings,
  startsMax: number,
  at: number,
): Snapshot {
  const snapshot = openSnapshotOf(state, settings, startsMax, at);
  const external = externalWindows(externalNodes(state, snapshot.scheduling));
  return external.length === 0
    ? snapshot
    : { ...snapshot, windows: [...snapshot.windows, ...external] };
}

/** The same as an external scheduler has it: with room on the nodes that are its own. */
export function openSnapshotOf(
  state: State,
  settings: Settings,
  startsMax: number,
  at: number,
): Snapshot {
  const { queue, pool, held } = state.indexes;
  const scheduling = schedulingOf(state, settings);
  const fairness = fairnessOf(state, scheduling, at);
  const windows = [...allWindows(state), ...setAside(state.scratch.unlooked.keys())];
  const stopped = stoppedTasks(state, at);
  return {
    ...NO_RULES,
    queue,
    pool,
    scheduling,
    fairness,
    windows,
    startsMax,
    partsAheadMax: PARTS_AHEAD_MAX,
    quotas: new QuotaBook(held, {
      capsOf: (user) => capsOf(state, scheduling, user),
      groupsOf: (user) => groupCapsFor(state, scheduling, user),
    }),
    stopped,
    closed: closedNodes(state, stopped),
    active: () => activeTasks(state, at),
    stock: { total: scheduling.resources ?? {}, used: () => clusterUses(state, settings, at) },
    prepared: new Map(state.machine.hooks.prepared.flatMap((hook) => [...hook(state)])),
  };
}

/** Tasks that hold something of what the cluster has as a whole; those that are stopped too. */
export function* clusterUses(
  { indexes, nodes }: State,
  settings: Settings,
  now: number,
): Generator<ClusterUse> {
  for (const { id: jobId, spec, active } of indexes.usesCluster) {
    for (const task of active.values()) {
      if (task.parts.size === 0) continue;
      const endsAt = latestEndOf(task, nodes, settings, now);
      yield { jobId, amounts: spec.request.ofCluster ?? {}, endsAt };
    }
  }
}

/** Each task once, however many nodes it is on. */
function* activeTasks({ nodes }: State, now: number): Generator<ActiveTask> {
  const seen = new Set<Task>();
  for (const { holding } of nodes.values()) {
    for (const { task } of holding.values()) {
      if (task === null || seen.has(task) || isNext(task)) continue;
      seen.add(task);
      const { spec, entry, id, owner } = task.job;
      const left = timeLeft(task, now);
      yield {
        jobId: id,
        owner,
        partition: spec.partition,
        qos: entry.qos,
        ...sizeOf(spec.request),
        endsAt: left === null ? null : now + left,
      };
    }
  }
}

/** Factors of fair share by user; empty, that is 1 for everybody, where they weigh nothing. */
function fairnessOf({ usage }: State, { weights, fairShare }: Scheduling, at: number) {
  const factors = new Map<UserName, number>();
  if (weights.fairShare === 0) return factors;
  for (const [user, { factor }] of fairStandings(fairShare, usage.usageAt(at))) {
    factors.set(user, factor);
  }
  return factors;
}

// Making room for what is more urgent: tasks told to leave or to stop, and stopped ones that go on.

/** In the journal, instead of a user's name. */
const BY = 'scheduler';

function preempt(step: Step, { jobId, index, mode, for: taker }: Preemption): void {
  const place = placeOf(jobOf(step.state, jobId), index);
  const task = taskOf(step.state, place);
  const because = `preempted by ${taker.jobId} of ${jobOf(step.state, taker.jobId).owner}`;
  if (mode === 'suspend') {
    // Another part of it is at a site: it would run on there.
    if (siteOf(step.state, task) !== null) return;
    step.emit({ kind: 'suspend_asked', place, by: BY, because, stopper: 'scheduler' });
  } else if (mode === 'cancel') askCancel(step, task, { by: BY, because });
  else step.emit({ kind: 'end_asked', place, why: mode, by: BY, because });
}

function resume(step: Step, { jobId, index }: Taker): void {
  const place = placeOf(jobOf(step.state, jobId), index);
  step.emit({ kind: 'resume_asked', place, by: BY, stopper: 'scheduler' });
}
