// Jobs newest first: those in memory, then those that only the history knows.

import type { JobView, ListJobsReply } from '../../../api/jobs.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { hasWords, searchWordsOf } from '../../../base/search-words.ts';
import { jobsInLine } from '../../../machine/answers/questions.ts';
import type { Job } from '../../../machine/jobs/facts.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import type { JobId, UserName } from '../../../model/ids.ts';
import { isOutcome } from '../../../model/job.ts';
import { siteJobOf, sourceOf } from '../../../model/job-source.ts';
import type { JobRow } from '../../../ports/history.ts';
import { columnsOf } from '../../answers/job-columns.ts';
import { type JobRecord, recordOf, recordOfRow } from '../../answers/job-record.ts';
import { jobState } from '../../answers/job-state.ts';
import { nodesOf, viewJob } from '../../answers/job-view.ts';
import { Reasons } from '../../answers/reasons.ts';
import { withLastRuns } from '../../answers/run-start.ts';
import type { Engine } from '../../engine.ts';
import { formatCommand } from '../../program-line.ts';
import type { Call, Handler } from '../call.ts';

const LIMIT_DEFAULT = 100;
/** Jobs whose words are looked at for one answer: some 20 ms of the head, and of its store. */
const SEARCHED_MAX = 10_000;

type Query = Call<'listJobs'>['query'];

export const listJobs: Handler<'listJobs'> = async ({ engine }, { query, actor }) => {
  const limit = query.limit ?? LIMIT_DEFAULT;
  if (query.columns === true) return inColumns({ engine, reader: actor.name }, query, limit);
  if (query.sort === 'priority') return ok(inLine({ engine, reader: actor.name }, query, limit));
  // One more than asked for tells whether there is a next page.
  const live = newest(engine, query, limit + 1);
  const isPastWanted = wantsPast(engine, query);
  const from = isPastWanted ? Math.max(live.from, floorOf(engine, query)) : live.from;
  const past = isPastWanted ? await pastJobs(engine, { query, from }, limit + 1) : [];
  const reasons = new Reasons(engine, actor.name);
  const page = [...live.jobs.map(recordOf), ...past.map(recordOfRow)]
    .filter(({ id }) => id >= from)
    .sort((a, b) => b.id - a.id);
  const jobs: JobView[] = page.slice(0, limit).map((record) => viewJob(engine, record, reasons));
  const last = page.length > limit ? (jobs.at(-1)?.id ?? 0) : from;
  const next = last > 1 ? last : null;
  const reply: ListJobsReply = { jobs: await withLastRuns(engine, jobs), next };
  const { owner } = query;
  // Only operators hear which users have a token or a role (listUsers).
  const isTold = owner === actor.name || actor.role !== 'user';
  if (jobs.length === 0 && owner !== undefined && isTold)
    reply.ownerIsKnown = owner === actor.name || isKnown(engine, owner);
  return ok(reply);
};

/** Users without a role and without jobs may have a token. */
function isKnown({ state }: Engine, name: string): boolean {
  if (state.users.has(name as UserName)) return true;
  for (const { purpose, user } of state.tokens.values())
    if (purpose === 'user' && user === name) return true;
  return false;
}

/** A page of jobs as columns. Done jobs are refused: those in the history have no columns. */
function inColumns(
  { engine, reader }: { engine: Engine; reader: UserName },
  query: Query,
  limit: number,
): Result<ListJobsReply, Refusal> {
  const { state = 'all', sort } = query;
  if (state === 'all' || state === 'done' || sort !== undefined) {
    const what = 'query: columns are of jobs that are not done, the newest first: say state=active';
    return err(refuse('argument.invalid', { what }));
  }
  const { jobs, from } = newest(engine, query, limit + 1);
  const shown = jobs.slice(-limit).reverse();
  const last = jobs.length > limit ? (shown.at(-1)?.id ?? 0) : from;
  const columns = columnsOf(shown, new Reasons(engine, reader));
  return ok({ jobs: [], columns, next: last > 1 ? last : null });
}

/** No job below this id is looked at now; 0: all may be. */
function floorOf({ state }: Engine, { before, search = '' }: Query): number {
  const top = Math.min(before ?? state.nextJobId, state.nextJobId);
  return search === '' ? 0 : Math.max(0, top - SEARCHED_MAX);
}

