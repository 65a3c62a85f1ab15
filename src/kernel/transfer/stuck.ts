// A body that is sent piece by piece, and given up when the other side takes nothing for long, or
// has all of it and does not answer.

import { Readable } from 'node:stream';
import { refuse } from '../model/errors.ts';
import { failure } from '../model/failure.ts';

const STALL_MS = 60_000;
/** With the last byte the head writes all of it to its disk before it answers. */
const VERIFY_MS = 600_000;

export interface StuckWatch {
  /** Aborted when nothing moves any more. */
  readonly signal: AbortSignal;
  /** The pieces again; the watch sees them move. */
  seen(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** The same as a stream. */
  stream(pieces: AsyncIterable<Uint8Array>): Readable;
}

/** What `send` comes to. Throws `head.unreachable` when what it sends by the watch is stuck. */
export async function unlessStuck<T>(
  address: string,
  send: (watch: StuckWatch) => Promise<T>,
): Promise<T> {
  const stuck = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = (ms: number, cause: string): void => {
    clearTimeout(timer);
    const why = failure(refuse('head.unreachable', { address, cause }));
    timer = setTimeout(() => stuck.abort(why), ms).unref();
  };
  async function* watched(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      wait(STALL_MS, 'it takes no bytes');
      yield piece;
    }
    wait(VERIFY_MS, 'it has all bytes and does not answer');
  }
  try {
    return await send({
      signal: stuck.signal,
      seen: watched,
      stream: (pieces) => Readable.from(watched(pieces), { highWaterMark: 1 }),
    });
  } catch (error) {
    throw stuck.signal.aborted ? stuck.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}
