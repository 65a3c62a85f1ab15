// Batches: submitted and changed as the controller allows, shown to all users.

import type { DeliveryView } from '../../../kernel/api/delivery.ts';
import { submissionKey } from '../../../kernel/api/submission.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { Engine } from '../../../kernel/head/engine.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { findJob } from '../../../kernel/head/http/find-job.ts';
import { changed } from '../../../kernel/head/http/handlers/job-actions.ts';
import { viewTasks } from '../../../kernel/head/http/handlers/list-tasks.ts';
import { checkFiles } from '../../../kernel/head/http/handlers/submit.ts';
import { validate } from '../../../kernel/head/http/validate.ts';
import type { Reply } from '../../../kernel/machine/reply.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { type Actor, hasRole } from '../../../kernel/model/actor.ts';
import { type BatchRef, parseBatch } from '../../../kernel/model/batch.ts';
import type { BlobHash } from '../../../kernel/model/blob.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import { formatTaskId } from '../../../kernel/model/ids.ts';
import type { Outcome } from '../../../kernel/model/job.ts';
import { viewDeliveries } from '../../notify/head/notification-view.ts';
import { type BatchJobView, type BatchView, batchTitleOf } from '../api/batches.ts';
import type { Batch } from '../machine/facts.ts';
import { findBatch, ownBatch } from '../machine/find.ts';
import { currentParts, failedNumbers, standingOf } from '../machine/standing.ts';
import { readBuildLogs } from './build-logs.ts';

export const submitBatch: Handler<'submitBatch'> = async ({ engine, jobFiles }, call) => {
  const header = call.incoming.headers['idempotency-key'];
  const key = validate(submissionKey.optional(), header, 'header Idempotency-Key');
  if (!key.ok) return key;
  for (const { submission } of call.body.parts) {
    const lacking = await checkFiles(jobFiles, call.actor, submission.staging?.inputs);
    if (lacking !== null) return err(lacking);
  }
  // What many jobs take to be decided about is a turn of its own.
  await new Promise(setImmediate);
  const command = {
    kind: 'submit_batch',
    ...call.body,
    key: (header as string | undefined) ?? null,
  } as const;
  return submitted(engine, await engine.execute(command, call.actor));
};

export const listBatches: Handler<'listBatches'> = ({ engine: { state } }) => {
  const batches = [...state.batches.values()].reverse();
  const newest = new Map<string, number>();
  for (const batch of batches) {
    const name = nameOf(batch);
    newest.set(name, Math.max(newest.get(name) ?? 0, batch.version));
  }
  const isNewest = (batch: Batch): boolean => newest.get(nameOf(batch)) === batch.version;
  return ok({ batches: batches.map((batch) => viewBatch(state, batch, isNewest(batch))) });
};

export const getBatch: Handler<'getBatch'> = async ({ engine, archive }, { params, actor }) => {
  const found = find(engine.state, params);
  if (!found.ok) return found;
  const { owner, parts } = found.value;
  const mayRead = owner === actor.name || hasRole(actor, 'operator');
  const jobIds = parts.map(({ jobId }) => jobId);
  // Seen first: what is kept of a job that is done by then is counted after it.
  const view = viewBatch(engine.state, found.value);
  const outputs = mayRead ? await archive.amountsOfAll(jobIds) : null;
  const isOwner = owner === actor.name;
  const notifications = isOwner ? viewBatchDeliveries(engine, found.value) : null;
  const readyBuilds = [...(found.value.build?.ready ?? [])];
  return ok({ ...view, readyBuilds, outputs, notifications });
};

/** Whom each of its jobs would say. */
function viewBatchDeliveries(engine: Engine, { parts }: Batch): DeliveryView[] {
  const live = parts.flatMap(({ jobId }) => engine.state.jobs.get(jobId) ?? []).at(-1);
  return live === undefined ? [] : viewDeliveries({ state: engine.state, at: engine.now() }, live);
}

const PAGE_JOBS = 100;

