// The body of a request, bounded, as JSON.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { err, ok, type Result } from '../../base/result.ts';
import { formatSize } from '../../base/size.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { REQUEST_BYTES_MAX } from '../../model/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import { bodyFlaw } from './body-shape.ts';

const FEWER = 'Send several requests; what has many names may be a list or a file.';
/** Takes some milliseconds to parse. */
const LARGE_BYTES = 1_048_576;
/** From the header to the end of the body: 8 MiB over a slow line. */
const BODY_MS = 60_000;

/**
 * Requests with bodies beyond the ordinary limit, one at a time: each takes several times its size.
 */
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
    return ok(JSON.parse(text));
  } catch (error) {
    return malformed((error as Error).message);
  }
}

function malformed(what: string): Result<never, Refusal> {
  return err(refuse('request.malformed', { what }, 'The body is one JSON value in UTF-8.'));
}

function tooLarge(bytesMax: number): Result<never, Refusal> {
  return err(refuse('request.too_large', { limit: formatSize(bytesMax) }));
}
