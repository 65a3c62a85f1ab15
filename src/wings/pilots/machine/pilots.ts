// Fleets of pilots as a noun.

import { assert } from '../../../kernel/base/assert.ts';
import { askAnew } from '../../../kernel/machine/jobs/apply.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import * as apply from './apply.ts';
import * as control from './control.ts';
import { decideFleetsDue } from './course.ts';
import type { Fleet, Launch, Pilot } from './facts.ts';
import { allPilots } from './find.ts';
import { decideNoteLaunch, decideObserve } from './observe.ts';

interface FleetData extends Omit<Fleet, 'launches'> {
  readonly launches: readonly (Omit<Launch, 'pilots'> & { readonly pilots: readonly Pilot[] })[];
}

export interface PilotsData {
  /** Absent: written before there were any. */
  readonly fleets?: readonly FleetData[];
  readonly nextFleet?: number;
  readonly endedFleets?: readonly string[];
}

export const pilots: Noun<'pilots', PilotsData> = {
  commands: {
    start_fleet: control.decideStartFleet,
    scale_fleet: control.decideScaleFleet,
    stop_fleet: control.decideStopFleet,
    note_launch: decideNoteLaunch,
    observe_pilots: decideObserve,
  },
  events: {
    fleet_started: apply.applyStarted,
    fleet_scaled: apply.applyScaled,
    fleet_stopped: apply.applyStopped,
    fleet_paused: apply.applyPaused,
    fleet_removed: apply.applyRemoved,
    pilots_asked: apply.applyAsked,
    pilots_submitted: apply.applySubmitted,
    pilots_refused: apply.applyRefused,
    pilot_seen: apply.applySeen,
    pilot_up: apply.applyUp,
    pilot_leaving: apply.applyLeaving,
    pilot_gone: apply.applyGone,
  },
  facts: () => ({ fleets: new Map(), nextFleet: 1, endedFleets: new Set() }),
  save: ({ fleets, nextFleet, endedFleets }) => ({
    fleets: [...fleets.values()].map(saveFleet),
    nextFleet,
    ...(endedFleets.size > 0 && { endedFleets: [...endedFleets] }),
  }),
  load(state, { fleets = [], nextFleet = 1, endedFleets = [] }) {
    for (const name of endedFleets) state.endedFleets.add(name);
    for (const fleet of fleets) state.fleets.set(fleet.id, loadFleet(fleet));
    state.nextFleet = nextFleet;
  },
  rebase({ fleets, scratch: { idlePilots } }, byMs) {
    for (const [node, since] of idlePilots) idlePilots.set(node, since + byMs);
    for (const fleet of fleets.values()) {
      fleet.startedAt += byMs;
      fleet.failedAt += byMs;
      for (const launch of fleet.launches.values()) launch.askedAt += byMs;
    }
  },
  index(state) {
    if ([...state.fleets.values()].some(({ ownOnly }) => ownOnly === true)) askAnew(state);
  },
  check(state) {
    const nodes = new Set<string>();
    for (const { pilot } of allPilots(state)) {
      assert(!nodes.has(pilot.node), `pilot ${pilot.node} is there once`);
      nodes.add(pilot.node);
    }
    for (const { id, launches, min, max } of state.fleets.values()) {
      assert(min <= max, `fleet ${id} has ${min} to ${max} pilots`);
      for (const { number, pilots } of launches.values()) {
        assert(pilots.size > 0, `launch ${number} of fleet ${id} has pilots`);
      }
    }
  },
  due: decideFleetsDue,
};

function saveFleet({ launches, ...fleet }: Fleet): FleetData {
  return {
    ...fleet,
    launches: [...launches.values()].map(({ pilots, ...one }) => ({
      ...one,
      pilots: [...pilots.values()],
    })),
  };
}

function loadFleet({ launches, ...fleet }: FleetData): Fleet {
  const load = ({ pilots, ...one }: FleetData['launches'][number]): Launch => ({
    ...one,
    pilots: new Map(pilots.map((pilot) => [pilot.index, { ...pilot }])),
  });
  return { ...fleet, launches: new Map(launches.map((one) => [one.number, load(one)])) };
}
