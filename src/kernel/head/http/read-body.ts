// The body of a request, bounded, as JSON.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { err, ok, type Result } from '../../base/result.ts';
import { formatSize } from '../../base/size.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { BODY_DEPTH_MAX, BODY_NAMES_MAX, REQUEST_BYTES_MAX } from '../../model/limits.ts';
import type { Clock } from '../../ports/clock.ts';

const FEWER = 'Send several requests; what has many names may be a list or a file.';
/** Takes some milliseconds to parse. */
const LARGE_BYTES = 1_048_576;
/** From the header to the end of the body: 8 MiB over a slow line. */
const BODY_MS = 60_000;

/** Requests with bodies beyond the usual limit, one at a time: each takes several times that. */
export class LargeBodies {
  #last: Promise<unknown> = Promise.resolve();

  /** `work`: from the first byte to the answer. Whoever waits is not read from meanwhile. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const own = this.#last.then(work);
    this.#last = own.catch(() => undefined);
    return own;
  }
}

/** What is not announced may be large. */
export function mayBeLarge({ headers }: IncomingMessage): boolean {
  const size = headers['content-length'];
  return size === undefined || Number(size) > REQUEST_BYTES_MAX;
}

/** Refused at once when it is announced or turns out to be too large; then nothing more is read. */
export function readBody(
  request: IncomingMessage,
  clock: Clock,
  bytesMax = REQUEST_BYTES_MAX,
): Promise<Result<unknown, Refusal>> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
    return Promise.resolve(tooLarge(bytesMax));
  }
  return new Promise((answer) => {
    const resolve = (result: Result<unknown, Refusal>): void => {
      timer.cancel();
      answer(result);
    };
    const tooSlow = `the body took longer than ${BODY_MS / 1000} s`;
    const timer = clock.after(BODY_MS, () => resolve(malformed(tooSlow)));
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      request.off('data', take);
      request.pause();
      resolve(tooLarge(bytesMax));
    };
    request.on('data', take);
    // What is large is parsed in a turn of its own, and looked at in the next one.
    request.on('end', () => {
      if (size <= LARGE_BYTES) return resolve(parse(chunks));
      setImmediate(() => {
        const parsed = parse(chunks);
        setImmediate(() => resolve(parsed));
      });
    });
    // Nobody reads the answer any more; it only ends the wait.
    request.on('close', () => {
      if (!request.complete) resolve(malformed('the request ended early'));
    });
  });
}

/** Undefined for an empty body. */
function parse(chunks: readonly Buffer[]): Result<unknown, Refusal> {
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  // Read as text, wrong bytes would all become the same sign, and two names the same.
  if (!isUtf8(bytes)) return malformed('the body is not valid UTF-8');
  const flaw = bodyFlaw(bytes);
  if (flaw !== null) return err(refuse('request.malformed', { what: flaw }, FEWER));
  const text = bytes.toString();
  if (text === '') return ok(undefined);
  try {
    const value: unknown = JSON.parse(text);
    // The half of a character would come to a program as another one, and two names as the same.
    const isHalf = SURROGATE.test(text) && hasHalf(value);
    return isHalf ? malformed('a text has half of a character: a lone surrogate') : ok(value);
  } catch (error) {
    return malformed((error as Error).message);
  }
}

/** Bytes that are UTF-8 have such halves only as escapes. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

function hasHalf(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, one]) => !name.isWellFormed() || hasHalf(one));
}

function malformed(what: string): Result<never, Refusal> {
  return err(refuse('request.malformed', { what }, 'The body is one JSON value in UTF-8.'));
}

function tooLarge(bytesMax: number): Result<never, Refusal> {
  return err(refuse('request.too_large', { limit: formatSize(bytesMax) }));
}

// What a body of JSON is made of, seen in its bytes before anything is made of them: names and
// depth. Objects with the same names in the same order cost little however many they are; each
// further name costs a thousand times as much, to the parser and to all who look at the value.

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
function bodyFlaw(bytes: Buffer): string | null {
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