export const listBatchJobs: Handler<'listBatchJobs'> = async ({ engine }, { params, query }) => {
  const found = find(engine.state, params);
  if (!found.ok) return found;
  // What has just ended must be in the history before it is looked up there.
  await engine.settled();
  const batch = found.value;
  const { after = -1, limit = PAGE_JOBS, name } = query;
  const numbers: number[] = [];
  for (let number = after + 1; number < batch.jobs.length && numbers.length <= limit; number += 1) {
    if (name === undefined || batch.jobs[number]?.name === name) numbers.push(number);
  }
  const shown = numbers.slice(0, limit);
  const jobs = await viewJobs(engine, batch, new Set(shown));
  return ok({ jobs, next: numbers.length > limit ? (shown.at(-1) ?? null) : null });
};

export const listBuildLogs: Handler<'listBuildLogs'> = async (
  { engine, archive },
  { params, actor },
) => {
  const ref = refOf(params);
  if (!ref.ok) return ref;
  const found = ownBatch(engine.state, ref.value, actor);
  if (!found.ok) return found;
  const { namespace, name, version, owner, createdAt: begunAt } = found.value;
  return ok({
    logs: await readBuildLogs(archive.places, { namespace, name, version, owner, begunAt }),
  });
};

export const cancelBatch: Handler<'cancelBatch'> = ({ engine }, call) =>
  act(engine, call, 'cancel_batch');

export const retryBatch: Handler<'retryBatch'> = async (
  { engine, jobFiles },
  { params, actor },
) => {
  const ref = refOf(params);
  if (!ref.ok) return ref;
  const found = findBatch(engine.state, ref.value);
  // Of another's batch nobody is told which files are there.
  const isTheirs = found.ok && found.value.owner === actor.name;
  for (const inputs of isTheirs ? inputsToRetry(engine.state, found.value) : []) {
    const lacking = await checkFiles(jobFiles, actor, inputs);
    if (lacking !== null) return err(lacking);
  }
  return submitted(engine, await engine.execute({ kind: 'retry_batch', batch: ref.value }, actor));
};

export const rebuildBatch: Handler<'rebuildBatch'> = ({ engine }, call) =>
  act(engine, call, 'rebuild_batch');

export const removeBatch: Handler<'removeBatch'> = async ({ engine, archive }, call) => {
  const found = find(engine.state, call.params);
  if (!found.ok) return found;
  const { parts } = found.value;
  const { title, ...batch } = titled(engine.state, found.value);
  const reply = changed(await engine.execute({ kind: 'remove_batch', batch }, call.actor));
  if (!reply.ok) return reply;
  const jobIds = call.query.keep ? [] : parts.map(({ jobId }) => jobId);
  const { tasks, files, bytes } = await archive.removeBatch(batch, jobIds);
  return ok({ title, ...reply.value, removed: { tasks, files, bytes } });
};

/** On the version that it names in its answer, whatever becomes the newest meanwhile. */
async function act(
  engine: Engine,
  { params, actor }: { readonly params: Params; readonly actor: Actor },
  kind: 'cancel_batch' | 'rebuild_batch',
) {
  const found = find(engine.state, params);
  if (!found.ok) return found;
  const { title, ...batch } = titled(engine.state, found.value);
  const reply = changed(await engine.execute({ kind, batch }, actor));
  return reply.ok ? ok({ title, ...reply.value }) : reply;
}

/**
 * A first version that is not the newest any more needs its number: its name alone is another one.
 */
function titled(state: State, batch: Batch, isNewest = isNewestOf(state, batch)) {
  const named = batchTitleOf(batch);
  return batch.version === 1 && !isNewest ? { ...named, title: `${named.title}@1` } : named;
}

function isNewestOf(state: State, { namespace, name, version }: Batch): boolean {
  const newest = findBatch(state, { namespace, name, version: null });
  return newest.ok && newest.value.version === version;
}

/** Common to all versions. */
function nameOf({ namespace, name }: Batch): string {
  return `${namespace}/${name}`;
}

interface Params {
  readonly namespace: string;
  readonly name: string;
}

