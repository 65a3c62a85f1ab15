// The end of a pilot as the scheduler sees it: a window without an end, in which its node is nobody's.

import type { State } from '../../../kernel/machine/state.ts';
import { PILOT_END_MARGIN_MS } from '../../../kernel/model/limits.ts';
import type { Window } from '../../../kernel/scheduler/room/lane.ts';
import { FOREVER } from '../../../kernel/scheduler/room/profile.ts';
import type { Pilot } from './facts.ts';
import { allPilots } from './find.ts';

/** Pilots never change in place, so the window of each is made once. */
const made = new WeakMap<Pilot, Window>();

/** One for each pilot whose end is known. */
export function* endWindows(state: State): Generator<Window> {
  for (const { pilot } of allPilots(state)) {
    if (pilot.endsAt !== null && state.nodes.has(pilot.node)) yield windowOf(pilot, pilot.endsAt);
  }
}

function windowOf(pilot: Pilot, endsAt: number): Window {
  let window = made.get(pilot);
  if (window === undefined) {
    window = {
      id: `end of ${pilot.node}`,
      name: pilot.node,
      purpose: 'node_end',
      recurs: false,
      // What runs to the last moment must have ended, and been told, before its node is gone.
      from: endsAt - PILOT_END_MARGIN_MS,
      to: FOREVER,
      shares: new Map([[pilot.node, 'whole']]),
    };
    made.set(pilot, window);
  }
  return window;
}
