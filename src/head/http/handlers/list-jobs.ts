// Jobs newest first: those in memory, then those that only the history knows.

import type { JobView, ListJobsReply } from '../../../api/jobs.ts';
import { ok } from '../../../core/base/result.ts';
import { jobsInLine } from '../../../core/controller/answers/questions.ts';
import type { Job } from '../../../core/controller/jobs/facts.ts';
import type { JobId, UserName } from '../../../core/model/ids.ts';
import { siteJobOf, sourceOf } from '../../../core/model/job-source.ts';
import type { JobRow } from '../../../ports/history.ts';
import { type JobRecord, recordOf, recordOfRow } from '../../answers/job-record.ts';
import { jobState } from '../../answers/job-state.ts';
import { viewJob } from '../../answers/job-view.ts';
import { Reasons } from '../../answers/reasons.ts';
import { withLastRuns } from '../../answers/run-start.ts';
import type { Engine } from '../../engine.ts';
import type { Call, Handler } from '../call.ts';

const LIMIT_DEFAULT = 100;

type Query = Call<'listJobs'>['query'];

export const listJobs: Handler<'listJobs'> = async ({ engine }, { query, actor }) => {
  const limit = query.limit ?? LIMIT_DEFAULT;
  if (query.sort === 'priority') return ok(inLine({ engine, reader: actor.name }, query, limit));
  const below = query.before ?? Number.MAX_SAFE_INTEGER;
  // One more than asked for tells whether there is a next page.
  const live = liveJobs(engine, query, below).slice(-(limit + 1));
  const past = wantsPast(engine, query) ? await pastJobs(engine, query, limit + 1) : [];
  const reasons = new Reasons(engine, actor.name);
  const page = [...live.map(recordOf), ...past.map(recordOfRow)].sort((a, b) => b.id - a.id);
  const jobs: JobView[] = page.slice(0, limit).map((record) => viewJob(engine, record, reasons));
  const next = page.length > limit ? (jobs.at(-1)?.id ?? null) : null;
  return ok({ jobs: await withLastRuns(engine, jobs), next } satisfies ListJobsReply);
};

/** Those that wait for the scheduler, the first one first. */
function inLine(
  { engine, reader }: { engine: Engine; reader: UserName },
  query: Query,
  limit: number,
): ListJobsReply {
  const reasons = new Reasons(engine, reader);
  const jobs = jobsInLine(engine, limit + 1, (job) => isMatch(job, query));
  const shown = jobs.slice(0, limit).map((job) => viewJob(engine, recordOf(job), reasons));
  return { jobs: shown, next: null, more: jobs.length > limit };
}

/** Oldest first, as they stand in memory. */
function liveJobs({ state }: Engine, query: Query, below: number): Job[] {
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
  if (outcome !== undefined && job.outcome?.kind !== outcome) return false;
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
async function pastJobs({ state, store }: Engine, query: Query, limit: number): Promise<JobRow[]> {
  const found: JobRow[] = [];
  let below = query.before;
  while (found.length < limit) {
    const rows = await store.jobs({
      ...(query.owner === undefined ? {} : { owner: query.owner }),
      ...(query.name === undefined ? {} : { name: query.name }),
      ...(query.outcome === undefined ? {} : { outcome: query.outcome }),
      ...(below === undefined ? {} : { belowJobId: below }),
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
