// The first thing that is wrong with a submission: thrown while it is checked, so that the checks
// read as a list, and caught before anybody else sees it.

import { err, ok, type Result } from '../../base/result.ts';
import { isWhole } from '../../base/whole.ts';
import { type Refusal, refuse } from '../../model/errors.ts';

export class Wrong extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/** What the checks come to, or the first refusal among them. */
export function checked<T>(checks: () => T): Result<T, Refusal> {
  try {
    return ok(checks());
  } catch (error) {
    if (error instanceof Wrong) return err(error.refusal);
    throw error;
  }
}

export function whole(what: string, value: number, min: number, max: number): number {
  if (!isWhole(value, min, max)) {
    wrong(`${what} must be a whole number from ${min} to ${max}, not ${value}`);
  }
  return value;
}

export function wrong(what: string): never {
  throw new Wrong(refuse('argument.invalid', { what }));
}
