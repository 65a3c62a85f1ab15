// Sends a submission so that it is accepted exactly once, however often the connection breaks.

import type { SubmitReply } from '../../api/submission.ts';
import { freshKey } from '../../connect/fresh-key.ts';
import type { Submission } from '../../model/submission.ts';
import { withPatience } from '../connection/patience.ts';
import type { Context } from '../context.ts';
import type { Submitter } from '../submit/options.ts';

/** A head that restarts is back within seconds. */
const HEAD_AWAY_MAX_MS = 30_000;

/** Resolves when the job is durable. Every try carries the same key. */
export async function sendSubmission(
  context: Context,
  submission: Submission,
  key: string = freshKey(),
): Promise<SubmitReply> {
  const api = await context.api();
  const body = submission;
  const patience = { totalMs: HEAD_AWAY_MAX_MS, note: 'Trying again.' };
  return withPatience(context, patience, () => api.call('submitJob', { body, key }));
}

/** Where and as whom this process submits. */
export function submitterHere(context: Context): Submitter {
  return {
    environment: context.environment,
    directory: context.cwd,
    umask: currentUmask(),
    now: Date.now(),
  };
}

function currentUmask(): number {
  // Reading it is setting it: put it back at once.
  const mask = process.umask(0o077);
  process.umask(mask);
  return mask;
}
