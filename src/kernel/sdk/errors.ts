// What the library throws: one class for everything, with a code to switch on, and its subclasses
// for what a program wants to catch by itself.

import { ApiError } from '../api/api-error.ts';
import { Failure, usage } from '../model/failure.ts';
import type { JobInfo } from './views.ts';

/** What kind of problem it is, from a closed list: it says whether to try again. */
export type ErrorKind =
  /** Wrong whatever the state of the cluster: mend the call. */
  | 'invalid_argument'
  | 'unauthenticated'
  | 'permission_denied'
  | 'not_found'
  | 'already_exists'
  /** The state forbids it: try again after a change. */
  | 'failed_precondition'
  /** A quota or a limit: try again later. */
  | 'resource_exhausted'
  /** The head is starting, gone or busy: try again. */
  | 'unavailable'
  /** No answer in time: it may have happened. */
  | 'deadline_exceeded'
  /** A bug in Weft. */
  | 'internal';

/** What a `WeftError` is made of. */
export interface WeftErrorParts {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly details?: Readonly<Record<string, string>> | undefined;
  readonly hint?: string | null | undefined;
  readonly cause?: unknown;
}

/**
 * Everything that this library throws, but for `NotSendable` and the reason of an `AbortSignal`
 * that you gave. Switch on `code` or `kind`, never on the text.
 */
export class WeftError extends Error {
  override readonly name: string = 'WeftError';
  /** The case, as `job.not_found`; `docs/errors.md` lists those of the head. */
  readonly code: string;
  /** Whether to try again. */
  readonly kind: ErrorKind;
  /** What the message was made of, by name: `{ job: '42' }`. */
  readonly details: Readonly<Record<string, string>>;
  /** What to do next; null when the message says it. */
  readonly hint: string | null;

  constructor({ code, kind, message, details = {}, hint = null, cause }: WeftErrorParts) {
    super(hint === null ? message : `${message} ${hint}`, { cause });
    this.code = code;
    this.kind = kind;
    this.details = details;
    this.hint = hint;
  }
}

/** A job that `cluster.run` waited for did not complete. `code` is `job.not_completed`. */
export class JobFailed extends WeftError {
  override readonly name = 'JobFailed';
  /** How it ended. */
  readonly job: JobInfo;

  constructor(job: JobInfo, words: string) {
    super({
      code: 'job.not_completed',
      kind: 'failed_precondition',
      message: `Job ${job.id} (${job.name}) ended as ${words}.`,
      details: { job: String(job.id), outcome: job.outcome?.kind ?? 'unknown' },
      hint: `See its output with job.output() or \`weft logs ${job.id}\`.`,
    });
    this.job = job;
  }
}

/** An argument of a function of this library is wrong. */
export function wrongArgument(what: string, hint?: string): Error {
  return asWeftError(usage(what, hint)) as Error;
}

/** The error as a program gets it; one that is nobody's refusal stays as it is. */
export function asWeftError(error: unknown): unknown {
  if (error instanceof WeftError) return error;
  if (error instanceof Failure || error instanceof ApiError) {
    const { code, kind, message, details, hint, cause } = error;
    return new WeftError({ code, kind, message, details, hint, cause });
  }
  return error;
}

/** Runs it, and has its failures as programs get them. */
export async function withWeftErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw asWeftError(error);
  }
}
