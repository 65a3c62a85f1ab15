// Words of this wing that only the head knows, for completion.

import type { Offer } from '../../../kernel/cli/completion/offer.ts';
import { FETCH_MAX_MS } from '../../../kernel/cli/completion/offers.ts';
import type { Context } from '../../../kernel/cli/context.ts';

/** Jobs that are pools. */
export async function pools(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listPools', { timeoutMs: FETCH_MAX_MS });
  return reply.pools.map(({ id, name, owner }) => [String(id), `${name ?? 'pool'} of ${owner}`]);
}
