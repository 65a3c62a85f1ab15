// `weft node list`: labels are those that somebody gave or the node has, not what the head derives
// for itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead } from './fake-head.ts';
import { nodeView } from './views.ts';

test('labels of shared directories and of builds that failed are not listed', async () => {
  const labels = ['build-failed=7', 'gpu', 'shared=/home'];
  await using head = await FakeHead.start({
    'GET /v1/nodes': () => ({ json: { nodes: [nodeView({ name: 'n1', labels })] } }),
  });
  const { out } = await head.weft('node', 'list');
  assert.match(out, / gpu *$/m);
  assert.doesNotMatch(out, /build-failed|shared=/);
});
