// What batches add to the clusters of programs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cluster, SubmittedBatch, WeftError } from '../../../../../src/library.ts';

test('every cluster has batches, as if its class had their methods', async () => {
  const cluster = new Cluster({}, 'anna');
  const found = cluster.findBatch('anna/sweep@2');
  assert.ok(found instanceof SubmittedBatch);
  assert.equal(found.title, 'anna/sweep@2');
  assert.throws(() => cluster.findBatch('no title'), WeftError);
  // @ts-expect-error -- there is no such way to submit it
  const refused = cluster.batch('sweep.yaml', { mode: 'new', model: 'new' });
  await assert.rejects(refused, /there is no option 'model'/);
  assert.deepEqual(Object.keys(Cluster.prototype), []);
});
