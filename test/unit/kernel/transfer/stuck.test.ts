// A head that takes bytes, and then none, or all of them and says nothing.

import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Failure } from '../../../../src/kernel/model/failure.ts';
import { unlessStuck } from '../../../../src/kernel/transfer/stuck.ts';

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(10);
  yield Buffer.alloc(10);
}

/** Sends the pieces to one who takes `count` of them and never answers; how that ends. */
async function sentTo(t: TestContext, count: number, passMs: number): Promise<unknown> {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let body: Readable | undefined;
  const sending = unlessStuck('head:1', ({ stream, signal }) => {
    body = stream(pieces());
    return new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  const ended = sending.catch((error: unknown) => error);
  assert.ok(body !== undefined);
  const taking = body[Symbol.asyncIterator]();
  for (let taken = 0; taken < count; taken += 1) await taking.next();
  if (count === 2) assert.equal((await taking.next()).done, true);
  t.mock.timers.tick(passMs - 1);
  const still = await Promise.race([ended, Promise.resolve('still')]);
  assert.equal(still, 'still');
  t.mock.timers.tick(1);
  return ended;
}

test('a head that takes no bytes for a minute is given up', async (t) => {
  const error = await sentTo(t, 1, 60_000);
  assert.ok(error instanceof Failure);
  assert.equal(error.kind, 'unavailable');
  assert.match(error.message, /takes no bytes/);
});

test('a head that has all bytes and does not answer is given up after ten minutes', async (t) => {
  const error = await sentTo(t, 2, 600_000);
  assert.ok(error instanceof Failure);
  assert.match(error.message, /has all bytes and does not answer/);
});
