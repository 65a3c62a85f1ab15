// `weft batch show`: how a batch stands, and each of its jobs.

import { headNow } from '../../../../kernel/api/head-time.ts';
import { cutWords, defineFailed, readLimit } from '../../../../kernel/cli/jobs/row-options.ts';
import { defineListing, type ListingOptions } from '../../../../kernel/cli/output/listing.ts';
import { formatOne } from '../../../../kernel/cli/output/one.ts';
import { formatTable } from '../../../../kernel/cli/output/table.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { isFailure } from '../../../../kernel/model/job.ts';
import type { BatchJobView } from '../../api/batches.ts';
import { batchJobs } from './batch-jobs.ts';
import { BATCH_OPERAND, batchParams } from './batch-name.ts';
import { batchJobColumns, batchLines } from './columns.ts';

interface Options extends ListingOptions {
  readonly limit?: string;
  readonly failed?: boolean;
}

export const show = defineVerb<Options>({
  define(command) {
    command.argument('<batch>', BATCH_OPERAND);
    defineFailed(command, 'only its jobs that failed, in any way');
    command.option('--limit <count>', 'at most this many of its jobs', '100');
    defineListing(command);
  },
  async run({ context, args: [text = ''], options }) {
    const params = await batchParams(context, text);
    const api = await context.api();
    const batch = await api.call('getBatch', { params });
    const limit = readLimit(options.limit ?? '100');
    const isFailed = ({ outcome }: BatchJobView) => outcome !== null && isFailure(outcome);
    const all = await batchJobs(api, params, options.failed ? batch.jobCount : limit);
    const meant = options.failed ? all.filter(isFailed) : all;
    const jobs = meant.slice(0, limit);
    const whole = { ...batch, jobs };
    const now = headNow();
    const which = options.output === 'wide' ? 'all' : 'main';
    const inWords = () => [
      ...batchLines(batch, now),
      '',
      ...formatTable(batchJobColumns(now), jobs, which, context.look),
    ];
    const output = options.output === 'wide' ? undefined : options.output;
    for (const line of formatOne(whole, output, batch.title, inWords)) context.print(line);
    if (jobs.length < (options.failed ? meant.length : batch.jobCount))
      context.note(cutWords(jobs.length, 'job'));
    return 0;
  },
});
