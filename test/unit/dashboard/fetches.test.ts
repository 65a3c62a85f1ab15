// Questions of several fetches: files of one download, and the first start of a batch on a node.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstStartOn } from '../../../dashboard/pure/first-start.ts';
import { together } from '../../../dashboard/pure/together.ts';

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

test('the first start on a node is found on whichever page it is', async () => {
  const job = (id: string, startedAt: number | null, ...nodes: string[]) => ({
    ...{ id, epoch: 1, startedAt, nodes },
  });
  const pages = [
    { jobs: [job('1', 50, 'n1'), job('2', null, 'n2')], next: 1 },
    { jobs: [job('3', 40, 'n2'), job('4', 30, 'n2', 'n3')], next: null },
  ];
  const find = (node: string) =>
    firstStartOn(node, (after) => Promise.resolve(pages[after ?? 0] ?? assert.fail('no page')));
  assert.deepEqual(await find('n2'), { id: '4', epoch: 1 });
  assert.deepEqual(await find('n1'), { id: '1', epoch: 1 });
  assert.equal(await find('n4'), null);
});
