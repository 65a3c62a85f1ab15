// Questions of several fetches, and answers that are lost.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { asRetried, call, HeadError } from '../../../../src/kernel/page/data/client.ts';
import { together } from '../../../../src/kernel/page/pure/together.ts';

test('fetches come in their order, and the first that fails ends the others', async () => {
  const twice = (one: number) => Promise.resolve(2 * one);
  assert.deepEqual(await together([1, 2, 3, 4, 5], 2, twice), [2, 4, 6, 8, 10]);
  const asked: number[] = [];
  const aborted: number[] = [];
  const fetchOne = (one: number, signal: AbortSignal): Promise<never> => {
    asked.push(one);
    if (one === 2) return Promise.reject(new Error('broke off'));
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push(one);
        reject(new Error('aborted'));
      });
    });
  };
  await assert.rejects(together([1, 2, 3, 4], 2, fetchOne), /broke off/);
  assert.deepEqual([asked, aborted], [[1, 2], [1]]);
});

const { fetch: real } = globalThis;
afterEach(() => {
  globalThis.fetch = real;
});

/** Words after an answer that was lost. */
async function hintOf(ask: () => Promise<unknown>): Promise<string> {
  const error = await ask().catch((cause: unknown) => cause);
  assert.ok(error instanceof HeadError);
  assert.equal(error.kind, 'unavailable');
  return error.hint ?? '';
}

test('after a lost answer the page says what it does itself, and what may have been done', async () => {
  const params = { id: '7' };
  globalThis.fetch = () => Promise.reject(new TypeError('network error'));
  const asked = await hintOf(() => call('getJob', { params }));
  assert.equal(asked, 'Jobs go on meanwhile. Try again.');
  const done = /It may have been done all the same/;
  assert.match(await hintOf(() => call('cancelJob', { params, body: {} })), done);
  const body = { program: { kind: 'shell' as const, line: 'true' } };
  assert.doesNotMatch(await hintOf(() => call('rehearseJob', { body: body as never })), done);
  const unreachable = new HeadError({
    code: 'head.unreachable',
    kind: 'unavailable',
    message: 'The head does not answer.',
    hint: 'x',
  });
  assert.equal(asRetried(unreachable).hint, 'The page tries again by itself.');
  const refused = new HeadError({ code: 'a.b', kind: 'not_found', message: 'm', hint: 'h' });
  assert.equal(asRetried(refused).hint, 'h');
});
