// What a fleet of pilots comes to by time: more of them for what waits, fewer when nothing does,
// none while its batch system keeps saying no, and in the end the fleet itself is gone.

import type { State } from '../../../kernel/machine/state.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { PILOT_FAILURES_MAX, PILOT_RETRY_MS } from '../../../kernel/model/limits.ts';
import type { Fleet } from './facts.ts';
import { type Found, pilotsOf, tokenLabel } from './find.ts';
import { NOT_UP } from './joining.ts';
import { pilotsNeeded } from './offers.ts';

export function decideFleetsDue(step: Step): void {
  for (const fleet of [...step.state.fleets.values()]) decideFleet(step, fleet);
}

/** One step towards what the fleet is to be; nothing when it is that already. */
export function decideFleet(step: Step, fleet: Fleet): void {
  noteUp(step, fleet);
  if (fleet.stoppedBy !== null) dismissAll(step, fleet);
  else if (fleet.isOnce) askOnce(step, fleet);
  else follow(step, fleet);
  revokeUsed(step, fleet);
  if (fleet.launches.size > 0) return;
  const isSpent = fleet.isOnce && fleet.isServed;
  // One whose pilots all failed stays, so that somebody reads why.
  if (fleet.stoppedBy !== null || (isSpent && fleet.failures === 0)) {
    step.emit({ kind: 'fleet_removed', fleet: fleet.id });
  } else if (isSpent && !fleet.isPaused) pause(step, fleet);
}

/**
 * Lets pilots that are up take work. Only now their end is known: what does not fit before it must
 * not start there.
 */
function noteUp(step: Step, fleet: Fleet): void {
  for (const { launch, pilot } of [...pilotsOf(fleet)]) {
    const node = step.state.nodes.get(pilot.node);
    if (pilot.phase !== 'running' || node?.connected !== true) continue;
    const { index } = pilot;
    step.emit({ kind: 'pilot_up', fleet: fleet.id, launch: launch.number, index });
    if (node.drain?.reason === NOT_UP && pilot.leaving === null) {
      step.emit({ kind: 'node_undrained', node: node.name, by: 'system' });
    }
  }
}

function dismissAll(step: Step, fleet: Fleet): void {
  const why = `${fleet.stoppedBy} stopped fleet ${fleet.id}`;
  for (const found of [...pilotsOf(fleet)]) {
    if (found.pilot.leaving === null) dismiss(step, found, why);
  }
}

function askOnce(step: Step, fleet: Fleet): void {
  if (!fleet.isServed && fleet.launches.size === 0) ask(step, fleet, fleet.max);
}

function follow(step: Step, fleet: Fleet): void {
  const all = [...pilotsOf(fleet)];
  const staying = all.filter(({ pilot }) => pilot.leaving === null);
  const coming = staying.filter(({ pilot }) => pilot.phase !== 'up').length;
  const needed = pilotsNeeded(step.state, fleet, fleet.max);
  // Those that leave still have their places there, and come off before others are asked for.
  const most = fleet.max - staying.length;
  const more = Math.min(most, Math.max(fleet.min - staying.length, needed - coming));
  if (more > 0) return ask(step, fleet, more);
  dismissIdle(step, fleet, staying, needed);
}

/** One launch at a time is on its way, and after each failure the next waits longer. */
function ask(step: Step, fleet: Fleet, count: number): void {
  const { id, isPaused, failures, failedAt, launches } = fleet;
  if (isPaused || [...launches.values()].some(({ site }) => site === null)) return;
  if (failures >= PILOT_FAILURES_MAX) return pause(step, fleet);
  const wait = failures === 0 ? 0 : PILOT_RETRY_MS * 2 ** (failures - 1);
  if (step.at < failedAt + wait) return;
  step.emit({ kind: 'pilots_asked', fleet: id, launch: fleet.nextLaunch, count });
}

function pause(step: Step, { id: fleet, trouble }: Fleet): void {
  step.emit({ kind: 'fleet_paused', fleet, why: trouble ?? 'no reason was given' });
}

function dismissIdle(step: Step, fleet: Fleet, staying: readonly Found[], needed: number): void {
  const { idlePilots } = step.state.scratch;
  let spare = staying.length - fleet.min;
  // Those that came last go first: the others may have long been there for their users' data.
  for (const found of staying.toReversed()) {
    const { node } = found.pilot;
    if (needed > 0 || !isIdle(step.state, found)) {
      idlePilots.delete(node);
      continue;
    }
    const since = idlePilots.get(node) ?? step.at;
    idlePilots.set(node, since);
    if (spare <= 0 || step.at - since < fleet.idleMs) continue;
    dismiss(step, found, `no work for ${Math.round((step.at - since) / 1000)} s`);
    spare -= 1;
  }
}

/** One that has not begun yet has nothing to do either. */
function isIdle({ nodes }: State, { pilot }: Found): boolean {
  return (nodes.get(pilot.node)?.holding.size ?? 0) === 0;
}

function dismiss(step: Step, { fleet, launch, pilot }: Found, why: string): void {
  const node = step.state.nodes.get(pilot.node);
  const { index } = pilot;
  if (node !== undefined && node.drain === null) {
    step.emit({ kind: 'node_drained', node: node.name, reason: why, by: 'system' });
  }
  step.emit({ kind: 'pilot_leaving', fleet: fleet.id, launch: launch.number, index, why });
}

/** A launch's token is good until the last of its pilots has joined or is gone. */
function revokeUsed(step: Step, fleet: Fleet): void {
  const awaited = new Set<string>();
  for (const { number, pilots } of fleet.launches.values()) {
    const joins = [...pilots.values()].some(({ node }) => !step.state.nodes.has(node));
    if (joins) awaited.add(tokenLabel(fleet, number));
  }
  const mine = tokenLabel(fleet, 0).slice(0, -1);
  for (const { id, purpose, label } of [...step.state.tokens.values()]) {
    // The name of another fleet may go on where this one ends: `gpu` and `gpu-a`.
    const isMine = label.startsWith(mine) && /^\d+$/.test(label.slice(mine.length));
    if (purpose !== 'join' || !isMine || awaited.has(label)) continue;
    step.emit({ kind: 'token_revoked', tokenId: id, by: 'system' });
  }
}
