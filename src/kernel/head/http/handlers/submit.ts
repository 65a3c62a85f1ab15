// Submitting jobs, one or many.

import { isDeepStrictEqual } from 'node:util';
import {
  type BulkRequest,
  type SubmitReply,
  submissionKey,
  submission as submissionSchema,
} from '../../../api/submission.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { asClause } from '../../../base/sentence.ts';
import { expect, rehearse } from '../../../machine/answers/questions.ts';
import type { RetiredJobs } from '../../../machine/jobs/commands.ts';
import type { Reply } from '../../../machine/reply.ts';
import type { UserActor } from '../../../model/actor.ts';
import type { BlobHash } from '../../../model/blob.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import type { JobId } from '../../../model/ids.ts';
import type { Submission } from '../../../model/submission.ts';
import { itemsDigestOf, recordOfRow } from '../../answers/job-record.ts';
import { NO_PROSPECT, viewLookAhead } from '../../answers/prospect-view.ts';
import { makeSecret } from '../../auth/secrets.ts';
import type { Engine } from '../../engine.ts';
import type { JobFiles } from '../../files/job-files.ts';
import { digestOf } from '../../kept-spec.ts';
import { viewRefusal } from '../answer.ts';
import type { Handler } from '../call.ts';
import { findJob, readPlace } from '../find-job.ts';
import type { Services } from '../services.ts';
import { validate, validateEntry } from '../validate.ts';
import { expectClient } from './feed-job.ts';

export const submitJob: Handler<'submitJob'> = async (services, { actor, body, incoming }) => {
  const header = incoming.headers['idempotency-key'];
  const key = validate(submissionKey.optional(), header, 'header Idempotency-Key');
  if (!key.ok) return key;
  const wish = { submission: body, key: (header as string | undefined) ?? null };
  return submitFed(services, actor, wish);
};

/** A job that is fed by its client does not outlive it. */
async function submitFed(services: Services, actor: UserActor, wish: SubmitRequest) {
  const reply = await submit(services, actor, wish);
  const job = reply.ok ? services.engine.state.jobs.get(reply.value.jobId as JobId) : undefined;
  if (job !== undefined) expectClient(services, job, actor);
  return reply;
}

/** All go into the same group commits; each is accepted or refused by itself. */
export const submitJobs: Handler<'submitJobs'> = async (services, { actor, body }) => {
  const wishes = await checkRequests((body as BulkRequest).jobs);
  const results = await Promise.all(
    wishes.map((wish) => (wish.ok ? submitFed(services, actor, wish.value) : wish)),
  );
  return ok({
    results: results.map((result) =>
      result.ok
        ? { ok: true as const, value: result.value }
        : { ok: false as const, error: viewRefusal(result.error) },
    ),
  });
};

/** What is wrong takes long to say, so others have their turn after each that is. */
async function checkRequests(jobs: BulkRequest['jobs']): Promise<Result<SubmitRequest, Refusal>[]> {
  const wishes: Result<SubmitRequest, Refusal>[] = [];
  for (const [at, { key, submission }] of jobs.entries()) {
    const checked = validateEntry(submissionSchema, submission, `jobs[${at}].submission`);
    if (!checked.ok) await new Promise(setImmediate);
    wishes.push(
      checked.ok ? ok({ submission: checked.value as Submission, key: key ?? null }) : checked,
    );
  }
  return wishes;
}

export const retryJob: Handler<'retryJob'> = async ({ engine, jobFiles }, call) => {
  const header = call.incoming.headers['idempotency-key'];
  const key = validate(submissionKey.optional(), header, 'header Idempotency-Key');
  if (!key.ok) return key;
  const place = readPlace(call.params.id);
  if (!place.ok) return place;
  const { jobId, index } = place.value;
  if (call.job === null) return err(refuse('job.not_found', { job: String(jobId) }));
  if (call.job.live === null) return err(refuse('job.not_retained', { job: String(jobId) }));
  const { spec, owner } = call.job.live;
  const dependencies = call.body?.dependencies ?? null;
  const asked = dependencies ?? spec.dependencies;
  const retired = await retiredAmong(engine, asked);
  const all = call.body?.all === true;
  const indices = index === null ? call.body?.indices : String(index);
  const wish = {
    key: (header as string | undefined) ?? null,
    retired,
    dependencies,
    all,
    ...(indices === undefined ? {} : { indices }),
  };
  // Of another's job nobody is told which files are there.
  const fresh = call.body?.inputs;
  const inputs = owner === call.actor.name ? (fresh ?? spec.staging?.inputs) : undefined;
  const lacking = await checkFiles(jobFiles, call.actor, inputs);
  if (lacking !== null) return err(lacking);
  const reply = await engine.execute(
    { kind: 'retry_job', jobId, ...wish, ...(fresh && { inputs: fresh }) },
    call.actor,
  );
  return accepted(engine, { key: wish.key, program: spec.program, each: spec.each }, reply);
};

