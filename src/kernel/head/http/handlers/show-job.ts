// One job in full, and why it is where it is.

import { viewDeliveries } from '../../../../wings/notify/head/notification-view.ts';
import { choiceWords } from '../../../../wings/sites/head/brokerage.ts';
import type { ExplainReply, JobDetail, JobView } from '../../../api/jobs.ts';
import { ok } from '../../../base/result.ts';
import { asSentence } from '../../../base/sentence.ts';
import { pendingOf } from '../../../machine/answers/explain.ts';
import { expect } from '../../../machine/answers/questions.ts';
import type { Job } from '../../../machine/jobs/facts.ts';
import { hasRole, type UserActor } from '../../../model/actor.ts';
import type { JobRecord } from '../../answers/job-record.ts';
import { endedAs, firstPending } from '../../answers/job-state.ts';
import { viewJob, viewJobDetail } from '../../answers/job-view.ts';
import { memoryNowOf } from '../../answers/memory.ts';
import { NO_PROSPECT, viewLookAhead } from '../../answers/prospect-view.ts';
import { Reasons } from '../../answers/reasons.ts';
import { withLastRuns } from '../../answers/run-start.ts';
import { viewLiveTask } from '../../answers/task-view.ts';
import { type Standing, sayStanding } from '../../answers/words/standing.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';
import { findNamed } from '../find-job.ts';
import { viewTasks } from './list-tasks.ts';

/** Ended epochs read at a time of a job that has left memory. */
const USAGE_ROWS = 10_000;

export const getJob: Handler<'getJob'> = async ({ engine, archive }, { params, actor }) => {
  const named = await findNamed(engine, params.id);
  if (!named.ok) return named;
  const { record } = named.value;
  const view = viewJob(engine, record, new Reasons(engine, actor.name));
  const usage = record.live?.usage ?? (await usageOf(engine, record));
  const notifications = viewDeliveries({ state: engine.state, at: engine.now() }, record);
  const isOwner = record.owner === actor.name;
  const mayRead = isOwner || hasRole(actor, 'operator');
  const outputs = mayRead ? await archive.amounts(record.id) : null;
  const memoryNow = record.live === null ? null : memoryNowOf(engine.state, record.live);
  const own = { isOwner, usage, memoryNow, notifications, outputs };
  const detail = viewJobDetail(view, record, own);
  return ok(withRetries(engine, await detailOf(engine, detail)));
};

/** Looked for only where there can be some. */
function withRetries({ state }: Engine, detail: JobDetail): JobDetail {
  if (detail.outcome === null) return detail;
  const retries: number[] = [];
  for (const { id, spec } of state.jobs.values())
    if (spec.retry?.of === detail.id) retries.push(id);
  return retries.length === 0 ? detail : { ...detail, retries };
}

async function detailOf(engine: Engine, detail: JobDetail): Promise<JobDetail> {
  const [whole = detail] = await withLastRuns(engine, [detail]);
  return whole;
}

export const explainJob: Handler<'explainJob'> = async ({ engine, calls }, { params, actor }) => {
  const named = await findNamed(engine, params.id);
  if (!named.ok) return named;
  const reply = (await explainEnded(engine, named.value)) ?? explain(engine, named.value, actor);
  const waits = calls.of(named.value.record.id)?.waits ?? null;
  if (waits === null) return ok(reply);
  return ok({ ...reply, words: `${reply.words}\nOf its calls some wait: ${waits}.` });
};

interface Named {
  readonly record: JobRecord;
  readonly index: number | undefined;
}

/** How one task of an array ended, which need not be how its job did; null: it has not, or is no such. */
async function explainEnded(
  engine: Engine,
  { record, index }: Named,
): Promise<ExplainReply | null> {
  const isOne = record.spec.array !== null && index !== undefined;
  if (!isOne || (record.live !== null && endedAs(record.live, index) === undefined)) return null;
  await engine.settled();
  const [task] = await viewTasks(engine, record, [index]);
  return task === undefined ? null : explainView(task);
}

function explain(engine: Engine, { record, index }: Named, actor: UserActor): ExplainReply {
  const { live: job } = record;
  const reasons = new Reasons(engine, actor.name);
  if (job === null) return explainView(viewJob(engine, record, reasons));
  const waiting = index ?? firstPending(job);
  const isWhole = index === undefined || job.outcome !== null;
  const view = isWhole
    ? viewJob(engine, record, reasons)
    : viewLiveTask(engine, job, index, reasons);
  if (view.reason === null || waiting === undefined) {
    const placed = index ?? (job.spec.array === null ? 0 : undefined);
    return withSite(explainView(view), engine, job, placed);
  }
  if (view.reason.kind === 'head_stuck') {
    const words = asSentence(`It is ${view.state.replaceAll('_', ' ')}: ${view.reason.words}`);
    return { state: view.state, reason: view.reason, ...NO_PROSPECT, words };
  }
  if (view.reason.kind === 'site') return withSite(explainView(view), engine, job, waiting);
  const about = view.nodes.length > 0 ? 'next_task' : 'task';
  const ahead = expect(engine, pendingOf(job, waiting));
  const expected = viewLookAhead(ahead, about, actor.name);
  if (about === 'task') return { state: view.state, ...expected };
  const runs = explainView({ ...view, reason: null }).words;
  return { state: view.state, ...expected, words: `${runs} ${expected.words}` };
}

/** Why the task is where it is, also in the queue there, when sites were compared for it. */
function withSite(
  reply: ExplainReply,
  { state }: Engine,
  job: Job,
  index: number | undefined,
): ExplainReply {
  const choice = index === undefined ? undefined : state.scratch.brokerage.choiceOf(job, index);
  const isPlaced = reply.state !== 'pending' || reply.reason?.kind === 'site';
  if (choice === undefined || !isPlaced || reply.state === 'done') return reply;
  return { ...reply, words: `${reply.words}\n${choiceWords(choice)}` };
}

function explainView(view: Standing & Pick<JobView, 'reason'>): ExplainReply {
  const { state, reason } = view;
  return { state, reason, ...NO_PROSPECT, words: sayStanding(view) };
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
