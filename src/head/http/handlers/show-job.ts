// One job in full, and why it is where it is.

import type { ExplainReply, JobDetail, JobView } from '../../../api/jobs.ts';
import { formatInstant } from '../../../core/base/instant.ts';
import { ok } from '../../../core/base/result.ts';
import type { Engine } from '../../engine.ts';
import { pendingOf } from '../../explain.ts';
import { expect } from '../../questions.ts';
import { addressed } from '../../views/addressed.ts';
import type { JobRecord } from '../../views/job-record.ts';
import { endedAs, firstPending } from '../../views/job-state.ts';
import { viewJob, viewJobDetail } from '../../views/job-view.ts';
import { NO_PROSPECT, viewLookAhead } from '../../views/prospect-view.ts';
import { Reasons } from '../../views/reasons.ts';
import { withLastRuns } from '../../views/run-start.ts';
import { viewLiveTask } from '../../views/task-view.ts';
import type { Handler } from '../call.ts';
import { findNamed } from '../find-job.ts';

/** Ended epochs read at a time of a job that has left memory. */
const USAGE_ROWS = 10_000;

export const getJob: Handler<'getJob'> = async ({ engine }, { params, actor }) => {
  const named = await findNamed(engine, params.id);
  if (!named.ok) return named;
  const { record } = named.value;
  const view = viewJob(engine, record, new Reasons(engine, actor.name));
  const usage = record.live?.usage ?? (await usageOf(engine, record));
  const detail = viewJobDetail(view, record, { isOwner: record.owner === actor.name, usage });
  return ok(await detailOf(engine, detail));
};

async function detailOf(engine: Engine, detail: JobDetail): Promise<JobDetail> {
  const [whole = detail] = await withLastRuns(engine, [detail]);
  return whole;
}

export const explainJob: Handler<'explainJob'> = async ({ engine }, { params, actor }) => {
  const named = await findNamed(engine, params.id);
  if (!named.ok) return named;
  const { record, index } = named.value;
  const { live: job } = record;
  const reasons = new Reasons(engine, actor.name);
  if (job === null) return ok(explainView(viewJob(engine, record, reasons)));
  const waiting = index ?? firstPending(job);
  const kind = index === undefined ? undefined : endedAs(job, index);
  if (kind !== undefined && job.outcome === null) {
    return ok({ state: 'done', reason: null, ...NO_PROSPECT, words: `It ended: ${kind}.` });
  }
  const isWhole = index === undefined || job.outcome !== null;
  const view = isWhole
    ? viewJob(engine, record, reasons)
    : viewLiveTask(engine, job, index, reasons);
  if (view.reason === null || waiting === undefined) return ok(explainView(view));
  const about = view.nodes.length > 0 ? 'next_task' : 'task';
  const ahead = expect(engine, pendingOf(job, waiting));
  const reason = addressed(ahead.reason, job.owner, actor.name);
  const expected = viewLookAhead({ ...ahead, reason }, about);
  if (about === 'task') return ok({ state: view.state, ...expected });
  const runs = explainView({ ...view, reason: null }).words;
  return ok({ state: view.state, ...expected, words: `${runs} ${expected.words}` });
};

type Explained = Pick<
  JobView,
  'state' | 'outcome' | 'reason' | 'notice' | 'nodes' | 'startedAt' | 'endedAt'
>;

function explainView(view: Explained): ExplainReply {
  const { state, reason } = view;
  return { state, reason, ...NO_PROSPECT, words: wordsOf(view) };
}

function wordsOf({ state, outcome, notice, nodes, startedAt, endedAt }: Explained): string {
  if (outcome !== null) {
    const when = endedAt === null ? '' : ` at ${formatInstant(endedAt)}`;
    const detail = outcome.detail === null ? '' : ` (${outcome.detail})`;
    return `It is done${when}: ${outcome.kind}${detail}.`;
  }
  const words: string[] = [];
  if (nodes.length > 0) {
    const since = startedAt === null ? '' : ` since ${formatInstant(startedAt)}`;
    words.push(`It is ${state.replaceAll('_', ' ')} on ${nodes.join(', ')}${since}.`);
  }
  if (notice !== null) words.push(notice);
  return words.length === 0 ? `It is ${state.replaceAll('_', ' ')}.` : words.join(' ');
}

async function usageOf({ store }: Engine, { id }: JobRecord): Promise<JobDetail['usage']> {
  const usage = { userUs: 0, systemUs: 0, memoryPeakBytes: 0 };
  let rest = {};
  for (;;) {
    const rows = await store.tasks({ jobIds: [id], ...rest, limit: USAGE_ROWS });
    for (const row of rows) {
      usage.userUs += row.userUs;
      usage.systemUs += row.systemUs;
      usage.memoryPeakBytes = Math.max(usage.memoryPeakBytes, row.memoryPeakBytes);
    }
    const afterTask = rows.at(-1);
    if (afterTask === undefined || rows.length < USAGE_ROWS) return usage;
    rest = { afterTask };
  }
}
