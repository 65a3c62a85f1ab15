// What becomes a job is sent once, whatever becomes of its answers: the same text under the same
// key, another under another.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { HeadError } from '../../../../src/kernel/page/data/client.ts';
import { forget, sendOnce, unanswered } from '../../../../src/kernel/page/data/send-once.ts';
import { forgetTyped, me } from '../../../../src/kernel/page/data/session.ts';
import { readUnanswered, writeUnanswered } from '../../../../src/kernel/page/pure/unanswered.ts';

type Headers = Readonly<Record<string, string>>;

const refuse = (kind: string) => () =>
  Promise.reject(new HeadError({ code: 'x.y', kind: kind as 'internal', message: 'no', hint: '' }));

/** Sends it, and returns the key that it had. */
async function keyOf(wish: string, answer: () => Promise<unknown>): Promise<string> {
  let key = '';
  const send = (headers: Headers): Promise<unknown> => {
    key = headers['idempotency-key'] ?? '';
    return answer();
  };
  await sendOnce(wish, send).catch((error: unknown) => assert.ok(error instanceof HeadError));
  return key;
}

const wishes = () => unanswered().map(({ wish }) => wish);

beforeEach(() => {
  me.value = { name: 'anna', role: 'user' };
});
afterEach(() => forgetTyped());

test('[S8] a form has the same key until it is answered, and another form another', async () => {
  const lost = await keyOf('a', refuse('unavailable'));
  assert.notEqual(lost, '');
  assert.deepEqual(wishes(), ['a']);
  assert.notEqual(await keyOf('b', refuse('unavailable')), lost, 'what was changed is another job');
  assert.equal(await keyOf('a', refuse('unavailable')), lost);
  // Logged out meanwhile: the first try may be a job all the same.
  assert.equal(await keyOf('a', refuse('unauthenticated')), lost);
  assert.equal(await keyOf('a', () => Promise.resolve(1)), lost);
  assert.deepEqual(wishes(), ['b']);
  assert.notEqual(await keyOf('a', () => Promise.resolve(1)), lost, 'wanted a second time');
  assert.deepEqual(wishes(), ['b']);
});

test('[S8] what the head refuses is no job, and nothing is left of it', async () => {
  for (const kind of ['invalid_argument', 'unauthenticated', 'resource_exhausted']) {
    await keyOf('a', refuse(kind));
    assert.deepEqual(wishes(), [], kind);
  }
  // Looked for under its key, and not found: the first try made no job either.
  await keyOf('a', refuse('deadline_exceeded'));
  await keyOf('a', refuse('failed_precondition'));
  assert.deepEqual(wishes(), []);
  // A proxy that gave up, or a fault: the job may be there.
  await keyOf('a', refuse('internal'));
  assert.deepEqual(wishes(), ['a']);
  forget('a');
  assert.deepEqual(wishes(), []);
});

test('[D9] what was sent is known to who sent it, and only that', async () => {
  await keyOf('a', refuse('unavailable'));
  me.value = { name: 'bob', role: 'user' };
  assert.deepEqual(wishes(), []);
  me.value = { name: 'anna', role: 'user' };
  assert.deepEqual(wishes(), ['a']);
  forgetTyped();
  assert.deepEqual(wishes(), []);
  for (const text of ['', 'null', '{', '7', '[]', '{"of":"anna"}', '{"of":"anna","all":[null,1]}'])
    assert.deepEqual(readUnanswered(text, 'anna'), [], text);
  const many = Array.from({ length: 9 }, (_, at) => ({ wish: `w${at}`, key: 'k', at }));
  assert.equal(readUnanswered(writeUnanswered(many, 'anna'), 'anna').length, 5);
  const bad = { wish: 'w', key: 'k\nx', at: 1 };
  assert.deepEqual(readUnanswered(JSON.stringify({ of: 'anna', all: [bad] }), 'anna'), []);
});
