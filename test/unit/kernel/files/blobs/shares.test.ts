// Who gives room when all users together keep too much.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shares } from '../../../../../src/kernel/files/blobs/shares.ts';

/** What goes of these, asked in this order. */
function goesOf(kept: readonly (readonly [owner: string, bytes: number])[], bytesMax = 100) {
  const byOwner = new Map<string, number>();
  for (const [owner, bytes] of kept) byOwner.set(owner, (byOwner.get(owner) ?? 0) + bytes);
  const shares = new Shares(byOwner, { bytesMax, leftShare: 0.9 });
  return kept.flatMap(([owner, bytes], at) => (shares.takes(owner, bytes) ? [at] : []));
}

test('[W9] who keeps no more than an equal share gives nothing, however old it is', () => {
  assert.deepEqual(
    goesOf([
      ['bob', 45],
      ['ann', 30],
      ['ann', 30],
    ]),
    [1],
  );
  assert.deepEqual(
    goesOf([
      ['bob', 30],
      ['cat', 30],
      ['ann', 60],
    ]),
    [2],
  );
});

test('[W9] several who keep more than a share give the oldest of all, each down to the share', () => {
  const kept = [
    ['bob', 10],
    ['ann', 25],
    ['bob', 40],
    ['ann', 40],
  ] as const;
  assert.deepEqual(goesOf(kept), [0, 1]);
});

test('nothing goes while there is room, and nothing large for a little spare room', () => {
  assert.deepEqual(goesOf([['ann', 100]]), []);
  assert.deepEqual(
    goesOf([
      ['ann', 6],
      ['ann', 50],
      ['ann', 45],
    ]),
    [0],
  );
  assert.deepEqual(
    goesOf([
      ['ann', 3],
      ['ann', 5],
      ['ann', 50],
      ['ann', 45],
    ]),
    [0, 1],
  );
});
