// When a waiting task would start if nothing new came and everything took as long as it may: all
// that go before it, stopped tasks too, are planned one by one, as `conservative` does it, and then
// it. Behind what has no time limit that is at `UNKNOWN_END` or later.

import { NO_CAPS } from '../../model/caps.ts';
import type { JobId, NodeName } from '../../model/ids.ts';
import {
  FORECAST_DELAYED_MAX,
  FORECAST_LOOKS_MAX,
  FORECAST_SLOT_LOOKS_MAX,
  FORECAST_TASKS_MAX,
  LOOKS_PER_TASK,
} from '../../model/limits.ts';
import { type Partition, qosOf, siteRuleOf } from '../../model/scheduling.ts';
import { GpusFirst, type Rivals } from '../cycle/gpus-first.ts';
import { Resumer } from '../cycle/resume.ts';
import { type ActiveTask, lineRules, type Snapshot } from '../cycle/snapshot.ts';
import { type Candidate, isBefore, Line } from '../line/line.ts';
import type { Group } from '../line/queue.ts';
import { type Ask, askFor, endAt } from '../room/ask.ts';
import { Board } from '../room/board.ts';
import { UNKNOWN_END } from '../room/profile.ts';
import type { Slot } from '../room/slots.ts';
import { RunningLimits } from './running-limit.ts';
import { type SiteWait, siteWaitOf } from './site-wait.ts';

export interface Forecast {
  /** Ms since 1970; from `UNKNOWN_END` on: after tasks without time limit. Null: too many looks. */
  readonly at: number | null;
  readonly nodes: readonly NodeName[];
  /**
   * More tasks than this many go before it, too many to plan: it is at the earliest then. Null: all
   * of them are planned.
   */
  readonly unplannedAfter: number | null;
  /** A site among the nodes decides itself: it gets the task at `at`. Absent: none does. */
  readonly wait?: SiteWait;
}

/** Null: never, as things are. The target need not be in the queue. Three limits bound the cost. */
export function forecast(
  snapshot: Snapshot,
  target: Candidate,
  now: number,
  looksMax = FORECAST_SLOT_LOOKS_MAX,
): Forecast | null {
  const tools = toolsOf(snapshot, now, looksMax);
  const { board, resumer } = tools;
  const { unplannedAfter, siblings } = planBefore(snapshot, target, tools);
  resumer.resumeFrom(target.tier);
  const ask = askFor(target.entry, target.partition);
  const ahead = target.entry.pending.countBelow(target.index) - siblings;
  const from = letIn(target, ahead, tools);
  if (from === null) return null;
  if (from === 'unknown') return { at: null, nodes: [], unplannedAfter: FORECAST_TASKS_MAX };
  const first = slotOf(board, ask, from);
  const slot = first && afterGpus(snapshot, target, { ...tools, from, first });
  if (slot === null) return board.isSpent ? { at: null, nodes: [], unplannedAfter } : null;
  const { at } = slot;
  return { at, nodes: namesOf(slot), unplannedAfter, ...waitIn(snapshot, { slot, ask, now }) };
}

/** On nodes with gpus, later tasks that need them go first as far as they can start by then. */
function afterGpus(
  snapshot: Snapshot,
  target: Candidate,
  tools: Tools & { from: number; first: Slot },
): Slot | null {
  const { board, from, first } = tools;
  const gpus = new GpusFirst(snapshot.queue, lineRules(snapshot), board.now);
  const ask = askFor(target.entry, target.partition);
  let slot: Slot | null = first;
  for (let since = board.now; slot !== null && board.work < FORECAST_LOOKS_MAX; ) {
    const views = slot.lanes.map(({ view }) => view);
    if (!gpus.isFor(target, views, slot.at)) break;
    const turn = slot.at;
    if (planRivals(gpus.rivalsOf(target), tools, { since, turn }) === 0) break;
    slot = slotOf(board, ask, from);
    if (slot === null || slot.at <= turn) continue;
    since = turn;
    gpus.again();
  }
  return slot;
}

