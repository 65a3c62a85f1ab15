// Words of this wing that only the head knows, for completion.

import type { Offer } from '../../../kernel/cli/completion/offer.ts';
import { FETCH_MAX_MS } from '../../../kernel/cli/completion/offers.ts';
import type { Context } from '../../../kernel/cli/context.ts';

/** Titles of batches. */
export async function batches(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listBatches', { timeoutMs: FETCH_MAX_MS });
  return reply.batches.map(({ title, state, outcome }) => [title, outcome ?? state]);
}
