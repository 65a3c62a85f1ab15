// How long a sender of bytes may be silent, or next to it.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { readBytes } from '../../../../../src/kernel/head/http/byte-source.ts';
import { VirtualClock } from '../../agent/fake-world.ts';

const MINUTE = 60_000;

function reading() {
  const incoming = new PassThrough();
  const clock = new VirtualClock();
  const source = readBytes(incoming, clock, { stallMs: MINUTE, bytesMin: 100 });
  return { incoming, clock, next: () => source.next() };
}

test('[F13] a connection that brings next to nothing is ended, however steadily it does', async () => {
  const { incoming, clock, next } = reading();
  for (let at = 0; at < 5; at += 1) {
    const waiting = next();
    await clock.advance(11_000);
    incoming.write('x');
    assert.equal((await waiting).done, false);
  }
  const last = next();
  last.catch(() => undefined);
  await clock.advance(5000);
  await assert.rejects(last, /5 bytes came in 60000 ms, at least 100 have to/);
});

test('one that is slow and brings enough goes on, and the time of who reads does not count', async () => {
  const { incoming, clock, next } = reading();
  for (let at = 0; at < 5; at += 1) {
    const waiting = next();
    await clock.advance(MINUTE - 1);
    incoming.write(Buffer.alloc(100));
    assert.equal((await waiting).done, false);
    await clock.advance(2 * MINUTE);
  }
  assert.equal(incoming.destroyed, false);
  const silent = next();
  silent.catch(() => undefined);
  await clock.advance(MINUTE);
  await assert.rejects(silent, /0 bytes came in 60000 ms/);
});
