// What a body of JSON is made of, seen in its bytes before anything is made of them: names and
// depth. Objects with the same names in the same order cost little however many they are; each
// further name costs a thousand times as much, to the parser and to all who look at the value.

import { BODY_DEPTH_MAX, BODY_NAMES_MAX } from '../../model/limits.ts';

/** A body of this size has too few names to matter. */
const SMALL_BYTES = 16_384;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Names in one order: the next name of an object leads to the next step. */
type Step = Map<string, Step>;

/** What is too much about a body, in words; null: nothing. Bytes that are no JSON say nothing. */
export function bodyFlaw(bytes: Buffer): string | null {
  return bytes.length <= SMALL_BYTES ? null : new Look(bytes).flaw();
}

class Look {
  readonly #bytes: Buffer;
  readonly #first: Step = new Map();
  /** Where each open object is in the order of its names; null: a list. */
  readonly #open: (Step | null)[] = [];
  #step: Step | null = null;
  #steps = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  flaw(): string | null {
    let isName = false;
    for (let at = 0; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at] as number;
      if (byte === QUOTE) {
        const end = endOfText(this.#bytes, at + 1);
        if (isName && !this.#name(at + 1, end)) {
          return `it has more than ${BODY_NAMES_MAX} different names of fields`;
        }
        isName = false;
        at = end;
      } else if (byte === COMMA) isName = this.#step !== null;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        isName = byte === OPEN_OBJECT;
        this.#open.push(this.#step);
        this.#step = isName ? this.#first : null;
        if (this.#open.length > BODY_DEPTH_MAX) return `it is nested deeper than ${BODY_DEPTH_MAX}`;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        isName = false;
        this.#step = this.#open.pop() ?? null;
      }
    }
    return null;
  }

  /** False: one too many. */
  #name(from: number, to: number): boolean {
    const step = this.#step;
    if (step === null) return true;
    const name = this.#bytes.toString('latin1', from, to);
    let next = step.get(name);
    if (next === undefined) {
      this.#steps += 1;
      next = new Map();
      step.set(name, next);
    }
    this.#step = next;
    return this.#steps <= BODY_NAMES_MAX;
  }
}

/** Where the quote is that ends the text, or the end of all. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return Math.min(at, bytes.length);
}
