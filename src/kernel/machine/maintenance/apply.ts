// Applying what happened to maintenance. Replaced whole, never changed in place, as reservations.

import { present } from '../../base/assert.ts';
import { MAINTENANCES_KEPT_MAX } from '../../model/limits.ts';
import { isAlive, isUnderWay, type Maintenance } from '../../model/maintenance.ts';
import type { EventTable } from '../noun.ts';
import type { State } from '../state.ts';

/** What happens to the state, by the kind of event. */
export const maintenanceEvents = {
  maintenance_planned(state, event) {
    state.maintenances.set(event.maintenance.id, event.maintenance);
  },
  maintenance_moved(state, event, at) {
    const { phase, detail } = event;
    const known = maintenanceOf(state, event.id);
    const next = { ...known, phase, detail: detail ?? known.detail };
    state.maintenances.set(event.id, isAlive(next) ? next : { ...next, endedAt: at });
    if (!isAlive(next)) forgetOldest(state);
  },
  maintenance_cancelled(state, event) {
    const known = maintenanceOf(state, event.id);
    state.maintenances.set(event.id, { ...known, cancelledBy: event.by });
  },
  maintenance_work(state, event) {
    const known = maintenanceOf(state, event.id);
    const works = { ...known.works, [event.node]: event.work };
    state.maintenances.set(event.id, { ...known, works });
  },
  maintenance_stop(state, event) {
    const known = maintenanceOf(state, event.id);
    const stops = { ...known.stops, [event.node]: event.stop };
    state.maintenances.set(event.id, { ...known, stops });
  },
  maintenance_taken_back(state, event) {
    const known = maintenanceOf(state, event.id);
    const takenBack = { ...known.takenBack, [event.node]: event.by };
    state.maintenances.set(event.id, { ...known, takenBack });
  },
} satisfies Partial<EventTable>;

export function maintenanceOf(state: State, id: string): Maintenance {
  return present(state.maintenances.get(id), `maintenance ${id}`);
}

function forgetOldest(state: State): void {
  const over = [...state.maintenances.values()].filter((one) => !isAlive(one));
  for (const { id } of over.slice(0, -MAINTENANCES_KEPT_MAX)) state.maintenances.delete(id);
}

/** One under way keeps its length: nobody has to be told again that its nodes are out. */
export function rebaseMaintenances(state: State, byMs: number): void {
  for (const known of [...state.maintenances.values()]) {
    if (!isUnderWay(known)) continue;
    const { id, from, until } = known;
    state.maintenances.set(id, { ...known, from: from + byMs, until: until + byMs });
    const window = state.reservations.get(id);
    if (window === undefined) continue;
    const slots = window.slots.map((slot) => {
      return { ...slot, from: slot.from + byMs, until: slot.until + byMs };
    });
    state.reservations.set(id, { ...window, slots });
  }
}
