// One job in full, and why it is where it is.

import type { ExplainReply, JobDetail, JobView } from '../../../api/jobs.ts';
import { ok } from '../../../base/result.ts';
import { asSentence } from '../../../base/sentence.ts';
import { pendingOf } from '../../../machine/answers/explain.ts';
import { expect } from '../../../machine/answers/questions.ts';
import { hasRole, type UserActor } from '../../../model/actor.ts';
import { formatTaskId } from '../../../model/ids.ts';
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
import { findJob, findNamed } from '../find-job.ts';
import type { Explained } from '../services.ts';
import { viewTasks } from './list-tasks.ts';

/** Ended epochs read at a time of a job that has left memory. */
const USAGE_ROWS = 10_000;

export const getJob: Handler<'getJob'> = async (services, { params, actor }) => {
  const { engine, archive } = services;
  const named = await findNamed(engine, params.id);
  if (!named.ok) return named;
  const { record } = named.value;
  const view = viewJob(engine, record, new Reasons(engine, actor.name));
  const usage = record.live?.usage ?? (await usageOf(engine, record));
  const isOwner = record.owner === actor.name;
  const views = services.answerParts.map((part) => part.viewJob?.(services, record, isOwner));
  const more: Partial<JobDetail> = Object.assign({}, ...views);
  const mayRead = isOwner || hasRole(actor, 'operator');
  const outputs = mayRead ? await archive.amounts(record.id) : null;
  const memoryNow = record.live === null ? null : memoryNowOf(engine.state, record.live);
  const detail = viewJobDetail(view, record, { isOwner, usage, memoryNow, outputs, more });
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

export const explainJob: Handler<'explainJob'> = async (services, { params, actor }) => {
  const { engine, answerParts } = services;
  const named = await findNamed(engine, params.id);
  if (!named.ok) return named;
  const ended = await explainEnded(engine, named.value);
  const { reply, placed } = ended ?? explain(engine, named.value, actor);
  const explained = { record: named.value.record, placed, reply };
  const more = answerParts.flatMap((part) => part.explain?.(services, explained) ?? []);
  return ok({ ...reply, words: [reply.words, ...more].join('\n') });
};

/** `Explained.placed`, and what is said by the kernel. */
type Explanation = Pick<Explained, 'placed' | 'reply'>;

interface Named {
  readonly record: JobRecord;
  readonly index: number | undefined;
}

/** How one task of an array ended, unlike its job perhaps; null: it has not, or is none. */
async function explainEnded(engine: Engine, { record, index }: Named): Promise<Explanation | null> {
  const isOne = record.spec.array !== null && index !== undefined;
  if (!isOne || (record.live !== null && endedAs(record.live, index) === undefined)) return null;
  await engine.settled();
  const [task] = await viewTasks(engine, record, [index]);
  if (task === undefined) return null;
  const detail = task.epoch === 0 ? await brokenBy(engine, record, index) : null;
  const outcome =
    task.outcome === null || detail === null ? task.outcome : { ...task.outcome, detail };
  return unplaced(explainView({ ...task, outcome }));
}

/**
 * The task of another array that this one waited for, and that did not complete; null: none. That
 * need not be why this one ended: who cancels both may begin with either.
 */
async function brokenBy(
  engine: Engine,
  { spec, endedAt }: JobRecord,
  index: number,
): Promise<string | null> {
  for (const { jobId: on, condition } of spec.dependencies) {
    if (condition !== 'each') continue;
    const other = await findJob(engine, on);
    const [task] = other.ok ? await viewTasks(engine, other.value, [index]) : [];
    const kind = task?.outcome?.kind ?? 'completed';
    const isLater = endedAt !== null && (task?.endedAt ?? endedAt) > endedAt;
    if (kind !== 'completed' && !isLater) {
      return `it waited for task ${formatTaskId(on, index)}, which has ended as ${kind}`;
    }
  }
  return null;
}

function explain(engine: Engine, { record, index }: Named, actor: UserActor): Explanation {
  const { live: job } = record;
  const reasons = new Reasons(engine, actor.name);
  if (job === null) return unplaced(explainView(viewJob(engine, record, reasons)));
  const waiting = index ?? firstPending(job);
  const isWhole = index === undefined || job.outcome !== null;
  const view = isWhole
    ? viewJob(engine, record, reasons)
    : viewLiveTask(engine, job, index, reasons);
  if (view.reason === null || waiting === undefined) {
    const placed = index ?? (job.spec.array === null ? 0 : undefined);
    return { reply: explainView(view), placed };
  }
  if (view.reason.kind === 'head_stuck') {
    const words = asSentence(`It is ${view.state.replaceAll('_', ' ')}: ${view.reason.words}`);
    return unplaced({ state: view.state, reason: view.reason, ...NO_PROSPECT, words });
  }
  // Neither is a matter of the plan any more.
  const isPlaced = view.reason.kind === 'site' || view.reason.kind === 'next';
  if (isPlaced) return { reply: explainView(view), placed: waiting };
  const about = view.nodes.length > 0 ? 'next_task' : 'task';
  const ahead = expect(engine, pendingOf(job, waiting));
  const expected = viewLookAhead(ahead, about, actor.name);
  if (about === 'task') return unplaced({ state: view.state, ...expected });
  const runs = explainView({ ...view, reason: null }).words;
  return unplaced({ state: view.state, ...expected, words: `${runs} ${expected.words}` });
}

function unplaced(reply: ExplainReply): Explanation {
  return { reply, placed: undefined };
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