/**
 * Those that start from `since` on and are over by the target's turn, or start then: until its turn
 * what is set aside for the target keeps it from longer ones. How many.
 */
function planRivals(
  rivals: Rivals,
  { board, floors, runningLimits }: Tools,
  { since, turn }: { since: number; turn: number },
): number {
  let planned = 0;
  for (let rival = rivals.first; rival !== undefined; rival = rivals.first) {
    if (planned >= FORECAST_TASKS_MAX || board.work >= FORECAST_LOOKS_MAX) break;
    board.addWork(LOOKS_PER_TASK);
    const ask = askFor(rival.entry, rival.partition);
    const earliest = runningLimits.earliest(rival, floors.of(rival.partition));
    const early = earliest === null ? null : slotOf(board, ask, Math.max(earliest, since));
    const isOver = early !== null && endAt(early.at, ask.walltimeMs) <= turn;
    const place = isOver ? early : early && slotOf(board, ask, Math.max(early.at, turn));
    if (place === null || place.at > turn) {
      rivals.drop();
      continue;
    }
    board.promise(ask, place);
    runningLimits.enter(rival, place.at);
    rivals.started();
    planned += 1;
  }
  return planned;
}

/** Where sites are compared, what fits now goes to the best of them, as in a cycle. */
function slotOf(board: Board, ask: Ask, from: number): Slot | null {
  const slot = board.slot(ask, from);
  if (slot === null || slot.at > board.now || siteRuleOf(ask.placement) === null) return slot;
  const { views } = board.place(ask);
  if (views.length < ask.request.nodeCount) return slot;
  return { at: slot.at, lanes: views.map(({ name }) => board.lane(name)) };
}

function namesOf({ lanes }: Slot): readonly NodeName[] {
  return lanes.map((lane) => lane.view.name);
}

function waitIn(
  { brokerage }: Snapshot,
  { slot, ask, now }: { readonly slot: Slot; readonly ask: Ask; readonly now: number },
): Pick<Forecast, 'wait'> {
  const wait = siteWaitOf(slot, ask, { brokerage, now });
  return wait === undefined ? {} : { wait };
}

/** A task that waits, with its place in today's plan. */
export interface PlannedStart {
  readonly jobId: JobId;
  readonly index: number;
  readonly nodes: readonly NodeName[];
  readonly at: number;
  /** Null when it has no time limit. */
  readonly walltimeMs: number | null;
  /** `Forecast.wait`. */
  readonly wait?: SiteWait;
}

/** The starts of all that wait, in the line's order, as far as a forecast's limits reach. */
export function plannedStarts(
  snapshot: Snapshot,
  now: number,
  looksMax = FORECAST_SLOT_LOOKS_MAX,
): { readonly starts: readonly PlannedStart[]; readonly isWhole: boolean } {
  const tools = toolsOf(snapshot, now, looksMax);
  const starts: PlannedStart[] = [];
  const { unplannedAfter } = planBefore(snapshot, null, tools, ({ entry, index }, ask, slot) => {
    const { at } = slot;
    if (at >= UNKNOWN_END) return;
    const place = { jobId: entry.jobId, index, nodes: namesOf(slot), at };
    const { walltimeMs } = ask;
    starts.push({ ...place, walltimeMs, ...waitIn(snapshot, { slot, ask, now }) });
  });
  return { starts, isWhole: unplannedAfter === null };
}

function toolsOf(snapshot: Snapshot, now: number, looksMax: number): Tools {
  const board = new Board({ ...snapshot, now, forecastLooksMax: looksMax });
  const runningLimits = new RunningLimits(snapshot.active ?? NOBODY, {
    capsOf: (user) => snapshot.quotas?.capsOf(user) ?? NO_CAPS,
    groupsOf: (user) => snapshot.quotas?.groupsOf(user) ?? [],
    qos: (name) => qosOf(snapshot.scheduling, name),
  });
  return { board, floors: new Floors(now), resumer: new Resumer(board, snapshot), runningLimits };
}

