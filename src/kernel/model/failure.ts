// A refusal as an error, for shells that throw: what to print and with which exit code
// (docs/errors.md). The core itself returns refusals.

import type { Kind, Refusal } from './errors.ts';
import { formatRefusal, KINDS, kindOf, refuse } from './errors.ts';

/** `timeout(1)` uses the same code for a failure of its own, as opposed to the command's. */
export const EXIT_OWN_FAILURE = 125;
/** A job that its node, its build or its files failed, whatever its program did. */
export const EXIT_CLUSTER_FAILURE = 123;
/** `timeout(1)` again: the command ran into its time limit. */
export const EXIT_TIMEOUT = 124;

/** The files of a package are programs by themselves, each with this class: all have one mark. */
const MARK = Symbol.for('weft.failure');

/** A refusal on its way to standard error. Thrown by verbs, caught once, in main.ts. */
export class Failure extends Error {
  /** True of failures of another file of the package, too. */
  static override [Symbol.hasInstance](one: unknown): one is Failure {
    return typeof one === 'object' && one !== null && MARK in one;
  }

  override readonly name = 'Failure';
  readonly code: string;
  readonly kind: Kind;
  readonly details: Readonly<Record<string, string>>;
  readonly hint: string | null;
  readonly exitCode: number;

  /** `exit`: when the kind's own would say too little, as to who supervises a daemon. */
  constructor(of: {
    code: string;
    kind: Kind;
    message: string;
    details?: Readonly<Record<string, string>>;
    hint?: string | null | undefined;
    exit?: number;
    cause?: unknown;
  }) {
    super(of.message, { cause: of.cause });
    this.code = of.code;
    this.kind = of.kind;
    this.details = of.details ?? {};
    this.hint = of.hint ?? null;
    this.exitCode = of.exit ?? KINDS[of.kind].exit;
  }

  get [MARK](): true {
    return true;
  }
}

/** A failure from one of our own codes. `cause`: the error behind it. */
export function failure(refusal: Refusal, cause?: unknown): Failure {
  const { hint, ...rest } = refusal;
  return new Failure({
    code: refusal.code,
    kind: kindOf(refusal.code),
    message: formatRefusal(rest),
    details: refusal.details,
    hint,
    cause,
  });
}

/** What was typed is wrong: exit 2. */
export function usage(what: string, hint?: string): Failure {
  return failure(refuse('argument.invalid', { what }, hint));
}
