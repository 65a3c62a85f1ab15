// The first start of a batch on a node, among pages of jobs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstStartOn } from '../../../../../src/wings/batches/page/first-start.ts';

test('the first start on a node is found on whichever page it is', async () => {
  const job = (id: string, startedAt: number | null, ...nodes: string[]) => ({
    id,
    epoch: 1,
    startedAt,
    nodes,
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
