// Captured output of jobs, read while it is written, and on from where it was after a cut.

import { isLacking } from '../api/log-headers.ts';
import { refuse } from '../model/errors.ts';
import { failure } from '../model/failure.ts';
import { asWeftError, WeftError, wrongArgument } from './errors.ts';
import { checkOptions } from './known-options.ts';
import type { HeadConnection } from './line.ts';
import { LOG_OPTIONS, type LogOptions, OUTPUT_OPTIONS, type OutputOptions } from './options.ts';
import { dropUndefined } from './submission.ts';

const OUTPUT_BYTES_MAX = 16 * 1024 ** 2;
/**
 * Cuts in a row without a byte between them: the head is there, and what it sends does not arrive.
 */
const CUTS_MAX = 10;

export async function* readLogs(
  line: HeadConnection,
  id: string,
  chosen: LogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  checkOptions('logs', chosen, LOG_OPTIONS);
  const { signal, ...options } = chosen;
  let offset = options.offset ?? 0;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  for (let cuts = 0; left > 0; cuts += 1) {
    const limit = Number.isFinite(left) ? left : undefined;
    const query = dropUndefined({ ...options, offset, limit });
    const follows = options.follow === true;
    const answer = await line.stream('readLogs', {
      params: { id },
      query: query as Record<string, string | number | boolean>,
      ...(follows ? { timeoutMs: 0 } : {}),
      ...(signal === undefined ? {} : { signal }),
    });
    const stop = () => answer.destroy();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      for await (const piece of answer as AsyncIterable<Uint8Array>) {
        offset += piece.length;
        left -= piece.length;
        cuts = 0;
        yield piece;
      }
      signal?.throwIfAborted();
      if (isLacking(answer)) throw lacking(id);
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof WeftError || cuts >= CUTS_MAX) throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      answer.destroy();
    }
  }
}

/** What came has been given out. */
function lacking(task: string): unknown {
  return asWeftError(failure(refuse('log.lacking', { task })));
}

function tooLong(id: string): Error {
  return wrongArgument(
    `Job ${id} has written more than ${OUTPUT_BYTES_MAX} bytes.`,
    'logs() gives all of it in pieces, output({ bytesMax: 1_000_000 }) its beginning.',
  );
}

/** All of it, decoded as UTF-8, or the beginning that `bytesMax` asks for. */
export async function readOutput(
  line: HeadConnection,
  id: string,
  options: OutputOptions,
): Promise<string> {
  checkOptions('output', options, OUTPUT_OPTIONS);
  const { bytesMax, ...which } = options;
  if (bytesMax !== undefined && !(bytesMax > 0))
    throw wrongArgument(`bytesMax: ${bytesMax} is not a number of bytes`);
  const limit = bytesMax ?? OUTPUT_BYTES_MAX + 1;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of readLogs(line, id, { ...which, limit })) {
    pieces.push(piece);
    size += piece.length;
  }
  if (bytesMax === undefined && size > OUTPUT_BYTES_MAX) throw tooLong(id);
  return Buffer.concat(pieces).toString('utf8');
}
