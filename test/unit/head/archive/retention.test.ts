// Which archived tasks go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRetention } from '../../../../src/head/archive/retention.ts';

function goes(sizes: readonly number[], { bytesMax = 100, ageMs = 1000, now = 500 } = {}): number {
  const kept = sizes.map((bytes, storedAt) => {
    return {
      shelf: { jobId: storedAt + 1, index: 0, isArray: false },
      folder: '',
      bytes,
      storedAt,
    };
  });
  return planRetention(kept, { bytesMax, ageMs, now }).goes;
}

test('what is too much goes with a little more, so that the next ones need no look', () => {
  assert.equal(goes(new Array(100).fill(1)), 0);
  assert.equal(goes(new Array(101).fill(1)), 6);
});

test('what has room does not go for that little more when it is more than that', () => {
  assert.equal(goes([1, 100]), 1);
  assert.equal(goes([40, 40, 40]), 1);
});

test('what is too old goes, with room or without', () => {
  assert.equal(goes([1, 1, 1], { now: 1001 }), 2);
});
