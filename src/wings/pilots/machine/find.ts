// Pilots by their nodes, and fleets by their names.

import { present } from '../../../kernel/base/assert.ts';
import type { Fleet, Launch, Pilot, PilotsFacts } from './facts.ts';

export interface Found {
  readonly fleet: Fleet;
  readonly launch: Launch;
  readonly pilot: Pilot;
}

export function* allPilots({ fleets }: PilotsFacts): Generator<Found> {
  for (const fleet of fleets.values()) yield* pilotsOf(fleet);
}

export function* pilotsOf(fleet: Fleet): Generator<Found> {
  for (const launch of fleet.launches.values()) {
    for (const pilot of launch.pilots.values()) yield { fleet, launch, pilot };
  }
}

/** The pilot whose node has this name; undefined: it is no pilot's. */
export function pilotOfNode(facts: PilotsFacts, node: string): Found | undefined {
  for (const found of allPilots(facts)) if (found.pilot.node === node) return found;
  return undefined;
}

export function fleetOf({ fleets }: PilotsFacts, id: string): Fleet {
  return present(fleets.get(id), `fleet ${id}`);
}

export function launchOf(facts: PilotsFacts, id: string, number: number): Launch {
  return present(fleetOf(facts, id).launches.get(number), `launch ${number} of fleet ${id}`);
}

/** Before the fleet, in labels of join tokens. */
export const TOKEN_PREFIX = 'pilots of ';

/** Label of a join token: by it a launch's tokens are found again. */
export function tokenLabel({ id }: Pick<Fleet, 'id'>, launch: number): string {
  return `${TOKEN_PREFIX}${id}-${launch}`;
}
