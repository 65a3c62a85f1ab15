// The end of a pilot as the scheduler sees it: a window without an end, in which its node is nobody's.

import type { State } from '../../../kernel/machine/state.ts';
import { PILOT_END_MARGIN_MS } from '../../../kernel/model/limits.ts';
import type { Window } from '../../../kernel/scheduler/room/lane.ts';
import { FOREVER } from '../../../kernel/scheduler/room/profile.ts';
import { windowsOf } from '../../../kernel/scheduler/room/windows.ts';
import type { Pilot } from './facts.ts';
import { allPilots } from './find.ts';

/** Pilots never change in place, so the window of each is made once. */
const made = new WeakMap<Pilot, Window>();
const PREFIX = 'end of ';

/** All that the scheduler has to heed: reservations, maintenance, and ends of pilots. */
export function allWindows(state: State): Window[] {
  return [...windowsOf(state.reservations.values()), ...endWindows(state)];
}

function* endWindows(state: State): Generator<Window> {
  for (const { pilot } of allPilots(state)) {
    if (pilot.endsAt !== null && state.nodes.has(pilot.node)) yield windowOf(pilot, pilot.endsAt);
  }
}

function windowOf(pilot: Pilot, endsAt: number): Window {
  let window = made.get(pilot);
  if (window === undefined) {
    window = {
      ...{ id: `${PREFIX}${pilot.node}`, name: pilot.node, purpose: 'node_end', recurs: false },
      // What runs to the last moment must have ended, and been told, before its node is gone.
      ...{ from: endsAt - PILOT_END_MARGIN_MS, to: FOREVER },
      shares: new Map([[pilot.node, 'whole']]),
    };
    made.set(pilot, window);
  }
  return window;
}

/** What a window is called, by its id. */
export function namedWindow(
  state: State,
  id: string,
): Pick<Window, 'name' | 'purpose'> | undefined {
  if (!id.startsWith(PREFIX)) return state.reservations.get(id);
  return { name: id.slice(PREFIX.length), purpose: 'node_end' };
}
