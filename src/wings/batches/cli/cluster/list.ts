// `weft batch list`: the batches that the head knows.

import { headNow } from '../../../../kernel/api/head-time.ts';
import { defineListing, type ListingOptions } from '../../../../kernel/cli/output/listing.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import type { BatchView } from '../../api/batches.ts';
import { batchColumns } from './columns.ts';

interface Options extends ListingOptions {
  readonly all?: boolean;
  readonly mine?: boolean;
}

export const list = defineVerb<Options>({
  define(command) {
    command.option('-a, --all', 'also those that are done');
    command.option('-m, --mine', 'only your own');
    defineListing(command);
  },
  async run({ context, options }) {
    const api = await context.api();
    const owner = options.mine ? (await api.call('whoami')).name : null;
    const { batches } = await api.call('listBatches');
    const rows = batches.filter((batch) => {
      return (options.all || batch.state !== 'done') && (owner ?? batch.owner) === batch.owner;
    });
    const more = options.all ? '' : ' `weft batch list --all` lists those that are done.';
    const empty = options.all ? 'No batches.' : `No active batches.${more}`;
    const name = ({ title }: BatchView) => title;
    await context.list({ rows, columns: batchColumns(headNow()), name, empty }, options.output);
    return 0;
  },
});
