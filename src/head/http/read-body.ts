// The body of a request, bounded, as JSON.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { err, ok, type Result } from '../../core/base/result.ts';
import { formatSize } from '../../core/base/size.ts';
import { type Refusal, refuse } from '../../core/model/errors.ts';
import { REQUEST_BYTES_MAX } from '../../core/model/limits.ts';
import type { Clock } from '../../ports/clock.ts';

/** From the header to the end of the body: 8 MiB over a slow line. */
const BODY_MS = 60_000;

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
    request.on('end', () => resolve(parse(chunks)));
    // Nobody reads the answer any more; it only ends the wait.
    request.on('close', () => resolve(malformed('the request ended early')));
  });
}

/** Undefined for an empty body. */
function parse(chunks: readonly Buffer[]): Result<unknown, Refusal> {
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  // Read as text, wrong bytes would all become the same sign, and two names the same.
  if (!isUtf8(bytes)) return malformed('the body is not valid UTF-8');
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
