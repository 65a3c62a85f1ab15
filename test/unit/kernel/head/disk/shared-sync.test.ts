// One sync for all that wait: nobody is told before a sync that began after it had written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedSync } from '../../../../../src/kernel/head/disk/shared-sync.ts';

function bench() {
  const begun: PromiseWithResolvers<void>[] = [];
  const shared = new SharedSync(() => {
    const one = Promise.withResolvers<void>();
    begun.push(one);
    return one.promise;
  });
  const turn = () => new Promise(setImmediate);
  return { begun, shared, turn };
}

test('all of one turn are served by one sync, those that come during it by the next', async () => {
  const { begun, shared, turn } = bench();
  const told: string[] = [];
  const first = ['a', 'b'].map((name) => shared.settle().then(() => told.push(name)));
  await turn();
  assert.equal(begun.length, 1);
  const second = ['c', 'd'].map((name) => shared.settle().then(() => told.push(name)));
  await turn();
  assert.equal(begun.length, 1, 'one at a time');
  begun[0]?.resolve();
  await Promise.all(first);
  assert.deepEqual(told, ['a', 'b'], 'whoever wrote during a sync is not told by it');
  await turn();
  assert.equal(begun.length, 2);
  begun[1]?.resolve();
  await Promise.all(second);
  assert.deepEqual(told, ['a', 'b', 'c', 'd']);
});

test('after a sync that failed nobody is told, whoever wrote meanwhile or later', async () => {
  const { begun, shared, turn } = bench();
  const first = assert.rejects(shared.settle(), { message: 'EIO' });
  await turn();
  const meanwhile = assert.rejects(shared.settle(), { message: 'EIO' });
  assert.equal(shared.hasFailed, false);
  begun[0]?.reject(new Error('EIO'));
  await first;
  assert.ok(shared.hasFailed);
  await meanwhile;
  await assert.rejects(shared.settle(), { message: 'EIO' });
  await shared.idle();
  assert.equal(begun.length, 1, 'a second sync of the same file would say that all is well');
});
