// Many small contents in one body, whatever the pieces in which it comes.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { frameHeader, frameLength, readFrames } from '../../../../src/kernel/api/blob-frames.ts';

function body(contents: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    contents.flatMap((bytes) => [frameHeader(hashOf(bytes), bytes.length), bytes]),
  );
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function read(pieces: readonly Uint8Array[]) {
  const frames: { hash: string; bytes: Buffer }[] = [];
  const source = (async function* () {
    yield* pieces;
  })();
  for await (const { hash, bytes } of readFrames(source)) {
    frames.push({ hash, bytes: Buffer.from(bytes) });
  }
  return frames;
}

test('what was put in comes out, however it is cut', async () => {
  const contents = fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(contents, fc.array(fc.nat(120)), async (all, cuts) => {
      const whole = body(all);
      assert.equal(
        whole.length,
        all.reduce((sum, { length }) => sum + frameLength(length), 0),
      );
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const cut of cuts) {
        pieces.push(whole.subarray(at, at + cut));
        at += cut;
      }
      pieces.push(whole.subarray(at));
      const expected = all.map((bytes) => ({ hash: hashOf(bytes), bytes: Buffer.from(bytes) }));
      assert.deepEqual(await read(pieces), expected);
    }),
  );
});

test('a body that ends within a content, or has too large a one, is no such body', async () => {
  const whole = body([Buffer.from('hello')]);
  await assert.rejects(read([whole.subarray(0, -1)]), /ends within a content, after 44 bytes/);
  await assert.rejects(read([whole.subarray(0, 10)]), /ends within a content/);
  const header = frameHeader('a'.repeat(64), 2 ** 40);
  await assert.rejects(
    read([header]),
    /1099511627776 bytes is sent by itself; here 262144 at most/,
  );
});
