// How long the page waits for the head: for an answer to begin, for each piece of it, and for a
// beat.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  isAlive,
  Patience,
  SILENCE_MS,
  watched,
} from '../../../../src/kernel/page/pure/patience.ts';

const LIMIT_MS = 30_000;

function patient(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const patience = new Patience(LIMIT_MS, () => new Error('silent'));
  return { patience, pass: (ms: number) => t.mock.timers.tick(ms) };
}

/** What a fetch does: ends with the reason of its signal. */
function fetched(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

test('[D12] an answer that does not begin is given up, in its own words', async (t) => {
  const { patience, pass } = patient(t);
  const asked = patience.while(fetched(patience.signal));
  pass(LIMIT_MS - 1);
  assert.equal(patience.signal.aborted, false);
  pass(1);
  await assert.rejects(asked, /^Error: silent$/);
});

test('[D12] an answer of many pieces takes its time, and one that stops is given up', async (t) => {
  const { patience, pass } = patient(t);
  let more: ReadableStreamDefaultController<Uint8Array> | undefined;
  const source = new ReadableStream<Uint8Array>({
    start(to) {
      more = to;
    },
  });
  patience.signal.addEventListener('abort', () => more?.error(patience.signal.reason));
  const answer = watched(new Response(source, { status: 206, headers: { x: 'y' } }), patience);
  assert.deepEqual([answer.status, answer.headers.get('x')], [206, 'y']);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  for (let piece = 1; piece <= 3; piece += 1) {
    // A reader that is slow is not the head's fault.
    pass(2 * LIMIT_MS);
    const coming = reader.read();
    pass(LIMIT_MS - 1);
    more?.enqueue(Uint8Array.of(piece));
    assert.deepEqual((await coming).value, Uint8Array.of(piece));
  }
  const last = reader.read();
  await Promise.resolve();
  pass(LIMIT_MS);
  await assert.rejects(last, /^Error: silent$/);
});

test('[D12] an answer that is there whole is left alone', async (t) => {
  const { patience, pass } = patient(t);
  const whole = watched(new Response('{"a":1}'), patience);
  assert.deepEqual(await whole.json(), { a: 1 });
  pass(10 * LIMIT_MS);
  assert.equal(patience.signal.aborted, false);
  assert.equal(watched(new Response(null, { status: 204 }), patience).status, 204);
  await assert.rejects(patience.while(Promise.reject(new Error('refused'))), /refused/);
});

test('[D12] a line is alive within its limit, also when the clock was set', () => {
  const now = 1e12;
  assert.ok(isAlive(now - SILENCE_MS, now));
  assert.ok(!isAlive(now - SILENCE_MS - 1, now));
  assert.ok(!isAlive(now + 3_600_000, now), 'set back');
});
