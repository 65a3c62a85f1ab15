// Which archived tasks go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type KeptTask,
  planRetention,
  type Wanted,
} from '../../../../src/head/archive/retention.ts';

interface Case {
  readonly bytesMax?: number;
  readonly ageMs?: number;
  readonly now?: number;
  readonly wanted?: readonly Wanted[];
}

type Kept = readonly (readonly [owner: string, bytes: number])[];

/** Each is stored one millisecond after the one before it; says which of them go. */
function goesOf(all: Kept, given: Case = {}): number[] {
  const kept = all.map(([owner, bytes], storedAt): KeptTask => {
    const shelf = { jobId: storedAt, index: 0, isArray: false };
    return { shelf, folder: '', owner, bytes, storedAt };
  });
  const rule = { bytesMax: 100, ageMs: 1000, now: 500, ...given };
  return planRetention(kept, rule).map(({ shelf }) => shelf.jobId);
}

function goes(sizes: readonly number[], given: Case = {}): number {
  const all = goesOf(
    sizes.map((bytes) => ['alice', bytes]),
    given,
  );
  assert.deepEqual(
    all,
    all.map((_, at) => at),
    'the oldest',
  );
  return all.length;
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

test('[F8] what a user leaves takes nothing from who keeps no more than an equal share', () => {
  const alice: Kept = [
    ['alice', 20],
    ['alice', 20],
  ];
  const bob: Kept = new Array(9).fill(['bob', 10]);
  assert.deepEqual(goesOf([...alice, ...bob]), [2, 3, 4], 'though hers are older');
  const both: Kept = [...alice, ['alice', 40], ...bob.slice(0, 4)];
  assert.deepEqual(goesOf(both), [0], 'she keeps the most');
});

test('[F13] room that a user needs comes of what the same user keeps, the oldest first', () => {
  const all: Kept = [
    ['alice', 20],
    ['bob', 20],
    ['bob', 20],
  ];
  assert.deepEqual(goesOf(all, { wanted: [{ owner: 'bob', bytes: 5 }] }), [1]);
  assert.deepEqual(goesOf(all, { wanted: [{ owner: 'bob', bytes: 50 }] }), [1, 2]);
  assert.deepEqual(goesOf(all, { wanted: [{ owner: 'carol', bytes: 50 }] }), []);
});
