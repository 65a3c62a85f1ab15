// A value that many calls use and that each worker is given once.

import type { CellUse } from './cells.ts';

/** A handle: arguments that hold it arrive as the value; captured, it still has its `value`. */
export class Shared<T = unknown> {
  readonly #value: T;
  /** Hash of its bytes, by which workers know it. */
  readonly sha256: string;

  constructor(value: T, sha256: string) {
    this.#value = value;
    this.sha256 = sha256;
  }

  get value(): T {
    return this.#value;
  }
}

const uses = new WeakMap<Shared, readonly CellUse[]>();

/** Keeps which variables the functions of a shared value use. */
export function noteUses(shared: Shared, its: readonly CellUse[]): void {
  if (its.length > 0) uses.set(shared, its);
}

/** The variables of the functions of a shared value. */
export function usesOf(shared: Shared): readonly CellUse[] {
  return uses.get(shared) ?? [];
}
