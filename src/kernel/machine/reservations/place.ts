// Placing reservations: a request is checked, every slot is found, or it is said what is in the
// way.

import { present } from '../../base/assert.ts';
import { formatDuration } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { isWhole } from '../../base/whole.ts';
import { formatRefusal, type Refusal, refuse } from '../../model/errors.ts';
import type { NodeName } from '../../model/ids.ts';
import { NODES_PER_TASK_MAX, ON_THE_WAY_MS } from '../../model/limits.ts';
import type {
  ReservationRequest,
  ReservedSlot,
  ReservedTime,
  SkippedSlot,
} from '../../model/reservation.ts';
import { fitsIn, isPlausible, NO_RESOURCES } from '../../model/resources.ts';
import { placeAt, placeEarliest, type Room } from '../../scheduler/room/reserve.ts';
import { byNode, windowsOf } from '../../scheduler/room/windows.ts';
import { unknownLabel, unreadableLabel } from '../nodes/label-checks.ts';
import { mayGetWork } from '../nodes/view.ts';
import type { Step } from '../step.ts';
import { type Coming, viewWithStopped } from '../tasks/stopped.ts';
import type { Occurrences, WantedReservation } from './commands.ts';
import { refusalOf } from './obstacles.ts';

const DAY_MS = 86_400_000;
/** Shorter than a cluster notices. */
const DURATION_MS_MIN = 1000;
/** What is set aside longer is rather a partition. */
const DURATION_MS_MAX = 3660 * DAY_MS;

/** The request with its time as an instant; what makes no sense is refused. */
export function checkRequest(
  step: Step,
  wish: WantedReservation,
  recurrence: Occurrences | null,
): Result<ReservationRequest, Refusal> {
  const wrong = wrongIn(wish) ?? wrongRecurrence(wish, recurrence);
  if (wrong !== null) return step.refuse('argument.invalid', { what: wrong });
  const { nodes } = step.state;
  const unknown = wish.nodeNames.find((name) => !nodes.has(name));
  if (unknown !== undefined) return step.refuse('node.not_found', { node: unknown });
  const { labels } = wish;
  const label = unreadableLabel(labels) ?? unknownLabel(labels, [...nodes.values()]);
  if (label !== null) return err(label);
  const time =
    recurrence === null ? checkTime(step, wish) : ok(fixed(recurrence.starts[0] as number));
  return time.ok ? ok({ ...wish, time: time.value }) : time;
}

const fixed = (from: number): ReservedTime => ({ kind: 'fixed', from });

function checkTime(
  step: Step,
  { time, durationMs }: WantedReservation,
): Result<ReservedTime, Refusal> {
  const { at } = step;
  if (time.kind === 'now') return ok(fixed(at));
  if (time.kind === 'fixed') return time.from < at ? past('The start', time.from) : ok(time);
  const { notBefore, until } = time;
  if (until <= at) return past('The end of the window', until);
  const last = until - durationMs;
  if (last < notBefore) {
    const span = `${formatInstant(notBefore)} and ${formatInstant(until)}`;
    const what = `${formatDuration(durationMs)} does not fit between ${span}; widen the window, or shorten the duration`;
    return step.refuse('argument.invalid', { what });
  }
  if (last < at - ON_THE_WAY_MS) return past('The latest possible start in the window', last);
  return ok({ ...time, until: endAsSaid(time, at, durationMs) });
}

/** Later by what the request was on its way, when that has made the window too short. */
export function endAsSaid(
  { until }: { readonly until: number },
  earliest: number,
  durationMs: number,
): number {
  const late = earliest + durationMs - until;
  return late > 0 && late <= ON_THE_WAY_MS ? until + late : until;
}

function past(what: string, at: number): Result<never, Refusal> {
  return err(refuse('reservation.past', { what, at: formatInstant(at) }, 'Give a later time.'));
}

function wrongIn({ durationMs, nodeCount, nodeNames, perNode }: WantedReservation): string | null {
  if (!isWhole(durationMs, DURATION_MS_MIN, DURATION_MS_MAX)) {
    const lasts = Number.isSafeInteger(durationMs) ? formatDuration(durationMs) : durationMs;
    return `the duration of a reservation is from 1s to ten years, not ${lasts}`;
  }
  if (!isWhole(nodeCount, 1, NODES_PER_TASK_MAX)) {
    return `a reservation is for 1 to ${NODES_PER_TASK_MAX} nodes`;
  }
  if (new Set(nodeNames).size < nodeNames.length) return 'a node is named twice';
  if (nodeNames.length > 0 && nodeNames.length < nodeCount) {
    return `${nodeCount} nodes are asked for, but only ${nodeNames.length} are named`;
  }
  if (perNode === 'whole') return null;
  if (!isPlausible(perNode) || fitsIn(perNode, NO_RESOURCES)) {
    return 'a reservation needs something to reserve: whole nodes, or cpus, memory or gpus of each';
  }
  return null;
}