const NOBODY = (): Iterable<ActiveTask> => [];

/**
 * When its limits let the target in. `ahead`: tasks of its own array that go before it and wait for
 * the array's limit, so that none of them is planned yet: each takes the place of one that ends.
 */
function letIn(
  target: Candidate,
  ahead: number,
  { floors, runningLimits }: Tools,
): number | 'unknown' | null {
  const floor = floors.of(target.partition);
  const waiting = target.entry.runningMax === null ? 0 : ahead;
  if (waiting > FORECAST_TASKS_MAX) return 'unknown';
  for (let left = waiting; left > 0; left -= 1) {
    const at = runningLimits.earliest(target, floor);
    if (at === null) return null;
    runningLimits.enter(target, at);
  }
  return runningLimits.earliest(target, floor);
}

/** What the places are found with. */
interface Tools {
  readonly runningLimits: RunningLimits;
  readonly board: Board;
  readonly floors: Floors;
  readonly resumer: Resumer;
}

interface Before extends Pick<Forecast, 'unplannedAfter'> {
  /** Tasks of the target's own job that got a place. */
  readonly siblings: number;
}

/** Gives all that go before the target their place; without one, everybody. */
function planBefore(
  snapshot: Snapshot,
  target: Candidate | null,
  { board, floors, resumer, runningLimits }: Tools,
  onPlanned: (next: Candidate, ask: Ask, slot: Slot) => void = () => undefined,
): Before {
  const { queue, scheduling } = snapshot;
  queue.weigh(scheduling.weights);
  const line = new Line(queue.bands, lineRules(snapshot));
  let planned = 0;
  let seen = 0;
  let siblings = 0;
  const delayed = new Delayed();
  for (let next = line.first; next !== undefined; next = line.first) {
    if (target !== null && !isBefore(next, target)) break;
    if (planned >= FORECAST_TASKS_MAX || board.work >= FORECAST_LOOKS_MAX) {
      return { unplannedAfter: seen, siblings };
    }
    board.addWork(LOOKS_PER_TASK);
    seen += 1;
    resumer.resumeFrom(next.tier);
    const ask = askFor(next.entry, next.partition);
    const floor = floors.of(next.partition);
    const from = runningLimits.earliest(next, floor);
    const isFar = from !== floor && delayed.isFar(next, target);
    const slot = from === null || isFar ? null : slotOf(board, ask, from);
    if (slot === null) {
      if (board.isSpent) return { unplannedAfter: seen, siblings };
      line.drop();
      continue;
    }
    // As it finds its nodes: without itself.
    onPlanned(next, ask, slot);
    board.promise(ask, slot);
    floors.raise(next.partition, slot.at);
    runningLimits.enter(next, slot.at);
    planned += 1;
    if (next.entry.jobId === target?.entry.jobId) siblings += 1;
    line.advance();
  }
  return { unplannedAfter: null, siblings };
}

/** Tasks that start one after the other, as the limits of their owner let them. */
class Delayed {
  readonly #counts = new Map<Group, number>();

  /** Group members ahead of the target, too many to plan. */
  isFar({ group }: Candidate, target: Candidate | null): boolean {
    if (group.owner === target?.group.owner) return false;
    const count = (this.#counts.get(group) ?? 0) + 1;
    this.#counts.set(group, count);
    return count > FORECAST_DELAYED_MAX;
  }
}

/** The instant before which nothing more of a partition starts: where nobody passes, by `fifo`. */
class Floors {
  readonly #now: number;
  readonly #floors = new Map<string, number>();

  constructor(now: number) {
    this.#now = now;
  }

  of({ name }: Partition): number {
    return this.#floors.get(name) ?? this.#now;
  }

  raise({ name, policy }: Partition, at: number): void {
    if (policy === 'fifo') this.#floors.set(name, at);
  }
}
