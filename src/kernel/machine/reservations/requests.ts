// Making, changing and cancelling reservations. What time brings to them is in slots.ts.

import { ok, type Result } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import { RESERVATION_SKIPPED_MAX, RESERVATIONS_MAX } from '../../model/limits.ts';
import {
  currentSlot,
  isOpen,
  type Reservation,
  type ReservedSlot,
} from '../../model/reservation.ts';
import { nameOf, needRole } from '../authority.ts';
import { checkJobs, findReservation } from '../jobs/in-reservation.ts';
import type { Answer, Step } from '../step.ts';
import type {
  CancelReservation,
  ChangeReservation,
  CreateReservation,
  ExtendReservation,
  Occurrences,
  ReservationMembers,
  WantedReservation,
} from './commands.ts';
import { placeFurther } from './occurrences.ts';
import { checkRequest, placeAll, placeLonger } from './place.ts';
import { decideSlots, endReservation } from './slots.ts';

/** Names stand on command lines, and are never mistaken for ids. */
const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;
const ID = /^[rm]\d+$/;

export function decideCreate(step: Step, command: CreateReservation, actor: Actor): Answer {
  const { state } = step;
  const allowed = mayCreate(step, command, actor);
  if (!allowed.ok) return allowed;
  const id = `r${state.nextReservationId}`;
  const named = checkName(step, command.name, id);
  if (!named.ok) return named;
  if (state.reservations.size >= RESERVATIONS_MAX) {
    return step.refuse('reservation.too_many', { limit: String(RESERVATIONS_MAX) });
  }
  const request = checkRequest(step, command.request, command.recurrence);
  if (!request.ok) return request;
  const placed = placeAll(step, request.value, command.recurrence, null);
  if (!placed.ok) return placed;
  return create(step, command, actor, {
    id,
    name: named.value,
    purpose: 'users',
    ...membersOf(command.members, actor),
    ...placed.value,
    request: request.value,
    recurrence: recurrenceOf(command.recurrence),
    placedUntil: lastStart(command.recurrence, placed.value.slots),
    createdBy: nameOf(actor),
    createdAt: step.at,
  });
}

function create(
  step: Step,
  { members }: CreateReservation,
  actor: Actor,
  reservation: Reservation,
): Answer {
  const jobs = checkJobs(step, members.jobs, reservation);
  if (!jobs.ok) return jobs;
  const { id } = reservation;
  const by = nameOf(actor);
  step.emit({ kind: 'reservation_created', reservation, by });
  for (const job of jobs.value) {
    step.emit({ kind: 'job_reserved', jobId: job.id, reservation: id, by });
  }
  decideSlots(step);
  return ok({ kind: 'reserved', reservation: step.state.reservations.get(id) ?? reservation });
}

export function decideChange(step: Step, command: ChangeReservation, actor: Actor): Answer {
  const found = ownReservation(step, command.reservation, actor, 'changing this reservation');
  if (!found.ok) return found;
  const known = found.value;
  const { members = {}, request } = command;
  const allowed =
    isForSelf(members, actor) && request?.force !== true
      ? ok(null)
      : needRole(actor, 'operator', 'reserving for others, or with force,');
  if (!allowed.ok) return allowed;
  const named = checkName(step, command.name ?? known.name, known.id);
  if (!named.ok) return named;
  const placed = replaced(step, known, command);
  if (!placed.ok) return placed;
  const changed: Reservation = { ...known, ...members, ...placed.value, name: named.value };
  // An empty list means nobody; without the refusal the reservation would be the caller's own.
  const { users, groups, jobs: reserved } = changed;
  const isEmptied = Object.keys(members).length > 0;
  if (isEmptied && users.length + groups.length + reserved.length === 0) {
    const what = `reservation ${known.name} would be for nobody: name a user, a group or a job, or cancel it`;
    return step.refuse('argument.invalid', { what });
  }
  const jobs = checkJobs(
    step,
    changed.jobs.filter((id) => !known.jobs.includes(id)),
    changed,
  );
  if (!jobs.ok) return jobs;
  const by = nameOf(actor);
  step.emit({ kind: 'reservation_changed', reservation: changed, by });
  for (const { id } of jobs.value) {
    step.emit({ kind: 'job_reserved', jobId: id, reservation: known.id, by });
  }
  for (const id of known.jobs.filter((one) => !changed.jobs.includes(one))) {
    if (step.state.jobs.get(id)?.spec.reservation !== known.id) continue;
    step.emit({ kind: 'job_reserved', jobId: id, reservation: null, by });
  }
  decideSlots(step);
  return ok({ kind: 'reserved', reservation: step.state.reservations.get(known.id) ?? changed });
}

/** The slots and what they are made of, where the command changes them. */
function replaced(
  step: Step,
  known: Reservation,
  { request: wish, recurrence }: ChangeReservation,
): Result<Partial<Reservation>, Refusal> {
  if (wish === undefined && recurrence === undefined) return ok({});
  const current = currentSlot(known, step.at);
  if (current !== null) return lengthened(step, known, current, wish);
  const again = recurrence ?? null;
  const request = checkRequest(step, wish ?? known.request, again);
  if (!request.ok) return request;
  const placed = placeAll(step, request.value, again, known.id);
  if (!placed.ok) return placed;
  const { slots, skipped } = placed.value;
  // Those of the old times are not tried any more.
  const over = known.skipped.filter(({ from }) => !isOpen(known, from, step.at));
  return ok({
    request: request.value,
    slots,
    skipped: [...over, ...skipped].slice(-RESERVATION_SKIPPED_MAX),
    recurrence: recurrenceOf(again),
    placedUntil: lastStart(again, slots),
  });
}