function wrongRecurrence(
  { durationMs }: WantedReservation,
  recurrence: Occurrences | null,
): string | null {
  if (recurrence === null) return null;
  const { starts, cron } = recurrence;
  if (starts.length === 0) return `'${cron}' never occurs: no day and time matches all its fields`;
  const close = starts.some((start, at) => start - (starts[at - 1] ?? -Infinity) < durationMs);
  if (!close) return null;
  return `'${cron}' would start again before ${formatDuration(durationMs)} have passed; shorten the duration, or choose a rarer time`;
}

/** What was found for a request. */
export interface Placed {
  readonly slots: readonly ReservedSlot[];
  readonly skipped: readonly SkippedSlot[];
}

/**
 * All slots of the request; `id`: the reservation that is placed anew, so not in its own way. The
 * first one of a recurring request must have room, the others may be skipped.
 */
export function placeAll(
  step: Step,
  request: ReservationRequest,
  recurrence: Occurrences | null,
  id: string | null,
  purpose: Room['purpose'] = 'users',
): Result<Placed, Refusal> {
  const { time, durationMs } = request;
  const times = (recurrence?.starts ?? []).map((from) => ({ from, to: from + durationMs }));
  const room = roomFor(step, request, { id, times, purpose });
  if (time.kind === 'flexible') {
    const slot = placeEarliest(request, time, durationMs, room);
    if (!slot.ok) return err(refusalOf(step, slot.error, request));
    return ok({ slots: [slot.value], skipped: [] });
  }
  const slots: ReservedSlot[] = [];
  const skipped: SkippedSlot[] = [];
  for (const from of recurrence?.starts ?? [time.from]) {
    // The first may have begun since it was read off the clock.
    const slot = placeAt(request, Math.max(from, step.at), durationMs, room);
    if (slot.ok) slots.push(slot.value);
    else if (slots.length === 0) return err(refusalOf(step, slot.error, request));
    else skipped.push({ from, because: wordsFor(step, slot.error, request) });
  }
  return ok({ slots, skipped });
}

/** The slot that holds now, with another end, on the nodes that it has. */
export function placeLonger(
  step: Step,
  id: string,
  current: ReservedSlot,
  { durationMs, force }: Pick<ReservationRequest, 'durationMs' | 'force'>,
): Result<ReservedSlot, Refusal> {
  const until = current.from + durationMs;
  if (until <= step.at) {
    return past('The new end', until);
  }
  if (until <= current.until) return ok({ ...current, until });
  const nodeNames = Object.keys(current.shares) as NodeName[];
  const perNode = present(current.shares[nodeNames[0] as NodeName], 'the share of a node');
  const part = { nodeNames, nodeCount: nodeNames.length, perNode, labels: [], force };
  const room = roomFor(step, part, { id, times: [], purpose: 'users' });
  const more = placeAt(part, current.until, until - current.until, room);
  if (!more.ok) return err(refusalOf(step, more.error, part));
  return ok({ ...current, until });
}

/** What is being placed: a reservation that is there already, or null. */
interface Placing extends Pick<Room, 'purpose'> {
  readonly id: string | null;
  readonly times: Coming['times'];
}

/** Named nodes whatever their state; others only if they may be counted on, present ones first. */
export function roomFor(
  { state, at }: Pick<Step, 'state' | 'at'>,
  { nodeNames }: Pick<ReservationRequest, 'nodeNames'>,
  { id, times, purpose }: Placing,
): Room {
  const named = new Set(nodeNames);
  const others = [...state.reservations.values()].filter((one) => one.id !== id);
  const windows = windowsOf(others);
  const recurring = times.length === 0 ? [] : windows.filter(({ recurs }) => recurs);
  const coming: Coming = { times, windowsOn: byNode(recurring), judged: new Map() };
  const nodes = [...state.nodes.values()]
    .filter((node) => (named.size > 0 ? named.has(node.name) : node.drain === null))
    .sort((a, b) => Number(mayGetWork(b)) - Number(mayGetWork(a)) || a.order - b.order)
    .map((node) => viewWithStopped(node, coming, at));
  return { nodes, windows, now: at, purpose, lanes: new Map() };
}

/** Without what could be done: that is for those who choose, and for an occurrence nobody does. */
export function wordsFor(...about: Parameters<typeof refusalOf>): string {
  const { code, details } = refusalOf(...about);
  return formatRefusal({ code, details });
}
