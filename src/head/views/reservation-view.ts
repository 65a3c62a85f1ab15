// A reservation as the API shows it.

import type { ReservationView } from '../../api/reservations.ts';
import type { Node, State } from '../../core/controller/state.ts';
import type { NodeName } from '../../core/model/ids.ts';
import { currentSlot, type Reservation, type ReservedSlot } from '../../core/model/reservation.ts';

export function viewReservation(state: State, one: Reservation, now: number): ReservationView {
  const { id, name, purpose, recurrence, createdBy, createdAt, request } = one;
  return {
    ...{ id, name, purpose, recurrence, createdBy, createdAt },
    state: currentSlot(one, now) === null ? 'coming' : 'active',
    users: [...one.users],
    groups: [...one.groups],
    jobs: [...one.jobs],
    slots: one.slots.map(viewSlot),
    skipped: [...one.skipped],
    durationMs: request.durationMs,
    missing: missingOf(state, one.slots[0]),
    ...countTasks(state, id),
  };
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
  if (node.drain !== null) return `drained: ${node.drain.reason}`;
  if (node.unreachableSince !== null) return 'unreachable';
  if (!node.connected) return 'not connected';
  return node.fault;
}

function countTasks(state: State, id: string): { waitingTasks: number; runningTasks: number } {
  let waitingTasks = 0;
  let runningTasks = 0;
  for (const { spec, entry, outcome } of state.jobs.values()) {
    if (spec.reservation !== id || outcome !== null) continue;
    waitingTasks += entry.pending.size;
    runningTasks += entry.running;
  }
  return { waitingTasks, runningTasks };
}
