// A value that many calls use and that each worker is given once.

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
