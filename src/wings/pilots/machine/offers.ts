// What a fleet's pilots offer before they are there, and how many more of them what waits in the
// queue could use.

import { sharedLabel } from '../../../kernel/machine/nodes/view.ts';
import type { Offer } from '../../../kernel/machine/part.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { NodeName, UserName } from '../../../kernel/model/ids.ts';
import { PILOT_END_MARGIN_MS } from '../../../kernel/model/limits.ts';
import { featureLabel, NODE_FEATURES } from '../../../kernel/model/node-features.ts';
import type { Reason } from '../../../kernel/model/reason.ts';
import { NO_RESOURCES } from '../../../kernel/model/resources.ts';
import { couldHold } from '../../../kernel/scheduler/answers/explain.ts';
import type { Group, QueueEntry } from '../../../kernel/scheduler/line/queue.ts';
import { fleetLabel } from '../model/pilot.ts';
import type { Fleet } from './facts.ts';
import { pilotsOf } from './find.ts';
import { takesFrom } from './own.ts';

/** More than any machine has: a pilot has what it finds, which is not known before. */
const MUCH_MEMORY = 2 ** 52;

/** How many pilots the waiting work would fill; counted no further than `most`. */
export function pilotsNeeded(state: State, fleet: Fleet, most: number): number {
  const empty = offerOf(state, fleet);
  let cpus = 0;
  for (const group of state.indexes.queue.groups.values()) {
    const { request, walltimeMs, reservation } = group.shape;
    if (reservation !== null || !couldHold(empty, request)) continue;
    if (outlasts(walltimeMs ?? (isWorker(request.labels) ? 0 : Infinity), fleet)) continue;
    const each = request.exclusive ? empty.total.cpuCount : Math.max(1, request.perNode.cpuCount);
    cpus += each * request.nodeCount * waitingIn(group, most);
    if (cpus >= most * empty.total.cpuCount) return most;
  }
  return Math.ceil(cpus / empty.total.cpuCount);
}

/** What would wait for ever, whatever pilots come. */
function outlasts(walltimeMs: number, fleet: Fleet): boolean {
  const { walltimeMs: limit } = fleet.wish;
  if (limit !== null) return walltimeMs > limit - PILOT_END_MARGIN_MS;
  for (const { pilot, launch } of pilotsOf(fleet)) {
    // A limit of the batch system's own, or less: it has waited there first.
    const longest = (pilot.endsAt ?? Infinity) - launch.askedAt - PILOT_END_MARGIN_MS;
    if (walltimeMs > longest) return true;
  }
  return false;
}

function isWorker(labels: readonly string[]): boolean {
  return labels.includes(featureLabel('pools'));
}

/** Tasks that no running limit keeps from starting. */
function waitingIn({ entries }: Group, most: number): number {
  let count = 0;
  for (const { pending, runningMax, running } of entries) {
    count += Math.min(pending.size, Math.max(0, (runningMax ?? Infinity) - running));
    // A pilot may hold some thousands of tasks, and counting has an end all the same.
    if (count > most * 1000) return count;
  }
  return count;
}

/** Work of a user may count on pilots that are still to come, from fleets that are not ending. */
export function* fleetOffers(
  state: State,
  owner: UserName,
): Generator<Offer & { readonly fleet: Fleet }> {
  for (const fleet of state.fleets.values()) {
    if (fleet.stoppedBy !== null || !takesFrom(fleet, owner)) continue;
    const offer = { ...offerOf(state, fleet), fleet };
    for (let count = 0; count < fleet.max; count += 1) yield offer;
  }
}

/** Directories that all fleets share, whoever they run tasks of. */
export function* sharedPathsOf({ fleets }: State): Generator<string> {
  for (const { wish } of fleets.values()) yield* wish.sharedPaths;
}

/** The fleet that is to bring nodes for it; null: there is none. */
export function awaitedPilots(state: State, { owner, shape }: QueueEntry): Reason | null {
  for (const offer of fleetOffers(state, owner)) {
    if (!couldHold(offer, shape.request)) continue;
    const { id: fleet, trouble, isPaused } = offer.fleet;
    return { kind: 'pilots', fleet, trouble, isPaused };
  }
  return null;
}

function offerOf(state: State, fleet: Fleet): Offer {
  const { cpuCount, memoryBytes, system, sharedPaths } = fleet.wish;
  return {
    sharedPaths,
    // No node has this name, so nobody can ask for it.
    name: '' as NodeName,
    total: { ...NO_RESOURCES, cpuCount, memoryBytes: memoryBytes ?? seenMemory(state, fleet) },
    labels: new Set([
      ...[fleetLabel(fleet.id), `system=${system}`],
      ...sharedPaths.map(sharedLabel),
      ...NODE_FEATURES.map(featureLabel),
    ]),
  };
}

function seenMemory({ nodes }: State, fleet: Fleet): number {
  for (const { pilot } of pilotsOf(fleet)) {
    const node = nodes.get(pilot.node);
    if (node !== undefined && node.session > 0) return node.total.memoryBytes;
  }
  return MUCH_MEMORY;
}
