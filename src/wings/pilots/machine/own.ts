// Whose work the pilots of a fleet run. On a head for several users they run that of whoever
// started them alone: the account that runs a pilot is the account that all its tasks would run
// under.

import type { Unsatisfied } from '../../../kernel/machine/part.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { UserName } from '../../../kernel/model/ids.ts';
import type { ResourceRequest } from '../../../kernel/model/job.ts';
import { fleetLabel } from '../model/pilot.ts';
import type { Fleet } from './facts.ts';

export function takesFrom(fleet: Pick<Fleet, 'by' | 'ownOnly'>, owner: UserName): boolean {
  return fleet.ownOnly !== true || fleet.by === owner;
}

/** What the user asks for, on nodes of no fleet that is for others. */
export function besideOthers(
  { fleets }: State,
  owner: UserName,
  request: ResourceRequest,
): ResourceRequest {
  const others = [...fleets.values()].filter((fleet) => !takesFrom(fleet, owner));
  if (others.length === 0) return request;
  const labels = [...request.labels, ...others.map(({ id }) => `!${fleetLabel(id)}`)];
  return { ...request, labels };
}

/** Where a user has asked for the pilots of another. */
export function othersHint(
  { fleets }: State,
  { owner, asked: { labels } }: Unsatisfied,
): string | undefined {
  for (const fleet of fleets.values()) {
    if (takesFrom(fleet, owner) || !labels.includes(fleetLabel(fleet.id))) continue;
    return `Pilots of fleet ${fleet.id} run only what ${fleet.by} submits.`;
  }
  return undefined;
}
