// `weft jobs`: lists jobs.

import type { JobView, ListJobsReply } from '../../api/jobs.ts';
import { didYouMean } from '../../core/base/nearest-word.ts';
import { usage } from '../../core/model/failure.ts';
import { OUTCOMES, TASK_STATES } from '../../core/model/job.ts';
import { JOB_SOURCES } from '../../core/model/job-source.ts';
import type { Context } from '../context.ts';
import { jobColumns } from '../jobs/columns.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { defineVerb } from '../verb.ts';

interface Options extends ListingOptions {
  readonly all?: boolean;
  readonly mine?: boolean;
  readonly user?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly name?: string;
  readonly source?: string;
  readonly limit?: string;
  readonly sort?: string;
}

/** One page of the API. */
const PAGE_ROWS = 1000;
/** Orders of the list. */
export const SORTS = ['newest', 'priority'] as const;

export const verb = defineVerb<Options>({
  define(command) {
    command.option('-a, --all', 'also those that are done');
    command.option('-m, --mine', 'only your own');
    command.option('-u, --user <name>', "only this user's");
    command.option('-s, --state <state>', `only in this state: ${TASK_STATES.join(', ')}`);
    command.option('--outcome <outcome>', `only with this outcome: ${OUTCOMES.join(', ')}`);
    command.option('--name <name>', 'only with this name');
    command.option('--source <source>', `only from: ${JOB_SOURCES.join(', ')}`);
    command.option('--sort <order>', `${SORTS.join(' or ')}: those that wait, who starts first`);
    command.option('--limit <count>', 'at most this many', '100');
    defineListing(command);
  },
  async run({ context, options }) {
    const { jobs, isCut } = await fetchJobs(context, options);
    const listing = {
      rows: jobs,
      columns: jobColumns(Date.now()),
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

async function fetchJobs(context: Context, options: Options) {
  const api = await context.api();
  const limit = readLimit(options.limit ?? '100');
  const filter = {
    state: readState(options),
    owner: options.mine ? (await api.call('whoami')).name : options.user,
    outcome: choice('--outcome', options.outcome, OUTCOMES),
    name: options.name,
    source: choice('--source', options.source, JOB_SOURCES),
    sort: choice('--sort', options.sort, SORTS),
  };
  const jobs: JobView[] = [];
  let before: number | undefined;
  for (;;) {
    const query = { ...filter, before, limit: Math.min(PAGE_ROWS, limit - jobs.length) };
    const page: ListJobsReply = await api.call('listJobs', { query });
    jobs.push(...page.jobs);
    if (page.next === null) return { jobs, isCut: page.more === true };
    if (jobs.length >= limit) return { jobs, isCut: true };
    before = page.next;
  }
}

/** A list that ends at its limit must not pass for the whole. `what`: in the singular. */
export function cutWords(count: number, what: string): string {
  return `only ${count} ${count === 1 ? what : `${what}s`} shown; raise --limit`;
}

function readState(options: Options): string {
  if (options.state !== undefined) {
    return choice('--state', options.state, [...TASK_STATES, 'active', 'all']) ?? 'active';
  }
  return options.all || options.outcome !== undefined ? 'all' : 'active';
}

/** One of the known words, or nothing when none was given. */
export function choice(flag: string, word: string | undefined, known: readonly string[]) {
  if (word === undefined || known.includes(word)) return word;
  throw usage(`${flag}: '${word}' is unknown.${didYouMean(word, known)}`, known.join(', '));
}

/** A count of rows from 1. */
export function readLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usage(`--limit: '${text}' is not a count from 1`);
}