/** While it lasts only its end can be moved: what it has, jobs are counting on. */
function lengthened(
  step: Step,
  known: Reservation,
  current: ReservedSlot,
  wish: WantedReservation | undefined,
): Result<Partial<Reservation>, Refusal> {
  const { request } = known;
  const same = { ...wish, durationMs: 0, time: 0, force: 0 };
  const before = { ...request, durationMs: 0, time: 0, force: 0 };
  const moved = wish === undefined || JSON.stringify(same) !== JSON.stringify(before);
  // One that recurred has later slots still, though it will get no more.
  if (moved || known.recurrence !== null || known.slots.some(({ from }) => from > current.from)) {
    return step.refuse('argument.invalid', {
      what: `reservation ${known.name} has started: only its name, its users and, if it does not recur, its duration can still be changed`,
    });
  }
  const slot = placeLonger(step, known.id, current, wish);
  if (!slot.ok) return slot;
  const { durationMs, force } = wish;
  return ok({ request: { ...request, durationMs, force }, slots: [slot.value] });
}

export function decideCancel(step: Step, command: CancelReservation, actor: Actor): Answer {
  const found = ownReservation(step, command.reservation, actor, 'cancelling this reservation');
  if (!found.ok) return found;
  endReservation(step, found.value, 'cancelled', nameOf(actor));
  return ok({ kind: 'done' });
}

export function decideExtend(step: Step, command: ExtendReservation, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'placing occurrences');
  if (!allowed.ok) return allowed;
  const known = step.state.reservations.get(command.id);
  // Cancelled, or extended, since the head looked.
  const starts = command.starts.filter((start) => start > (known?.placedUntil ?? Infinity));
  if (known === undefined || known.recurrence === null) return ok({ kind: 'done' });
  if (command.starts.length === 0) {
    const last = { ...known, recurrence: null };
    step.emit({ kind: 'reservation_changed', reservation: last, by: nameOf(actor) });
  } else if (starts.length > 0) {
    const placedUntil = starts.at(-1) as number;
    const { slots, skipped } = placeFurther(step, known, starts.filter(isNew(known)));
    step.emit({ kind: 'reservation_extended', id: known.id, slots, skipped, placedUntil });
  }
  decideSlots(step);
  return ok({ kind: 'done' });
}

/** Neither placed, nor skipped, nor over: they come round again when the clock goes back. */
function isNew({ slots, skipped, held = [] }: Reservation): (start: number) => boolean {
  const known = new Set([...slots, ...skipped].map(({ from }) => from));
  return (start) => !known.has(start) && !held.includes(start);
}

/** Operators for anybody; users, where the site lets them, for themselves and without force. */
function mayCreate(
  { settings }: Step,
  { members, request }: CreateReservation,
  actor: Actor,
): Result<null, Refusal> {
  const modest = isForSelf(members, actor) && !request.force;
  if (settings.usersMayReserve === true && modest) return ok(null);
  return needRole(actor, 'operator', 'reserving');
}

function isForSelf(members: Partial<ReservationMembers>, actor: Actor): boolean {
  if (actor.kind !== 'user') return false;
  const { users = [], groups = [], jobs = [] } = members;
  return groups.length + jobs.length === 0 && users.every((user) => user === actor.name);
}

function ownReservation(
  step: Step,
  text: string,
  actor: Actor,
  action: string,
): Result<Reservation, Refusal> {
  const found = findReservation(step, text);
  if (!found.ok) return found;
  const { createdBy, purpose } = found.value;
  if (purpose === 'maintenance') {
    const what = `${found.value.name} is a maintenance; use \`weft maint\``;
    return step.refuse('argument.invalid', { what });
  }
  if (actor.kind === 'user' && actor.name === createdBy) return found;
  const allowed = needRole(actor, 'operator', action);
  return allowed.ok ? found : allowed;
}

/** One for nobody would keep everybody out. */
function membersOf(members: ReservationMembers, actor: Actor): ReservationMembers {
  const { users, groups, jobs } = members;
  if (users.length + groups.length + jobs.length > 0 || actor.kind !== 'user') return members;
  return { ...members, users: [actor.name] };
}

function checkName(step: Step, name: string | null, id: string): Result<string, Refusal> {
  if (name === null || name === id) return ok(id);
  if (!NAME.test(name) || ID.test(name)) {
    const what = `'${name}' is not a reservation name; use a letter, then letters, digits, '.', '-' and '_', 63 characters at most, and not the form of an id such as r1 or m1`;
    return step.refuse('argument.invalid', { what });
  }
  const others = [...step.state.reservations.values()].filter((one) => one.id !== id);
  if (!others.some((one) => one.name === name)) return ok(name);
  return step.refuse('reservation.name_taken', { name });
}

function recurrenceOf(occurrences: Occurrences | null): Reservation['recurrence'] {
  if (occurrences === null) return null;
  const { cron, zone } = occurrences;
  return { cron, zone };
}

function lastStart(occurrences: Occurrences | null, slots: readonly ReservedSlot[]): number {
  return occurrences?.starts.at(-1) ?? slots.at(-1)?.from ?? 0;
}