/** The newest jobs in memory that are meant; they ascend. `from`: how far down was looked. */
function newest(engine: Engine, query: Query, max: number): { jobs: Job[]; from: number } {
  const words = searchWordsOf(query.search ?? '');
  if (words.length === 0) return { jobs: newestLive(engine, query, max), from: 0 };
  const jobs = liveJobs(engine, query);
  const found: Job[] = [];
  for (let at = jobs.length - 1; at >= 0 && found.length < max; at -= 1) {
    const job = jobs[at] as Job;
    if (jobs.length - at > SEARCHED_MAX) return { jobs: found, from: job.id + 1 };
    if (hasWords(searchTextOf(job), words)) found.push(job);
  }
  return { jobs: found, from: 0 };
}

/** The same as of a row, and where it runs. */
function searchTextOf(job: Job): string {
  const { id, spec, owner, outcome, held } = job;
  const state = jobState(job);
  const word = outcome?.kind ?? (held && state === 'pending' ? 'held' : state);
  const text = [id, spec.name, owner, spec.partition, formatCommand(spec), word];
  return [...text, ...nodesOf(job)].join('\n');
}

/** Those that wait for the scheduler, the first one first. */
function inLine(
  { engine, reader }: { engine: Engine; reader: UserName },
  query: Query,
  limit: number,
): ListJobsReply {
  const reasons = new Reasons(engine, reader);
  const words = searchWordsOf(query.search ?? '');
  const isWanted = (job: Job): boolean =>
    isMatch(job, query) && (words.length === 0 || hasWords(searchTextOf(job), words));
  const jobs = jobsInLine(engine, limit + 1, isWanted);
  const shown = jobs.slice(0, limit).map((job) => viewJob(engine, recordOf(job), reasons));
  return { jobs: shown, next: null, more: jobs.length > limit };
}

/** Ids without a job between two jobs, for each job in memory, until all jobs are walked. */
const GAPS_MAX = 4;

/** The newest so many, oldest first: whoever reads on by pages has not all jobs walked for each. */
function newestLive(engine: Engine, query: Query, max: number): Job[] {
  const { jobs, nextJobId } = engine.state;
  const found: Job[] = [];
  const top = Math.min(query.before ?? nextJobId, nextJobId) - 1;
  const bottom = top - GAPS_MAX * jobs.size;
  for (let id = top; id > 0 && found.length < max; id -= 1) {
    if (id < bottom) return liveJobs(engine, query).slice(-max);
    const job = jobs.get(id as JobId);
    if (job !== undefined && isMatch(job, query)) found.push(job);
  }
  return found.reverse();
}

/** Oldest first, as they stand in memory. */
function liveJobs({ state }: Engine, query: Query): Job[] {
  const below = query.before ?? Number.MAX_SAFE_INTEGER;
  const found: Job[] = [];
  for (const job of state.jobs.values()) {
    if (job.id < below && isMatch(job, query)) found.push(job);
  }
  return found;
}

function isMatch(job: Job, query: Query): boolean {
  const { state, owner, name, outcome } = query;
  if (!isFrom(job, query)) return false;
  if (owner !== undefined && job.owner !== owner) return false;
  if (name !== undefined && job.spec.name !== name) return false;
  if (outcome !== undefined && !isOutcome(job.outcome?.kind ?? null, outcome)) return false;
  if (state === undefined || state === 'all') return true;
  return state === 'active' ? job.outcome === null : jobState(job) === state;
}

function isFrom({ spec }: Pick<JobRecord, 'spec'>, { source, siteJob }: Query): boolean {
  if (source !== undefined && sourceOf(spec) !== source) return false;
  return siteJob === undefined || siteJobOf(spec) === siteJob;
}

/** Only done jobs leave memory, and only when there are many. */
function wantsPast({ state: { jobs, nextJobId } }: Engine, { state = 'all' }: Query): boolean {
  return (state === 'all' || state === 'done') && jobs.size < nextJobId - 1;
}

/** Rows of jobs that are not in memory. The history has the others too; those are passed over. */
async function pastJobs(
  { state, store }: Engine,
  { query, from }: { readonly query: Query; readonly from: number },
  limit: number,
): Promise<JobRow[]> {
  const words = searchWordsOf(query.search ?? '');
  const found: JobRow[] = [];
  let below = query.before;
  while (found.length < limit) {
    const rows = await store.jobs({
      ...(query.owner === undefined ? {} : { owner: query.owner }),
      ...(query.name === undefined ? {} : { name: query.name }),
      ...(query.outcome === undefined ? {} : { outcome: query.outcome }),
      ...(below === undefined ? {} : { belowJobId: below }),
      ...(words.length === 0 ? {} : { words, fromJobId: from }),
      state: 'done',
      limit,
    });
    for (const row of rows) {
      if (!state.jobs.has(row.jobId as JobId) && isFrom(recordOfRow(row), query)) found.push(row);
    }
    if (rows.length < limit) break;
    below = rows.at(-1)?.jobId;
  }
  return found.slice(0, limit);
}
