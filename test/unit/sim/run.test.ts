// A whole run: the same seed gives the same run, and a planted bug is found and taken out again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CANARIES } from '../../../sim/canaries.ts';
import { Streams } from '../../../sim/chance.ts';
import { runSeed } from '../../../sim/run.ts';
import { CANARY_SEEDS } from '../../../sim/seeds.ts';
import { drawWeather, SLOW } from '../../../sim/weather.ts';
import { World } from '../../../sim/world.ts';

/** What is drawn in terms of another field. */
const OF: Readonly<Record<string, readonly string[]>> = {
  heartbeatMs: ['nodeTimeoutMs'],
  isPlain: ['partitionMs', 'reserveMs', 'maintenanceMs', 'reloadMs'],
};

test('a slow storm lasts as many times as long, with jobs of hours', async () => {
  const weather = { ...SLOW, pace: 500, stormMs: 60_000, nodeCount: 2 };
  const { virtualMs, jobs, violation } = await runSeed({ seed: 5, weather });
  assert.equal(violation, null);
  assert.ok(virtualMs > 500 * 60_000 && jobs > 3, `${virtualMs} ms, ${jobs} jobs`);
});

test('a seed run twice is the same, also where something is drawn from a new stream', async () => {
  const before = new World({ seed: 3 });
  await before.run();
  const after = new World({ seed: 3 });
  for (const word of ['weather', 'storm', 'work', 'later work', 'net n1', 'machine n1']) {
    after.streams.under(word).of('something new').fraction();
  }
  await after.run();
  assert.equal(before.chronicle.violation, null);
  assert.ok(before.truth.jobs.size > 0 && before.messages > 100);
  assert.equal(after.chronicle.hash, before.chronicle.hash);
});

test('every field of the weather is drawn from a stream of its own', () => {
  const plain = drawWeather(new Streams(3));
  for (const field of Object.keys(plain) as (keyof typeof plain)[]) {
    const streams = new Streams(3);
    streams.of(field).fraction();
    const shifted = drawWeather(streams);
    const others = Object.keys(plain).filter((one) => !OF[field]?.includes(one) && one !== field);
    for (const one of others as (keyof typeof plain)[]) {
      assert.deepEqual(shifted[one], plain[one], `${field} shifts ${one}`);
    }
  }
});

test('a planted bug is found, and gone with its run', async () => {
  const weather = { stormMs: 20_000 };
  const clean = await runSeed({ seed: 24, weather });
  const canary = CANARIES.find(({ name }) => name === 'submit-not-deduplicated');
  const found = await runSeed({ seed: 24, canary });
  assert.equal(found.violation?.rule, 'S8');
  assert.equal(found.violation?.exitCode, 129);
  assert.ok(clean.jobs > 0 && clean.messages > 100);
  assert.equal((await runSeed({ seed: 24, weather })).hash, clean.hash);
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

test('[J8] more tasks of an array at once than its running limit are found', async () => {
  const canary = CANARIES.find(({ name }) => name === 'begun-beyond-limit');
  const seed = CANARY_SEEDS['begun-beyond-limit'] ?? 1;
  assert.equal((await runSeed({ seed, canary })).violation?.rule, 'J8');
});
