// A content that two send at the same time: neither hurries the other, and who waits sees that it
// moves. And in how much memory a large one is sent.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { ByteBody } from '../../../../src/kernel/api/exchange.ts';
import { Failure } from '../../../../src/kernel/model/failure.ts';
import type { HeadAccess } from '../../../../src/kernel/transfer/head-access.ts';
import { localBytes } from '../../../../src/kernel/transfer/local-file.ts';
import { uploadFiles } from '../../../../src/kernel/transfer/upload.ts';

const FILE = localBytes('big', new Uint8Array(1_048_576));

/** A head to which somebody else sends it; `offsetAt` says how far after so many pauses. */
function carrierBeside(offsetAt: (pauses: number) => number | null) {
  const pauses: number[] = [];
  const call = (route: string): Promise<unknown> => {
    const offset = offsetAt(pauses.length);
    const lacking = offset === null ? [] : [{ hash: FILE.hash, offset }];
    if (route === 'lackingBlobs') return Promise.resolve({ lacking });
    const message = 'another connection sends it';
    return Promise.reject(
      new Failure({ code: 'blob.taken_over', kind: 'failed_precondition', message }),
    );
  };
  const access = {
    head: () => Promise.resolve({ address: 'head', call }),
    patiently: (_: string, attempt: () => Promise<unknown>) => attempt(),
    pause: (ms: number) => Promise.resolve(void pauses.push(ms)),
  } as unknown as HeadAccess;
  return { access, pauses };
}

test('while another sends it, it is waited for as long as it moves, ever more slowly', async () => {
  const { access, pauses } = carrierBeside((count) => (count < 15 ? count : null));
  await uploadFiles(access, [FILE]);
  assert.equal(pauses.length, 15);
  assert.deepEqual(pauses.slice(0, 8), [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
});

test('what does not move any more is given up', async () => {
  const { access, pauses } = carrierBeside(() => 7);
  await assert.rejects(uploadFiles(access, [FILE]), /sent by another command at the same time/);
  assert.ok(pauses.length >= 10);
});

/** A head that lacks a content until it is sent, and what `take` makes of its body. */
function taker<T>(hash: string, take: (body: ByteBody) => Promise<T>) {
  const taken: T[] = [];
  const call = async (route: string, { bytes }: { bytes: ByteBody }): Promise<unknown> => {
    if (route === 'lackingBlobs') return { lacking: taken.length > 0 ? [] : [{ hash, offset: 0 }] };
    taken.push(await take(bytes));
    return { offset: bytes.length, held: true };
  };
  const access = {
    head: () => Promise.resolve({ address: 'head', call }),
    patiently: (_: string, attempt: () => Promise<unknown>) => attempt(),
  } as unknown as HeadAccess;
  return { access, taken };
}

test('a large content is sent in two blocks of memory to whoever takes it by pieces', async () => {
  const content = randomBytes(3_000_000);
  const file = localBytes('big', content);
  const { access, taken } = taker(file.hash, async ({ pieces }) => {
    const got: Buffer[] = [];
    const blocks = new Set<ArrayBufferLike>();
    for await (const piece of pieces?.() ?? []) {
      got.push(Buffer.from(piece));
      blocks.add(piece.buffer);
      // By now the next piece is read, and must not be where this one is.
      await new Promise(setImmediate);
      assert.deepEqual(got.at(-1), Buffer.from(piece));
    }
    return { isSame: Buffer.concat(got).equals(content), blocks: blocks.size };
  });
  await uploadFiles(access, [file]);
  assert.deepEqual(taken, [{ isSame: true, blocks: 2 }]);
});

test('a stream of a large content keeps each piece in memory of its own', async () => {
  const content = randomBytes(3_000_000);
  const file = localBytes('big', content);
  const { access, taken } = taker(file.hash, async ({ open }) =>
    Buffer.concat(await open().toArray()).equals(content),
  );
  await uploadFiles(access, [file]);
  assert.deepEqual(taken, [true]);
});
