// What pilots add to the machine: their noun, what they offer before they are there, and their ends.

import type { MachinePart } from '../../../kernel/machine/part.ts';
import { endWindows } from './ends.ts';
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
    narrow: besideOthers,
    offers: fleetOffers,
    sharedPaths: sharedPathsOf,
    windows: endWindows,
    awaited: awaitedPilots,
    hint: othersHint,
  },
};
