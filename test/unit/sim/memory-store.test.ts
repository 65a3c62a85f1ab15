// The store in memory: what a crash takes and what it leaves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryDisk, MemoryStore } from '../../../sim/memory-store.ts';
import { StoreFailure } from '../../../src/kernel/ports/store.ts';
import { commitOf, job } from '../kernel/store/support/rows.ts';

async function seqsOn(disk: MemoryDisk): Promise<number[]> {
  const { records } = await new MemoryStore({ disk }).recover();
  return Array.from(records, (record) => record.seq);
}

test('[S1] a crash keeps what was committed and loses the rest', async () => {
  const disk = new MemoryDisk();
  const due: (() => void)[] = [];
  const store = new MemoryStore({ disk, commitSoon: (commit) => due.push(commit) });
  const first = store.append(commitOf(1, [job(1)]));
  let wasAnswered = false;
  store.append(commitOf(2, [job(2)])).then(() => {
    wasAnswered = true;
  });
  due[0]?.();
  await first;
  store.crash();
  due[1]?.();
  assert.deepEqual(await seqsOn(disk), [1]);
  assert.deepEqual([...disk.jobs.keys()], [1]);
  assert.equal(wasAnswered, false);
});

test('a failing disk refuses commits without a trace until it is well again', async () => {
  const disk = new MemoryDisk();
  const store = new MemoryStore({ disk });
  disk.failure = new StoreFailure('full', 'No space is left.');
  await assert.rejects(store.append(commitOf(1, [job(1)])), disk.failure);
  assert.equal(await store.probe(), 'none');
  disk.failure = null;
  assert.equal(await store.probe(), 'enough');
  assert.deepEqual(await seqsOn(disk), []);
  await store.append(commitOf(1));
  assert.deepEqual(await seqsOn(disk), [1]);
});
