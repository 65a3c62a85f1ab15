// Heads whose disk is put back, in the simulator: seeds that must pass. That each planted bug is
// found is part of the simulator's check.

import assert from 'node:assert/strict';
import { test } from 'node:test';
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
