// Checks for bugs. A failed assertion means an invariant is broken: the daemon logs it and exits,
// which is safe because everything promised is in the journal.

export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant';
}

/** Throws `BrokenInvariant` unless the condition holds; `what` says what should have been true. */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new BrokenInvariant(what);
}

/** Unwraps a value that must be there. */
export function present<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new BrokenInvariant(`${what} is missing`);
  return value;
}

/** Closes a switch over a union: the compiler complains when a member has no arm. */
export function unreachable(value: never): never {
  throw new BrokenInvariant(`no case for ${JSON.stringify(value)}`);
}