function refOf({ namespace, name }: Params): Result<BatchRef, Refusal> {
  const read = parseBatch(`${namespace}/${name}`);
  return read.ok ? read : err(refuse('argument.invalid', { what: read.error }));
}

function find(state: State, params: Params): Result<Batch, Refusal> {
  const ref = refOf(params);
  return ref.ok ? findBatch(state, ref.value) : ref;
}

/** The lists of files of the parts that have jobs to run again. */
function inputsToRetry({ jobs }: State, batch: Batch): Set<BlobHash> {
  const failed = failedNumbers(batch);
  const lists = new Set<BlobHash>();
  for (const { part, numbers } of currentParts(batch)) {
    const inputs = jobs.get(part.jobId)?.spec.staging?.inputs;
    if (inputs === undefined || lists.has(inputs)) continue;
    if ([...numbers].some((number) => failed.has(number))) lists.add(inputs);
  }
  return lists;
}

function submitted({ state }: Engine, reply: Result<Reply, Refusal>) {
  if (!reply.ok) return reply;
  if (reply.value.kind !== 'batch_submitted') throw new Error('a batch answers a batch');
  const { batch, jobCount, again } = reply.value;
  const found = findBatch(state, batch);
  const named = found.ok ? titled(state, found.value) : batchTitleOf(batch);
  return ok({ ...named, jobCount, again });
}

function viewBatch(state: State, batch: Batch, isNewest?: boolean): BatchView {
  const { owner, origin, after, parts, createdAt, endedAt, jobs, build } = batch;
  const { open, ended, ...standing } = standingOf(state, batch);
  return {
    ...titled(state, batch, isNewest),
    owner,
    origin,
    ...standing,
    createdAt,
    endedAt,
    open: { ...open },
    ended: { ...ended },
    after: [...after],
    failedBuilds: [...(build?.failed ?? [])].map(([node, epochId]) => {
      const [id = '', epoch] = epochId.split('#');
      return { node, id, epoch: Number(epoch) };
    }),
    jobCount: jobs.length,
    jobIds: parts.map(({ jobId }) => jobId),
  };
}

/** Each by the task that runs it, or ran it last. */
async function viewJobs(
  engine: Engine,
  batch: Batch,
  wanted: ReadonlySet<number>,
): Promise<BatchJobView[]> {
  const views: BatchJobView[] = [];
  for (const { part, items } of currentParts(batch)) {
    const shown = [...items].filter((item) => wanted.has(part.numbers[item] as number));
    if (shown.length === 0) continue;
    const job = await findJob(engine, part.jobId);
    const tasks = job.ok ? await viewTasks(engine, job.value, shown) : [];
    const whole = job.ok ? job.value.outcome : null;
    for (const [at, item] of shown.entries()) {
      const number = part.numbers[item] as number;
      const task = tasks[at];
      const outcome = outcomeOf(batch, number);
      views.push({
        number,
        name: batch.jobs[number]?.name ?? '',
        id: formatTaskId(part.jobId, item),
        state: outcome === null ? (task?.state ?? 'pending') : 'done',
        outcome,
        detail:
          task?.outcome?.detail ||
          task?.reason?.words ||
          wordsOfWaiting(batch, outcome, (task?.epoch ?? 0) === 0 ? whole : null),
        epoch: task?.epoch ?? 0,
        nodes: task?.nodes ?? [],
        startedAt: task?.startedAt ?? null,
        endedAt: task?.endedAt ?? null,
        exit: task?.exit ?? null,
      });
    }
  }
  return views.sort((a, b) => a.number - b.number);
}

/**
 * The history has no words for tasks that ended while they waited; `whole`: how all of them did.
 */
function wordsOfWaiting(
  { build }: Batch,
  outcome: string | null,
  whole: Outcome | null,
): string | null {
  if (outcome === 'build_failed' && build !== null) {
    return `the build failed on ${[...build.failed.keys()].join(', ')}`;
  }
  return whole !== null && whole.kind === outcome ? (whole.detail ?? null) : null;
}

function outcomeOf({ ended }: Batch, number: number) {
  for (const [kind, numbers] of ended) if (numbers.has(number)) return kind;
  return null;
}
