// Which cached contents go: as properties.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CachedBlob, findUnneeded } from '../../../../../src/kernel/files/blobs/cache.ts';
import { diskBytes } from '../../../../../src/kernel/files/blobs/upload.ts';
import type { BlobHash } from '../../../../../src/kernel/model/blob.ts';

const caches = fc
  .array(
    fc.record({
      size: fc.nat(20_000),
      usedAt: fc.nat(10),
      users: fc.constantFrom(0, 0, 1),
    }),
    { maxLength: 20 },
  )
  .map((all): CachedBlob[] =>
    all.map((one, at) => ({ ...one, hash: at.toString(16).padStart(64, '0') as BlobHash })),
  );

const total = (all: readonly CachedBlob[]) =>
  all.reduce((sum, { size }) => sum + diskBytes(size), 0);

test('what is in use stays, the longest unused goes first, and no more than has to', () => {
  fc.assert(
    fc.property(caches, fc.nat(200_000), (all, bytesMax) => {
      const gone = findUnneeded(all, bytesMax);
      assert.ok(gone.every(({ users }) => users === 0));
      const stays = all.filter((one) => !gone.includes(one));
      const idle = stays.filter(({ users }) => users === 0);
      for (const one of gone) assert.ok(idle.every(({ usedAt }) => usedAt >= one.usedAt));
      if (idle.length > 0) assert.ok(total(stays) <= bytesMax);
      const last = gone.at(-1);
      if (last !== undefined) assert.ok(total([...stays, last]) > bytesMax);
    }),
  );
});

test('a cache that is small enough loses nothing', () => {
  const one = { hash: 'a'.repeat(64) as BlobHash, size: 4096, usedAt: 0, users: 0 };
  assert.deepEqual(findUnneeded([one], 4096), []);
  assert.deepEqual(findUnneeded([one], 4095), [one]);
});
