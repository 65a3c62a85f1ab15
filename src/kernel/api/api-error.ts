// What a client throws: the head's refusal as it came, or that there is no head.

import { believed } from '../base/believed.ts';
import { type Code, formatRefusal, KINDS, type Kind, kindOf, refuse } from '../model/errors.ts';
import type { Failure } from './failure.ts';

/** A refusal on the client's side. Switch on `code` or `kind`, never on the text. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** May be one that only a newer head knows; then `kind` still says what to do. */
  readonly code: Code | (string & {});
  readonly kind: Kind;
  readonly details: Readonly<Record<string, string>>;
  readonly hint: string | null;

  constructor(failure: Failure, cause?: unknown) {
    super(failure.message, { cause });
    this.code = failure.code;
    this.kind = failure.kind in KINDS ? (failure.kind as Kind) : 'internal';
    this.details = failure.details;
    this.hint = failure.hint;
  }

  get exitCode(): number {
    return KINDS[this.kind].exit;
  }
}

/** No head answers at `address`, or it went away before its answer was complete. */
export function unreachableError(address: string, cause: unknown): ApiError {
  const words = cause instanceof Error ? cause.message || String(cause) : String(cause);
  return new ApiError(
    failureOf('head.unreachable', { address, cause: words }, 'Is the head running?'),
    cause,
  );
}

/** The certificate is another one than the pinned. Nothing secret has been sent. */
export function fingerprintError(address: string, actual: string, expected: string): ApiError {
  return new ApiError(failureOf('auth.fingerprint_mismatch', { address, actual, expected }));
}

/** What listens there cannot be the head that it speaks for. Nothing has been proven to it. */
export function notTheHeadError(address: string, what: string): ApiError {
  return new ApiError(failureOf('auth.not_the_head', { address, what }));
}

/** Reads the body of a refusal; an answer that is none (a proxy's page) becomes `internal`. */
export function errorFromAnswer(status: number, text: string): ApiError {
  const failure = readFailure(text);
  if (failure !== null) return new ApiError(failure);
  const kind = Object.entries(KINDS).find(([, { http }]) => http === status)?.[0] ?? 'internal';
  const message = `The answer ${status} is not the head's: ${text.slice(0, 200)}`;
  return new ApiError({ code: 'internal.error', kind, message, details: {}, hint: null });
}

function readFailure(text: string): Failure | null {
  try {
    const { error } = JSON.parse(text) as { error?: Failure };
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : null;
  } catch {
    return null; // Not JSON: the caller says what came instead.
  }
}

function failureOf(code: Code, details: Record<string, string>, hint?: string): Failure {
  // The head sends with each code the details that belong to it.
  const message = formatRefusal(refuse(code, believed(details)));
  return { code, kind: kindOf(code), message, details, hint: hint ?? null };
}
