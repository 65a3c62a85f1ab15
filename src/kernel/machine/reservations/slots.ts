// What time brings to reservations: slots begin, are over, and with the last one the reservation
// is. Also after the head was away: the instants are compared with now, nothing has to be noticed
// live.

import type { Outcome } from '../../model/job.ts';
import { isOpen, type Reservation } from '../../model/reservation.ts';
import { certainAt } from '../head/clock.ts';
import { waitingOf, waitingSize } from '../jobs/behind.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import { endPending } from '../tasks/ending.ts';

export function decideSlots(step: Step): void {
  // Gone for good: a clock that was set forward by mistake must not make it so.
  const overAt = certainAt(step.state, step.at);
  for (const { id, slots, purpose } of [...step.state.reservations.values()]) {
    if (purpose === 'maintenance') continue; // Its life is its own.
    for (const { from, until, begun } of slots) {
      if (until <= overAt) step.emit({ kind: 'reservation_slot_over', id, from });
      else if (from <= step.at && step.at < until && !begun) {
        step.emit({ kind: 'reservation_slot_begun', id, from });
      }
    }
    const left = step.state.reservations.get(id);
    if (left === undefined || !(isOver(left, overAt) || isUsed(step.state, left))) continue;
    endReservation(step, left, 'over', 'system');
  }
}

/** For jobs alone, and these are done: it would keep everybody out for nobody. */
function isUsed({ jobs: known }: State, { users, groups, jobs }: Reservation): boolean {
  if (users.length + groups.length > 0 || jobs.length === 0) return false;
  // One that has left memory has ended.
  return jobs.every((id) => known.get(id)?.outcome !== null);
}

/** Nothing of it is to come, nor may an occurrence still find room. */
function isOver(reservation: Reservation, at: number): boolean {
  const { slots, recurrence, skipped } = reservation;
  if (slots.length > 0 || recurrence !== null) return false;
  return !skipped.some(({ from }) => isOpen(reservation, from, at));
}

/**
 * Nothing is set aside any more. What waits in it can never start there and ends; what runs goes on
 * as an ordinary task, and is one also when it has to start again.
 */
export function endReservation(
  step: Step,
  { id, name }: Reservation,
  why: 'over' | 'cancelled',
  by: string,
): void {
  step.emit({ kind: 'reservation_ended', id, why, by });
  const words = why === 'over' ? 'ended' : `was cancelled by ${by}`;
  const detail = `reservation ${name} ${words} before the task could start`;
  const outcome: Outcome = { kind: 'cancelled', detail };
  for (const job of [...step.state.jobs.values()]) {
    if (job.spec.reservation !== id || job.outcome !== null) continue;
    if (waitingSize(job) > 0) endPending(step, job, waitingOf(job), outcome);
    if (job.outcome !== null) continue;
    step.emit({ kind: 'job_reserved', jobId: job.id, reservation: null, by });
  }
}
