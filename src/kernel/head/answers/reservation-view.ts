// A reservation as the API shows it.

import type { ReservationView } from '../../api/reservations.ts';
import { waitingSize } from '../../machine/jobs/behind.ts';
import type { Node } from '../../machine/nodes/facts.ts';
import { cloneWords } from '../../machine/nodes/machine.ts';
import { obstacleNow } from '../../machine/reservations/occurrences.ts';
import type { State } from '../../machine/state.ts';
import type { NodeName } from '../../model/ids.ts';
import { pauseWords } from '../../model/pause.ts';
import {
  currentSlot,
  isOpen,
  type Reservation,
  type ReservedSlot,
} from '../../model/reservation.ts';

export function viewReservation(state: State, one: Reservation, now: number): ReservationView {
  const { id, name, purpose, recurrence, createdBy, createdAt, request } = one;
  return {
    id,
    name,
    purpose,
    recurrence,
    createdBy,
    createdAt,
    state: currentSlot(one, now) === null ? 'coming' : 'active',
    users: [...one.users],
    groups: [...one.groups],
    jobs: [...one.jobs],
    slots: one.slots.map(viewSlot),
    skipped: one.skipped.map(({ from, because }) => {
      if (!isOpen(one, from, now)) return { from, because };
      return { from, because, triedUntil: from + request.durationMs };
    }),
    durationMs: request.durationMs,
    missing: missingOf(state, one.slots[0]),
    ...countTasks(state, id),
  };
}

/** The reservation with what is in the way of its occurrences at this instant. */
export function viewInFull(state: State, one: Reservation, now: number): ReservationView {
  const view = viewReservation(state, one, now);
  const skipped = view.skipped.map((occurrence) => {
    if (occurrence.triedUntil === undefined) return occurrence;
    const because = obstacleNow({ state, at: now }, one, occurrence.from);
    return { ...occurrence, because: because ?? 'there is room now; it is being reserved' };
  });
  return { ...view, skipped };
}

function viewSlot({ from, until, shares }: ReservedSlot): ReservationView['slots'][number] {
  const share = Object.values(shares)[0] ?? 'whole';
  return { from, until, nodes: Object.keys(shares), share };
}

function missingOf({ nodes }: State, slot: ReservedSlot | undefined): ReservationView['missing'] {
  if (slot === undefined) return [];
  return (Object.keys(slot.shares) as NodeName[]).flatMap((name) => {
    const because = awayWords(nodes.get(name));
    return because === null ? [] : [{ node: name, because }];
  });
}

function awayWords(node: Node | undefined): string | null {
  if (node === undefined) return 'removed from the cluster';
  const cloned = cloneWords(node);
  if (cloned !== null) return cloned;
  if (node.drain !== null) return `drained: ${node.drain.reason}`;
  if (node.unreachableSince !== null) return 'unreachable';
  if (!node.connected) return 'not connected';
  return node.fault ?? (node.pausing.now === null ? null : pauseWords(node.pausing.now));
}

function countTasks(state: State, id: string): { waitingTasks: number; runningTasks: number } {
  let waitingTasks = 0;
  let runningTasks = 0;
  for (const job of state.jobs.values()) {
    if (job.spec.reservation !== id || job.outcome !== null) continue;
    waitingTasks += waitingSize(job);
    runningTasks += job.entry.running;
  }
  return { waitingTasks, runningTasks };
}
