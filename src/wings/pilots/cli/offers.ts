// Words of this wing that only the head knows, for completion.

import type { Offer } from '../../../kernel/cli/completion/offer.ts';
import { FETCH_MAX_MS } from '../../../kernel/cli/completion/offers.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { PILOT_SYSTEMS } from '../model/pilot.ts';

/** Systems that host pilots. */
export const systems = (): Offer[] => PILOT_SYSTEMS.map((system) => [system, '']);

/** Names of fleets. */
export async function fleets(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listFleets', { timeoutMs: FETCH_MAX_MS });
  return reply.fleets.map(({ name, system }) => [name, system]);
}

/** Nodes that are pilots. */
export async function pilots(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listFleets', { timeoutMs: FETCH_MAX_MS });
  return reply.fleets.flatMap((fleet) => {
    return fleet.pilots.map(({ node, state }): Offer => [node, state]);
  });
}
