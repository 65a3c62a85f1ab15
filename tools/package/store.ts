// `gzip` that compresses nothing, between standard input and output: the same bytes give the same.

import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';

const PIECE_BYTES = 2 ** 20;

/** Pieces of one length, however they come, each in gzip's form: such a row is of it, too. */
async function* store(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    length += chunk.length;
    if (length < PIECE_BYTES) continue;
    const whole = Buffer.concat(held);
    yield gzipSync(whole.subarray(0, PIECE_BYTES), { level: 0 });
    held = [whole.subarray(PIECE_BYTES)];
    length -= PIECE_BYTES;
  }
  yield gzipSync(Buffer.concat(held), { level: 0 });
}

await pipeline(process.stdin, store, process.stdout);
