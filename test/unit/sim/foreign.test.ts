// Runs about other clusters: the same seed gives the same run, and planted bugs are found by their
// own rules and taken out again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FOREIGN_CANARIES } from '../../../sim/foreign/canaries.ts';
import { FOREIGN_CANARY_SEEDS } from '../../../sim/foreign/seeds.ts';
import { runForeignSeed } from '../../../sim/foreign/world.ts';

const RULES: Readonly<Record<string, string>> = {
  'absence-is-done': 'X1',
  'submit-repeated': 'X2',
  'steered-while-scheduling': 'X4',
  'head-waits-for-sites': 'X8',
  'never-given-back': 'X5',
  'stops-heeded-late': 'X9',
  'adopted-again': 'X3',
  'started-in-maintenance': 'X6',
  'silence-is-done': 'X1',
  'array-taken-for-one': 'X3',
  'ticket-for-all': 'X10',
  'started-anywhere': 'X11',
};

test('a seed about other clusters run twice is the same', async () => {
  const [first, second] = [await runForeignSeed({ seed: 9 }), await runForeignSeed({ seed: 9 })];
  assert.equal(first.violation, null);
  assert.ok(first.jobs > 10, `${first.jobs} jobs`);
  assert.equal(first.hash, second.hash);
});

for (const canary of FOREIGN_CANARIES) {
  test(`${canary.name} is found by its rule, and nothing else is wrong in its weather`, async () => {
    const seed = FOREIGN_CANARY_SEEDS[canary.name] ?? 1;
    const found = await runForeignSeed({ seed, canary });
    assert.equal(found.violation?.rule, RULES[canary.name]);
    const clean = await runForeignSeed({ seed, weather: canary.weather });
    assert.equal(clean.violation, null);
  });
}
