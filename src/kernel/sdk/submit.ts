// Submits a job with its files: they are on the head before it is, so that a job never waits for
// its submitter.

import { freshKey } from '../connect/fresh-key.ts';
import type { BlobHash } from '../model/blob.ts';
import type { Submission } from '../model/submission.ts';
import type { InputRequests } from '../transfer/inputs/input-request.ts';
import { readInputs, sendInputs } from '../transfer/inputs/inputs.ts';
import { WeftError, withWeftErrors, wrongArgument } from './errors.ts';
import { JOB_OPTIONS, type JobCommand, type JobOptions } from './job-options.ts';
import { checkOptions } from './known-options.ts';
import type { HeadConnection } from './line.ts';
import { inputsOf, makeSubmission } from './submission.ts';

/** What a head removes between the two, because it is short of room, is sent again so often. */
const TRIES_MAX = 3;

/** Resolves with the id of the job. Every try carries the same key. */
export async function submitJob(
  line: HeadConnection,
  command: JobCommand,
  options: JobOptions,
): Promise<number> {
  checkOptions('a job', options, JOB_OPTIONS);
  const { signal, key = freshKey() } = options;
  if (!/^[\x20-\x7e]{1,200}$/.test(key) || key.trim() !== key) {
    throw wrongArgument(`key: '${key}' is not a key; use 1 to 200 printable ASCII characters`);
  }
  const wish = makeSubmission(command, options);
  return withInputs(line, inputsOf(command, options), signal, (inputs) => {
    if (inputs === undefined) return send(line, wish, { key, signal });
    return send(line, { ...wish, staging: { ...wish.staging, inputs } }, { key, signal });
  });
}

/**
 * Sends files, and then what names them: by the hash of their list, or by none when there are none.
 */
export async function withInputs<T>(
  line: HeadConnection,
  inputs: InputRequests | null,
  signal: AbortSignal | undefined,
  submit: (inputs: BlobHash | undefined) => Promise<T>,
): Promise<T> {
  if (inputs === null) return submit(undefined);
  const transfer = line.transfer(signal);
  const all = { ...inputs, cwd: process.cwd(), before: 'in: ' };
  const files = await withWeftErrors(() => readInputs(transfer, all));
  if (files.entryCount === 0) return submit(undefined);
  for (let tries = 1; ; tries += 1) {
    const hash = await withWeftErrors(() => sendInputs(transfer, files));
    try {
      return await submit(hash);
    } catch (error) {
      const isLacking = error instanceof WeftError && error.code === 'files.lacking';
      if (!isLacking || tries === TRIES_MAX) throw error;
    }
  }
}

async function send(
  line: HeadConnection,
  submission: Submission,
  { key, signal }: { key: string; signal: AbortSignal | undefined },
): Promise<number> {
  const body = submission;
  const { jobId } = await line.call('submitJob', { body, key, signal });
  return jobId;
}
