// What pilots add to the machine: their noun, what they offer before they are there, and their
// ends.

import type { MachinePart } from '../../../kernel/machine/part.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { PILOT_END_MARGIN_MS } from '../../../kernel/model/limits.ts';
import type { Window } from '../../../kernel/scheduler/room/lane.ts';
import { FOREVER } from '../../../kernel/scheduler/room/profile.ts';
import type { Pilot } from './facts.ts';
import { allPilots, pilotOfNode } from './find.ts';
import { drainPilot, refuseStranger } from './joining.ts';
import { awaitedPilots, fleetOffers, sharedPathsOf } from './offers.ts';
import { besideOthers, othersHint } from './own.ts';
import { pilots } from './pilots.ts';

export const part: MachinePart = {
  nouns: [pilots],
  scratch: () => ({ idlePilots: new Map() }),
  hooks: {
    afterEnrolment: drainPilot,
    refuseNode: refuseStranger,
    isSentAway: (state, node) => (pilotOfNode(state, node)?.pilot.leaving ?? null) !== null,
    narrow: besideOthers,
    offers: fleetOffers,
    sharedPaths: sharedPathsOf,
    windows: endWindows,
    awaited: awaitedPilots,
    hint: othersHint,
  },
};

/** Pilots never change in place, so the window of each is made once. */
const made = new WeakMap<Pilot, Window>();

/** One for each pilot whose end is known. */
function* endWindows(state: State): Generator<Window> {
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
