// `weft calls`: what programs and workers of pools are doing.

import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { formatOne } from '../../../kernel/cli/output/one.ts';
import { formatTable } from '../../../kernel/cli/output/table.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { CallsView, PoolView } from '../api/pools.ts';
import {
  callColumns,
  clientColumns,
  doneWords,
  speedWords,
  workerColumns,
} from './call-columns.ts';
import { POOL_OPERAND } from './range.ts';

export const verb = defineVerb<ListingOptions>({
  define(command) {
    command.argument('[pool]', `${POOL_OPERAND}: its programs and workers`);
    defineListing(command);
  },
  async run({ context, args: [id], options }) {
    const api = await context.api();
    if (id === undefined) {
      const { pools: rows } = await api.call('listPools');
      const name = (pool: PoolView) => String(pool.id);
      const listing = { rows, columns: callColumns(), name, empty: 'No pools.' };
      await context.list(listing, options.output);
      return 0;
    }
    const view = await api.call('poolCalls', { params: { id } });
    const isWide = options.output === 'wide';
    const which = isWide ? 'all' : 'main';
    const inWords = (one: CallsView) => [
      `${doneWords(one)}, ${one.running} at workers, ${one.waiting} waiting${speedWords(one)}`,
      ...(one.clients.length === 0
        ? []
        : ['', ...formatTable(clientColumns(), one.clients, which, context.look)]),
      ...(one.workers.length === 0
        ? []
        : ['', ...formatTable(workerColumns(), one.workers, which, context.look)]),
    ];
    const output = isWide ? undefined : options.output;
    for (const line of formatOne(view, output, id, inWords)) context.print(line);
    return 0;
  },
});
