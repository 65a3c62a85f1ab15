// Submitting jobs, one or many.

import type { BulkRequest, SubmitReply } from '../../../api/submission.ts';
import { submissionKey, submission as submissionSchema } from '../../../api/submission.ts';
import { err, ok, type Result } from '../../../core/base/result.ts';
import type { UserActor } from '../../../core/model/actor.ts';
import { type Refusal, refuse } from '../../../core/model/errors.ts';
import type { JobId } from '../../../core/model/ids.ts';
import type { OutcomeKind } from '../../../core/model/job.ts';
import type { Submission } from '../../../core/model/submission.ts';
import type { Engine } from '../../engine.ts';
import { expect, rehearse } from '../../questions.ts';
import { readSpec } from '../../views/past-job-view.ts';
import { NO_PROSPECT, viewLookAhead } from '../../views/prospect-view.ts';
import { viewRefusal } from '../answer.ts';
import type { Handler } from '../call.ts';
import { findJob } from '../find-job.ts';
import { validate } from '../validate.ts';

export const submitJob: Handler<'submitJob'> = async ({ engine }, { actor, body, incoming }) => {
  const header = incoming.headers['idempotency-key'];
  const key = validate(submissionKey.optional(), header, 'header Idempotency-Key');
  if (!key.ok) return key;
  return submit(engine, actor, { submission: body, key: (header as string | undefined) ?? null });
};

/** All go into the same group commits; each is accepted or refused by itself. */
export const submitJobs: Handler<'submitJobs'> = async ({ engine }, { actor, body }) => {
  const { jobs } = body as BulkRequest;
  const results = await Promise.all(
    jobs.map(async (wish, at) => {
      const checked = validate(submissionSchema, wish.submission, `jobs[${at}].submission`);
      if (!checked.ok) return checked;
      const submission = checked.value as Submission;
      return submit(engine, actor, { submission, key: wish.key ?? null });
    }),
  );
  return ok({
    results: results.map((result) =>
      result.ok
        ? { ok: true as const, value: result.value }
        : { ok: false as const, error: viewRefusal(result.error) },
    ),
  });
};

export const rehearseJob: Handler<'rehearseJob'> = async ({ engine }, { actor, body }) => {
  const retired = await outcomesOfRetired(engine, body);
  const rehearsed = rehearse(engine, { submission: body, retired }, actor);
  if (!rehearsed.ok) return rehearsed;
  const { pending, broken } = rehearsed.value;
  if (broken !== null) {
    const detail = broken.detail === null ? '' : ` (${broken.detail})`;
    const words = `It would end at once: ${broken.kind}${detail}.`;
    return ok({ state: 'pending', reason: null, ...NO_PROSPECT, words });
  }
  return ok({ state: 'pending', ...viewLookAhead(expect(engine, pending), 'rehearsal') });
};

async function submit(
  engine: Engine,
  actor: UserActor,
  wish: { readonly submission: Submission; readonly key: string | null },
): Promise<Result<SubmitReply, Refusal>> {
  const retired = await outcomesOfRetired(engine, wish.submission);
  const reply = await engine.execute({ kind: 'submit_job', ...wish, retired }, actor);
  if (!reply.ok) return reply;
  if (reply.value.kind !== 'submitted') return err(refuse('internal.error', { incident: 'reply' }));
  return describe(engine, reply.value.jobId, reply.value.again);
}

const NONE: Readonly<Record<number, OutcomeKind>> = {};

/** How dependencies ended that have left memory: the controller cannot look that up itself. */
async function outcomesOfRetired(
  { state, store }: Engine,
  { dependencies }: Submission,
): Promise<Readonly<Record<number, OutcomeKind>>> {
  if (dependencies === undefined || dependencies.length === 0) return NONE;
  const gone = dependencies.map(({ jobId }) => jobId).filter((jobId) => !state.jobs.has(jobId));
  if (gone.length === 0) return NONE;
  const rows = await store.jobs({ jobIds: gone, limit: gone.length });
  const ended = rows.filter((row) => row.outcome !== null);
  return Object.fromEntries(ended.map((row) => [row.jobId, row.outcome as OutcomeKind]));
}

async function describe(
  engine: Engine,
  jobId: JobId,
  again: boolean,
): Promise<Result<SubmitReply, Refusal>> {
  const found = await findJob(engine, jobId);
  if (!found.ok) return found;
  const { directory } =
    found.value.kind === 'live' ? found.value.job.spec : readSpec(found.value.row);
  const { taskCount } = found.value.kind === 'live' ? found.value.job : found.value.row;
  const path = directory.kind === 'shared' ? directory.path : null;
  return ok({ jobId, taskCount, directory: path, again });
}
