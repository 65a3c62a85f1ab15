// `weft jobs`: lists jobs.

import { headNow } from '../../api/head-time.ts';
import type { JobView, ListJobsReply } from '../../api/jobs.ts';
import { ANY_FAILURE, JOB_ORDERS, OUTCOME_FILTERS } from '../../model/job.ts';
import { JOB_SOURCES } from '../../model/job-source.ts';
import type { Context } from '../context.ts';
import { jobColumns, withStatus } from '../jobs/columns.ts';
import { choice, cutWords, defineFailed, nameIn, readLimit } from '../jobs/row-options.ts';
import { readStateFilter, STATE_WORDS, type StateFilter } from '../jobs/state-filter.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { defineVerb } from '../verb.ts';

interface Options extends ListingOptions {
  readonly all?: boolean;
  readonly mine?: boolean;
  readonly user?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly failed?: boolean;
  readonly name?: string;
  readonly search?: string;
  readonly source?: string;
  readonly limit?: string;
  readonly sort?: string;
}

/** One page of the API. */
const PAGE_ROWS = 1000;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('[job]', 'one job, as `weft job` shows it');
    command.option('-a, --all', 'also those that are done');
    command.option('-m, --mine', 'only your own');
    command.option('-u, --user <name>', "only this user's");
    command.option('-s, --state <states>', `only in these states: ${STATE_WORDS.join(', ')}`);
    command.option(
      '--outcome <outcome>',
      `only with this outcome: ${OUTCOME_FILTERS.join(', ')} (any failure)`,
    );
    defineFailed(command, 'only what failed, in any way: --outcome failure', 'outcome');
    command.option('--name <name>', 'only with this name');
    command.option(
      '--search <words>',
      'only with all of these words in id, name, owner, state, partition, command or nodes',
    );
    command.option('--source <source>', `only from: ${JOB_SOURCES.join(', ')}`);
    command.option(
      '--sort <order>',
      `${JOB_ORDERS.join(' or ')}: those that wait, who starts first`,
    );
    command.option('--limit <count>', 'at most this many', '100');
    defineListing(command);
  },
  async run({ context, args: [id], options }) {
    if (id !== undefined) return oneJob(context, id, options);
    const { jobs, isCut } = await fetchJobs(context, options);
    const listing = {
      rows: jobs.map(withStatus),
      columns: jobColumns(headNow()),
      name: (job: JobView) => String(job.id),
      empty: options.all
        ? 'No jobs.'
        : 'No active jobs. `weft jobs --all` lists those that are done.',
    };
    await context.list(listing, options.output);
    if (isCut) context.note(cutWords(jobs.length, 'job'));
    return 0;
  },
});

/** `weft jobs 4`: whoever types a number wants that job. */
async function oneJob(context: Context, id: string, options: Options): Promise<number> {
  const { output } = options;
  const { verb: job } = await import('./job.ts');
  return job.run({ context, args: [id], options: { output } });
}

async function fetchJobs(context: Context, options: Options) {
  const api = await context.api();
  const limit = readLimit(options.limit ?? '100');
  const wish = readState(options);
  const outcome = outcomeFilter(options);
  const filter = {
    ...wish.query,
    owner: options.mine ? (await api.call('whoami')).name : nameIn('--user', options.user),
    ...(outcome === undefined ? {} : { outcome }),
    name: nameIn('--name', options.name),
    search: options.search,
    source: choice('--source', options.source, JOB_SOURCES),
    sort: choice('--sort', options.sort, JOB_ORDERS),
  };
  const jobs: JobView[] = [];
  let before: number | undefined;
  for (;;) {
    const query = { ...filter, before, limit: Math.min(PAGE_ROWS, limit - jobs.length) };
    const page: ListJobsReply = await api.call('listJobs', { query });
    jobs.push(...(wish.isMeant === null ? page.jobs : page.jobs.filter(wish.isMeant)));
    if (page.next === null) return { jobs, isCut: page.more === true };
    if (jobs.length >= limit) return { jobs, isCut: true };
    before = page.next;
  }
}

function outcomeFilter({ failed, outcome }: Options): string | undefined {
  return failed ? ANY_FAILURE : choice('--outcome', outcome, OUTCOME_FILTERS);
}

function readState(options: Options): StateFilter {
  const isAll = options.all || outcomeFilter(options) !== undefined;
  return readStateFilter('--state', options.state ?? (isAll ? 'all' : 'active'));
}
