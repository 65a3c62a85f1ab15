// Reservations as the scheduler sees them: one window per slot.

import type { NodeName } from '../../model/ids.ts';
import type { Reservation, ReservedShare, ReservedSlot } from '../../model/reservation.ts';
import type { Window } from './lane.ts';
import { FOREVER } from './profile.ts';

/** Slots never change in place, so each is turned into a window once and not in every cycle. */
const made = new WeakMap<ReservedSlot, Window>();

/** The windows of all the slots that there are. */
export function windowsOf(reservations: Iterable<Reservation>): Window[] {
  return [...reservations].flatMap((one) => one.slots.map((slot) => windowOf(one, slot)));
}

function windowOf({ id, name, purpose, recurrence }: Reservation, slot: ReservedSlot): Window {
  let window = made.get(slot);
  const recurs = recurrence !== null;
  if (window === undefined || window.name !== name || window.recurs !== recurs) {
    const shares = new Map(Object.entries(slot.shares) as [NodeName, ReservedShare][]);
    window = { id, name, purpose, recurs, from: slot.from, to: slot.until, shares };
    made.set(slot, window);
  }
  return window;
}

/** By node, so that who looks at many nodes goes through all windows once. */
export function byNode(windows: Iterable<Window>): ReadonlyMap<NodeName, readonly Window[]> {
  const found = new Map<NodeName, Window[]>();
  for (const window of windows) {
    for (const name of window.shares.keys()) {
      const here = found.get(name);
      if (here === undefined) found.set(name, [window]);
      else here.push(window);
    }
  }
  return found;
}

/** Whether what takes so long, null = for ever, is longer than any time between two of these. */
export function outlasts(
  lastsMs: number | null,
  times: readonly Pick<Window, 'from' | 'to'>[],
): boolean {
  const [first, ...others] = times.toSorted((a, b) => a.from - b.from);
  // One alone comes once, as far as is known, and its end can be waited for.
  let longest = others.length > 0 ? 0 : FOREVER;
  let over = first?.to ?? 0;
  for (const { from, to } of others) {
    longest = Math.max(longest, from - over);
    over = Math.max(over, to);
  }
  return (lastsMs ?? Infinity) > longest;
}
