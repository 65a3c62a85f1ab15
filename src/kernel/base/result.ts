// Success or refusal as plain data: expected failures are returned, never thrown.

export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

/** Wraps a success. */
export function ok<T>(value: T): { ok: true; value: T } {
  return { ok: true, value };
}

/** Wraps a refusal. */
export function err<E>(error: E): { ok: false; error: E } {
  return { ok: false, error };
}
