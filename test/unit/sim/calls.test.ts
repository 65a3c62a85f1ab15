// Runs about calls: in the weather that is made for a planted bug nothing else is wrong. That each
// bug is found, and that a seed gives the same run twice, is part of the simulator's check.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALL_CANARIES } from '../../../sim/calls/canaries.ts';
import { runCallSeed } from '../../../sim/calls/world.ts';

for (const { name, weather } of CALL_CANARIES) {
  test(`in the weather of ${name} nothing is wrong but what is planted`, () => {
    const clean = runCallSeed({ seed: 1, weather });
    assert.equal(clean.violation, null);
    assert.ok(clean.calls > 3, `${clean.calls} calls`);
  });
}
