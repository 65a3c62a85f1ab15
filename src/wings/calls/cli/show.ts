// `weft pool show`: how one pool stands.

import { headNow } from '../../../kernel/api/head-time.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { formatOne } from '../../../kernel/cli/output/one.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { poolLines } from './columns.ts';
import { POOL_OPERAND } from './range.ts';

export const show = defineVerb<ListingOptions>({
  define(command) {
    command.argument('<pool>', POOL_OPERAND);
    defineListing(command);
  },
  async run({ context, args: [id = ''], options }) {
    const pool = await (await context.api()).call('getPool', { params: { id } });
    const inWords = (one: typeof pool) => poolLines(one, headNow());
    const name = String(pool.id);
    for (const line of formatOne(pool, options.output, name, inWords)) context.print(line);
    return 0;
  },
});