export const rehearseJob: Handler<'rehearseJob'> = async ({ engine }, { actor, body }) => {
  const retired = await retiredAmong(engine, body.dependencies);
  const rehearsed = rehearse(engine, { submission: body, retired }, actor);
  if (!rehearsed.ok) return rehearsed;
  const { pending, broken } = rehearsed.value;
  if (broken !== null) {
    const detail = broken.detail === undefined ? '' : ` (${asClause(broken.detail)})`;
    const words = `It would end at once: ${broken.kind}${detail}.`;
    return ok({ state: 'pending', reason: null, ...NO_PROSPECT, words });
  }
  const ahead = viewLookAhead(expect(engine, pending), 'rehearsal', actor.name);
  return ok({ state: 'pending', ...ahead });
};

interface SubmitRequest {
  readonly submission: Submission;
  readonly key: string | null;
}

/** What is compared when the key is known already. */
interface Sent {
  readonly key: string | null;
  readonly program: Submission['program'];
  readonly each?: Submission['each'];
}

async function submit(
  { engine, chance, jobFiles }: Pick<Services, 'engine' | 'chance' | 'jobFiles'>,
  actor: UserActor,
  wish: SubmitRequest,
): Promise<Result<SubmitReply, Refusal>> {
  const lacking = await checkFiles(jobFiles, actor, wish.submission.staging?.inputs);
  if (lacking !== null) return err(lacking);
  const retired = await retiredAmong(engine, wish.submission.dependencies);
  const opened = wish.submission.mpi === undefined ? {} : { stepKey: makeSecret(chance) };
  const command = { kind: 'submit_job', ...wish, retired, ...opened } as const;
  const reply = await engine.execute(command, actor);
  const { program, each } = wish.submission;
  return accepted(engine, { key: wish.key, program, each }, reply);
}

/** What its job needs must be there, and the submitter's. */
export async function checkFiles(
  jobFiles: JobFiles,
  actor: UserActor,
  inputs: BlobHash | undefined,
): Promise<Refusal | null> {
  if (inputs === undefined) return null;
  const checked = await jobFiles.check(actor.name, inputs);
  return checked.ok ? null : checked.error;
}

async function accepted(
  engine: Engine,
  wish: Sent,
  reply: Result<Reply, Refusal>,
): Promise<Result<SubmitReply, Refusal>> {
  if (!reply.ok) return reply;
  if (reply.value.kind !== 'submitted') return err(refuse('internal.error', { incident: 'reply' }));
  return describe(engine, wish, reply.value);
}

const NONE: RetiredJobs = {};

/** Dependencies that have left memory: the controller cannot look them up itself. */
async function retiredAmong(
  { state, store }: Engine,
  dependencies: Submission['dependencies'],
): Promise<RetiredJobs> {
  if (dependencies === undefined || dependencies.length === 0) return NONE;
  const gone = dependencies.map(({ jobId }) => jobId).filter((jobId) => !state.jobs.has(jobId));
  if (gone.length === 0) return NONE;
  const rows = await store.jobs({ jobIds: gone, limit: gone.length });
  const ended = rows.map(recordOfRow).flatMap(({ id, outcome, spec }) => {
    if (outcome === null) return [];
    return [[id, { kind: outcome.kind, indices: spec.array?.indices ?? null }] as const];
  });
  return Object.fromEntries(ended);
}

async function describe(
  engine: Engine,
  { program: sent, each: sentItems, key }: Sent,
  { jobId, again }: { readonly jobId: JobId; readonly again: boolean },
): Promise<Result<SubmitReply, Refusal>> {
  const found = await findJob(engine, jobId);
  if (!found.ok) return found;
  const { directory, program } = found.value.spec;
  // A client that tries again sends the same; another command is another job, and would be lost.
  if (
    again &&
    (itemsDigestOf(found.value) !== digestOf(sentItems) || !isDeepStrictEqual(program, sent))
  ) {
    return err(refuse('key.taken', { key: key ?? '', job: String(jobId) }, 'Use another key.'));
  }
  const path = directory.kind === 'shared' ? directory.path : null;
  return ok({ jobId, taskCount: found.value.taskCount, directory: path, again });
}
