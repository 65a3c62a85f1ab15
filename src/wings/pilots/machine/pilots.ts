// Fleets of pilots as a noun.

import { assert, present } from '../../../kernel/base/assert.ts';
import type { Of } from '../../../kernel/machine/events.ts';
import { askAnew } from '../../../kernel/machine/jobs/apply.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import { ENDED_FLEETS_MAX } from '../../../kernel/model/limits.ts';
import { pilotNode } from '../model/pilot.ts';
import * as control from './control.ts';
import { decideFleetsDue } from './course.ts';
import type { Fleet, Launch, Pilot } from './facts.ts';
import { allPilots, fleetOf, launchOf } from './find.ts';
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
    fleet_started(state, event, at) {
      const { fleet, min, max, idleMs } = event;
      state.fleets.set(fleet.id, {
        ...fleet,
        min,
        max,
        idleMs,
        startedAt: at,
        launches: new Map(),
        nextLaunch: 1,
        isServed: false,
        failures: 0,
        failedAt: 0,
        trouble: null,
        isPaused: false,
        stoppedBy: null,
      });
      state.nextFleet += 1;
      state.endedFleets.delete(fleet.id);
      if (fleet.ownOnly === true) askAnew(state);
    },
    fleet_scaled(state, event) {
      const fleet = fleetOf(state, event.fleet);
      fleet.min = event.min;
      fleet.max = event.max;
      fleet.idleMs = event.idleMs;
      fleet.isPaused = false;
      fleet.failures = 0;
      fleet.trouble = null;
    },
    fleet_stopped(state, event) {
      fleetOf(state, event.fleet).stoppedBy = event.by;
    },
    fleet_paused(state, event) {
      fleetOf(state, event.fleet).isPaused = true;
    },
    fleet_removed(state, event) {
      const { ownOnly } = fleetOf(state, event.fleet);
      state.fleets.delete(event.fleet);
      state.endedFleets.add(event.fleet);
      const [oldest] = state.endedFleets;
      if (oldest !== undefined && state.endedFleets.size > ENDED_FLEETS_MAX)
        state.endedFleets.delete(oldest);
      if (ownOnly === true) askAnew(state);
    },
    pilots_asked(state, event, at) {
      const fleet = fleetOf(state, event.fleet);
      const pilots = new Map<number, Pilot>();
      for (let index = 1; index <= event.count; index += 1) {
        const node = pilotNode(fleet.id, event.launch, index) as NodeName;
        pilots.set(index, { index, node, phase: 'waiting', endsAt: null, leaving: null });
      }
      fleet.launches.set(event.launch, { number: event.launch, askedAt: at, site: null, pilots });
      fleet.nextLaunch = event.launch + 1;
    },
    pilots_submitted(state, event) {
      launchOf(state, event.fleet, event.launch).site = event.site;
      fleetOf(state, event.fleet).isServed = true;
    },
    pilots_refused(state, event, at) {
      const fleet = fleetOf(state, event.fleet);
      fleet.launches.delete(event.launch);
      if (fleet.stoppedBy === null) noteFailure(state, event, at);
    },
    pilot_seen(state, event) {
      const { isRunning, endsAt } = event;
      change(state, event, ({ phase }) => {
        return { phase: isRunning ? (phase === 'up' ? 'up' : 'running') : 'waiting', endsAt };
      });
      state.scratch.scheduleDue = true;
    },
    pilot_up(state, event) {
      change(state, event, () => ({ phase: 'up' }));
      const fleet = fleetOf(state, event.fleet);
      fleet.failures = 0;
      fleet.trouble = null;
    },
    pilot_leaving(state, event) {
      change(state, event, () => ({ leaving: event.why }));
    },
    pilot_gone(state, event, at) {
      const launch = launchOf(state, event.fleet, event.launch);
      const { node } = present(launch.pilots.get(event.index), 'the pilot');
      launch.pilots.delete(event.index);
      state.scratch.idlePilots.delete(node);
      if (launch.pilots.size === 0) fleetOf(state, event.fleet).launches.delete(launch.number);
      if (event.failed) noteFailure(state, event, at);
    },
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

function noteFailure(
  state: State,
  { fleet: id, why }: { readonly fleet: string; readonly why: string },
  at: number,
): void {
  const fleet = fleetOf(state, id);
  fleet.failures += 1;
  fleet.failedAt = at;
  fleet.trouble = why;
}

function change(
  state: State,
  { fleet, launch, index }: Pick<Of<'pilot_up'>, 'fleet' | 'launch' | 'index'>,
  by: (before: Pilot) => Partial<Pilot>,
): void {
  const { pilots } = launchOf(state, fleet, launch);
  const before = present(pilots.get(index), `pilot ${index} of launch ${launch}`);
  pilots.set(index, { ...before, ...by(before) });
}
