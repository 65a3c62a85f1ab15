// Submits a job with its files: they are on the head before it is, so that a job never waits for
// its submitter.

import type { SubmitReply } from '../../api/submission.ts';
import type { BlobHash } from '../../model/blob.ts';
import { Failure } from '../../model/failure.ts';
import type { Submission } from '../../model/submission.ts';
import type { InputRequests } from '../../transfer/inputs/input-request.ts';
import { transferOf } from '../connection/transfer-context.ts';
import type { Context } from '../context.ts';
import { sendSubmission } from './send.ts';

/** What a head removes between the two, because it is short of room, is sent again so often. */
const TRIES_MAX = 3;

export interface Accepted {
  /** With the hash of the list of its files. */
  readonly submission: Submission;
  readonly reply: SubmitReply;
}

export async function sendWithFiles(
  context: Context,
  wish: Submission,
  { inputs, key }: { inputs: InputRequests | null; key: string | undefined },
): Promise<Accepted> {
  return withFiles(context, inputs, async (hash) => {
    const submission =
      hash === undefined ? wish : { ...wish, staging: { ...wish.staging, inputs: hash } };
    return { submission, reply: await sendSubmission(context, submission, key) };
  });
}

/** Sends files, then what names them: by the hash of their list, or by none without files. */
export async function withFiles<T>(
  context: Context,
  inputs: InputRequests | null,
  send: (hash: BlobHash | undefined) => Promise<T>,
): Promise<T> {
  if (inputs === null) return send(undefined);
  const { readInputs, sendInputs } = await import('../../transfer/inputs/inputs.ts');
  const transfer = transferOf(context);
  const files = await readInputs(transfer, { ...inputs, cwd: context.cwd, before: '--in: ' });
  if (files.entryCount === 0) return send(undefined);
  for (let tries = 1; ; tries += 1) {
    const hash = await sendInputs(transfer, files);
    try {
      return await send(hash);
    } catch (error) {
      const isLacking = error instanceof Failure && error.code === 'files.lacking';
      if (!isLacking || tries === TRIES_MAX) throw error;
    }
  }
}
