// Runs about other clusters: in the weather that is made for a planted bug nothing else is wrong.
// That each bug is found, and by its rule, and that a seed gives the same run twice, is part of
// the simulator's check.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FOREIGN_CANARIES } from '../../../sim/foreign/canaries.ts';
import { FOREIGN_CANARY_SEEDS } from '../../../sim/foreign/seeds.ts';
import { runForeignSeed } from '../../../sim/foreign/world.ts';

for (const { name, weather } of FOREIGN_CANARIES) {
  test(`in the weather of ${name} nothing is wrong but what is planted`, async () => {
    const seed = FOREIGN_CANARY_SEEDS[name] ?? 1;
    const clean = await runForeignSeed({ seed, weather });
    assert.equal(clean.violation, null);
    assert.ok(clean.jobs > 3, `${clean.jobs} jobs`);
  });
}
