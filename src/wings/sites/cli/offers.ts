// Words of this wing that only the head knows, for completion.

import type { Offer } from '../../../kernel/cli/completion/offer.ts';
import type { Context } from '../../../kernel/cli/context.ts';

/** Names of sites. */
export async function sites(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listSites');
  return reply.sites.map(({ name, system }) => [name, system]);
}
