// Heads whose disk is put back, in the simulator: seeds that must pass, and bugs that must be
// found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESTORED_CANARIES } from '../../../sim/restored/canary.ts';
import { RESTORED_CANARY_SEEDS } from '../../../sim/restored/seeds.ts';
import { ALONE } from '../../../sim/restored/weather.ts';
import { runRestored } from '../../../sim/restored/world.ts';

const SEEDS = 12;

test('[S14] a head that was put back does no harm, and all that it knows ends', async () => {
  let lost = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const end = await runRestored({ seed, ...(seed % 2 === 0 ? { weather: ALONE } : {}) });
    assert.equal(end.violation, null, `seed ${seed}: ${end.violation?.message}`);
    lost += end.lost;
  }
  assert.ok(lost > SEEDS, 'the copies lack jobs');
});

for (const canary of RESTORED_CANARIES) {
  test(`[S1] [S13] [S14] planted, and found: ${canary.sentence}`, async () => {
    const seed = RESTORED_CANARY_SEEDS[canary.name] ?? 1;
    assert.notEqual((await runRestored({ seed, canary })).violation, null);
  });
}
