// A whole run: the same seed gives the same run, and a planted bug is found and taken out again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CANARIES } from '../../../sim/canaries.ts';
import { runSeed } from '../../../sim/run.ts';
import { CANARY_SEEDS } from '../../../sim/seeds.ts';

test('a seed run twice is the same to the last message', async () => {
  const first = await runSeed({ seed: 3 });
  const second = await runSeed({ seed: 3 });
  assert.equal(first.violation, null);
  assert.ok(first.jobs > 0 && first.messages > 100);
  assert.equal(first.hash, second.hash);
});

test('a planted bug is found, and gone with its run', async () => {
  const clean = await runSeed({ seed: 24 });
  const canary = CANARIES.find(({ name }) => name === 'submit-not-deduplicated');
  const found = await runSeed({ seed: 24, canary });
  assert.equal(found.violation?.rule, 'S8');
  assert.equal(found.violation?.exitCode, 129);
  assert.equal((await runSeed({ seed: 24 })).hash, clean.hash);
});

test('every canary has a seed of its own, and no seed is for a canary that is gone', () => {
  const names = CANARIES.map(({ name }) => name).sort();
  assert.deepEqual(names, Object.keys(CANARY_SEEDS).sort());
});

test('[S5] who takes what is set aside for others is found', async () => {
  const canary = CANARIES.find(({ name }) => name === 'reservation-ignored');
  const seed = CANARY_SEEDS['reservation-ignored'] ?? 1;
  assert.equal((await runSeed({ seed, canary })).violation?.rule, 'S5');
  assert.equal((await runSeed({ seed, weather: canary?.weather })).violation, null);
});
