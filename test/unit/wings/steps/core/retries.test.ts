// How long and how often the line of a step is tried again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINGER_MS, LINGER_MS_MAX } from '../../../../../src/wings/steps/core/limits.ts';
import { Retries } from '../../../../../src/wings/steps/core/retries.ts';

/** The instants of all tries, each of which fails. */
function tries(retries: Retries, isUnknown: (now: number) => boolean, from = 0): number[] {
  const at = [from];
  for (let now = from; ; at.push(now)) {
    const waitMs = retries.failed(now, isUnknown(now));
    if (waitMs === null) return at;
    now += waitMs;
  }
}

test('tries become rarer while the head is away, and go on for as long as the node waits', () => {
  const at = tries(new Retries(LINGER_MS_MAX), () => false);
  assert.deepEqual(at.slice(0, 9), [0, 200, 600, 1400, 3000, 6200, 12_600, 22_600, 32_600]);
  const last = at.at(-1) ?? 0;
  assert.ok(last > LINGER_MS_MAX && last <= LINGER_MS_MAX + 10_000, `${last}`);
});

test('a head that knows no such step is believed after a minute, however long the node waits', () => {
  const last = tries(new Retries(LINGER_MS_MAX), () => true).at(-1) ?? 0;
  assert.ok(last > LINGER_MS && last <= LINGER_MS + 10_000, `${last}`);
});

test('that minute begins when a head answers', () => {
  const backAt = 3_600_000;
  const last = tries(new Retries(LINGER_MS_MAX), (now) => now >= backAt).at(-1) ?? 0;
  assert.ok(last > backAt + LINGER_MS && last <= backAt + LINGER_MS + 20_000, `${last}`);
});

test('no wait takes a large part of a short time', () => {
  const at = tries(new Retries(10_000), () => false);
  const waits = at.slice(1).map((one, place) => one - (at[place] ?? 0));
  assert.equal(Math.max(...waits), 1_000);
});

test('after a line that was had all begins anew', () => {
  const retries = new Retries(LINGER_MS);
  tries(retries, () => true);
  retries.joined();
  assert.equal(retries.failed(10 * LINGER_MS, true), 200);
});
