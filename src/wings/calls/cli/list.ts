// `weft pool list`: the pools that live.

import { headNow } from '../../../kernel/api/head-time.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { PoolView } from '../api/pools.ts';
import { poolColumns } from './columns.ts';

interface Options extends ListingOptions {
  readonly mine?: boolean;
}

export const list = defineVerb<Options>({
  define(command) {
    command.option('-m, --mine', 'only your own');
    defineListing(command);
  },
  async run({ context, options }) {
    const api = await context.api();
    const owner = options.mine ? (await api.call('whoami')).name : null;
    const { pools } = await api.call('listPools');
    const rows = pools.filter((pool) => (owner ?? pool.owner) === pool.owner);
    const name = ({ id }: PoolView) => String(id);
    const empty = 'No pools.';
    await context.list({ rows, columns: poolColumns(headNow()), name, empty }, options.output);
    return 0;
  },
});
