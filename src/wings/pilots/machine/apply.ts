// Applying what happened to fleets of pilots.

import { present } from '../../../kernel/base/assert.ts';
import type { Of } from '../../../kernel/machine/events.ts';
import { askAnew } from '../../../kernel/machine/jobs/apply.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import { ENDED_FLEETS_MAX } from '../../../kernel/model/limits.ts';
import { pilotNode } from '../model/pilot.ts';
import type { Pilot } from './facts.ts';
import { fleetOf, launchOf } from './find.ts';

export function applyStarted(state: State, event: Of<'fleet_started'>, at: number): void {
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
}

export function applyScaled(state: State, event: Of<'fleet_scaled'>): void {
  const fleet = fleetOf(state, event.fleet);
  fleet.min = event.min;
  fleet.max = event.max;
  fleet.idleMs = event.idleMs;
  fleet.isPaused = false;
  fleet.failures = 0;
  fleet.trouble = null;
}

export function applyStopped(state: State, event: Of<'fleet_stopped'>): void {
  fleetOf(state, event.fleet).stoppedBy = event.by;
}

export function applyPaused(state: State, event: Of<'fleet_paused'>): void {
  fleetOf(state, event.fleet).isPaused = true;
}

export function applyRemoved(state: State, event: Of<'fleet_removed'>): void {
  const { ownOnly } = fleetOf(state, event.fleet);
  state.fleets.delete(event.fleet);
  state.endedFleets.add(event.fleet);
  const [oldest] = state.endedFleets;
  if (oldest !== undefined && state.endedFleets.size > ENDED_FLEETS_MAX)
    state.endedFleets.delete(oldest);
  if (ownOnly === true) askAnew(state);
}

export function applyAsked(state: State, event: Of<'pilots_asked'>, at: number): void {
  const fleet = fleetOf(state, event.fleet);
  const pilots = new Map<number, Pilot>();
  for (let index = 1; index <= event.count; index += 1) {
    const node = pilotNode(fleet.id, event.launch, index) as NodeName;
    pilots.set(index, { index, node, phase: 'waiting', endsAt: null, leaving: null });
  }
  fleet.launches.set(event.launch, { number: event.launch, askedAt: at, site: null, pilots });
  fleet.nextLaunch = event.launch + 1;
}

export function applySubmitted(state: State, event: Of<'pilots_submitted'>): void {
  launchOf(state, event.fleet, event.launch).site = event.site;
  fleetOf(state, event.fleet).isServed = true;
}

export function applyRefused(state: State, event: Of<'pilots_refused'>, at: number): void {
  const fleet = fleetOf(state, event.fleet);
  fleet.launches.delete(event.launch);
  if (fleet.stoppedBy === null) noteFailure(state, event, at);
}

export function applySeen(state: State, event: Of<'pilot_seen'>): void {
  const { isRunning, endsAt } = event;
  change(state, event, ({ phase }) => {
    return { phase: isRunning ? (phase === 'up' ? 'up' : 'running') : 'waiting', endsAt };
  });
  state.scratch.scheduleDue = true;
}

export function applyUp(state: State, event: Of<'pilot_up'>): void {
  change(state, event, () => ({ phase: 'up' }));
  const fleet = fleetOf(state, event.fleet);
  fleet.failures = 0;
  fleet.trouble = null;
}

export function applyLeaving(state: State, event: Of<'pilot_leaving'>): void {
  change(state, event, () => ({ leaving: event.why }));
}

export function applyGone(state: State, event: Of<'pilot_gone'>, at: number): void {
  const launch = launchOf(state, event.fleet, event.launch);
  const { node } = present(launch.pilots.get(event.index), 'the pilot');
  launch.pilots.delete(event.index);
  state.scratch.idlePilots.delete(node);
  if (launch.pilots.size === 0) fleetOf(state, event.fleet).launches.delete(launch.number);
  if (event.failed) noteFailure(state, event, at);
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
