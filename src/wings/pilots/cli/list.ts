// `weft pilot list`: all pilots, by their fleets.

import { headNow } from '../../../kernel/api/head-time.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { type PilotRow, pilotColumns, rowsOf } from './columns.ts';

export const list = defineVerb<ListingOptions>({
  define: (command) => void defineListing(command),
  async run({ context, options }) {
    const { fleets } = await (await context.api()).call('listFleets');
    const name = ({ fleet, pilot }: PilotRow) => pilot?.node ?? fleet.name;
    const rows = rowsOf(fleets);
    const columns = pilotColumns(headNow());
    await context.list({ rows, columns, name, empty: 'No pilots.' }, options.output);
    return 0;
  },
});
