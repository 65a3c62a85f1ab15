// Which blobs go and who may read them: by cases, and as properties against a naive model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  findGarbage,
  type GarbageRule,
  mayGo,
  type StoredBlob,
} from '../../../../../src/kernel/files/blobs/garbage.ts';
import { References } from '../../../../../src/kernel/files/blobs/references.ts';
import type { BlobHash } from '../../../../../src/kernel/model/blob.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const hashOf = (at: number) => at.toString(16).padStart(64, '0') as BlobHash;
const RULE: GarbageRule = { now: 10 * DAY, idleMs: DAY, idlePressedMs: HOUR, bytesToFree: 0 };
const NOTHING = { isNamed: () => false, isUploading: () => false };

function blob(at: number, idleMs: number, size = 1): StoredBlob {
  return { hash: hashOf(at), size, touchedAt: RULE.now - idleMs };
}

function going(blobs: readonly StoredBlob[], rule: Partial<GarbageRule> = {}, keeping = NOTHING) {
  return findGarbage(blobs, keeping, { ...RULE, ...rule }).map(({ hash }) =>
    Number.parseInt(hash, 16),
  );
}

test('what nothing names goes after a day, and what was touched since stays', () => {
  assert.deepEqual(going([blob(1, DAY), blob(2, DAY - 1), blob(3, 5 * DAY)]), [3, 1]);
});

test('when room is short the longest untouched goes first, and no more than is needed', () => {
  const blobs = [blob(1, 2 * HOUR), blob(2, 3 * HOUR), blob(3, HOUR), blob(4, HOUR - 1)];
  assert.deepEqual(going(blobs, { bytesToFree: 1 }), [2]);
  assert.deepEqual(going(blobs, { bytesToFree: 2 }), [2, 1]);
  assert.deepEqual(going(blobs, { bytesToFree: 99 }), [2, 1, 3]);
});

test('a clock that was set back loses nothing', () => {
  assert.deepEqual(going([blob(1, 5 * DAY)], { now: 0, bytesToFree: 99 }), []);
});

const blobs = fc.array(
  fc.record({
    at: fc.nat(20),
    idleMs: fc.nat(3 * DAY),
    size: fc.nat(100),
    named: fc.boolean(),
    uploading: fc.boolean(),
  }),
  { maxLength: 30 },
);

test('[F4] a sweep never takes what is named, on its way, or was touched within the hour', () => {
  fc.assert(
    fc.property(blobs, fc.nat(2000), (all, bytesToFree) => {
      const one = [...new Map(all.map((each) => [each.at, each])).values()];
      const keeping = {
        isNamed: (hash: BlobHash) => one.some(({ at, named }) => named && hashOf(at) === hash),
        isUploading: (hash: BlobHash) => one.some((b) => b.uploading && hashOf(b.at) === hash),
      };
      const rule = { ...RULE, bytesToFree };
      const stored = one.map(({ at, idleMs, size }) => blob(at, idleMs, size));
      const gone = findGarbage(stored, keeping, rule);
      for (const each of gone) {
        assert.ok(!keeping.isNamed(each.hash) && !keeping.isUploading(each.hash));
        assert.ok(rule.now - each.touchedAt >= HOUR);
        assert.ok(mayGo(each, keeping, rule));
      }
      const kept = stored.filter((each) => !gone.includes(each));
      for (const each of kept) {
        const isIdle = rule.now - each.touchedAt >= DAY;
        const isKept = keeping.isNamed(each.hash) || keeping.isUploading(each.hash);
        assert.ok(isKept || !isIdle, 'nothing idle stays without a reason');
      }
      const freed = gone.reduce((sum, { size }) => sum + size, 0);
      const couldGo = kept.some((each) => mayGo(each, keeping, rule));
      assert.ok(freed >= bytesToFree || !couldGo, 'as much as is short, if there is so much');
    }),
  );
});

const changes = fc.array(
  fc.record({
    by: fc.constantFrom('job 1', 'job 2', 'archive 1'),
    user: fc.constantFrom('alice', 'bob'),
    hashes: fc.option(fc.array(fc.nat(4), { maxLength: 6 }), { nil: null }),
  }),
);

test('references are what the things that are left name, in whatever order they came and went', () => {
  fc.assert(
    fc.property(changes, (all) => {
      const references = new References();
      const left = new Map<string, { user: string; hashes: readonly number[] }>();
      for (const { by, user, hashes } of all) {
        if (hashes === null) references.remove(by);
        else references.set(by, user, hashes.map(hashOf));
        if (hashes === null) left.delete(by);
        else left.set(by, { user, hashes });
      }
      for (const at of [0, 1, 2, 3, 4]) {
        const by = [...left.values()].filter(({ hashes }) => hashes.includes(at));
        assert.equal(references.isNamed(hashOf(at)), by.length > 0);
        for (const user of ['alice', 'bob']) {
          const mine = by.some((each) => each.user === user);
          assert.equal(references.isNamedBy(hashOf(at), user), mine);
        }
      }
    }),
  );
});
