// Runs about calls: the same seed gives the same run, and planted bugs are found and taken out
// again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALL_CANARIES } from '../../../sim/calls/canaries.ts';
import { runCallSeed } from '../../../sim/calls/world.ts';

test('a seed about calls run twice is the same', () => {
  const [first, second] = [runCallSeed({ seed: 9 }), runCallSeed({ seed: 9 })];
  assert.equal(first.violation, null);
  assert.ok(first.calls > 10, `${first.calls} calls`);
  assert.equal(first.hash, second.hash);
});

for (const canary of CALL_CANARIES) {
  test(`in the weather of ${canary.name} nothing is wrong but what is planted`, () => {
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const seed = seeds.find((one) => runCallSeed({ seed: one, canary }).violation !== null);
    assert.ok(seed !== undefined, 'the planted bug is found');
    const clean = runCallSeed({ seed, canary: { ...canary, plant: () => ({}) } });
    assert.equal(clean.violation, null);
  });
}
