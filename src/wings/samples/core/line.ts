// One column that grows: codes at equal steps, in chunks that begin at the same instants whoever
// counts, so that one which was written half is written again whole.

import type { Chunk } from '../model/chunk.ts';
import { pack, unpack } from './column.ts';
import { NOTHING } from './level-code.ts';

export class Line {
  readonly number: number;
  readonly stepMs: number;
  readonly #steps: number;
  /** Step at which the open chunk begins; null: there is none yet. */
  #start: number | null = null;
  #codes: number[] = [];
  #isDirty = false;

  /** `steps`: of one chunk. */
  constructor(number: number, stepMs: number, steps: number) {
    this.number = number;
    this.stepMs = stepMs;
    this.#steps = steps;
  }

  /**
   * Adds what was at this step, which is after all before. `earlier` has what was written of the
   * chunk before. Returns the chunk that is complete by this; null: none is.
   */
  add(step: number, code: number, earlier: (start: number) => Uint8Array | null): Chunk | null {
    const start = step - (step % this.#steps);
    let done: Chunk | null = null;
    if (start !== this.#start) {
      if (this.#start !== null && start < this.#start) return null;
      done = this.open();
      this.#start = start;
      this.#codes = this.#read(earlier(start));
    }
    const at = step - start;
    if (at < this.#codes.length) return done;
    while (this.#codes.length < at) this.#codes.push(NOTHING);
    this.#codes.push(code);
    this.#isDirty = true;
    return done;
  }

  /** The open chunk as it is; null: nothing has come since it was asked for. */
  open(): Chunk | null {
    if (this.#start === null || !this.#isDirty) return null;
    this.#isDirty = false;
    return { line: this.number, start: this.#start, bytes: pack(this.#codes) };
  }

  /** What is in the open chunk, from the step at which it begins. */
  get tail(): { readonly start: number; readonly codes: readonly number[] } | null {
    return this.#start === null ? null : { start: this.#start, codes: this.#codes };
  }

  #read(bytes: Uint8Array | null): number[] {
    return bytes === null ? [] : unpack(bytes).slice(0, this.#steps);
  }
}
