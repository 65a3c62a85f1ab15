// Which piece of an upload may come next, and whether it has room.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  admitPiece,
  bytesToFree,
  ownToFree,
  type Room,
  refuseBytes,
  roomAhead,
} from '../../../../../src/kernel/files/blobs/upload.ts';
import { BLOB_HASH, type BlobHash } from '../../../../../src/kernel/model/blob.ts';
import { formatRefusal, type Refusal } from '../../../../../src/kernel/model/errors.ts';

const HASH = 'ab'.repeat(32) as BlobHash;
const ROOM: Room = {
  bytesUsed: 70,
  bytesMax: 100,
  diskFree: 1000,
  user: { name: 'alice', bytesUsed: 10, bytesMax: 100 },
};

test('a hash is 64 lower-case hex digits, and nothing else', () => {
  assert.match(HASH, BLOB_HASH);
  for (const wrong of ['', HASH.slice(1), `${HASH}0`, HASH.toUpperCase(), `${HASH}\n`, '../x']) {
    assert.doesNotMatch(wrong, BLOB_HASH);
  }
});

test('an upload begins at 0, also anew, and goes on where it ended', () => {
  const before = { size: 10, offset: 4 };
  assert.ok(admitPiece(HASH, null, { offset: 0, size: 10 }).ok);
  assert.ok(admitPiece(HASH, before, { offset: 4, size: 10 }).ok);
  assert.ok(admitPiece(HASH, before, { offset: 0, size: 10 }).ok);
  assert.ok(admitPiece(HASH, null, { offset: 0, size: 0 }).ok);
});

test('a piece that begins elsewhere is refused with where to go on', () => {
  const offsetOf = (before: { size: number; offset: number } | null, offset: number) => {
    const admitted = admitPiece(HASH, before, { offset, size: 10 });
    return admitted.ok ? null : [admitted.error.code, admitted.error.details['offset']];
  };
  assert.deepEqual(offsetOf({ size: 10, offset: 4 }, 5), ['blob.offset', '4']);
  assert.deepEqual(offsetOf({ size: 10, offset: 4 }, 3), ['blob.offset', '4']);
  assert.deepEqual(offsetOf(null, 5), ['blob.offset', '0']);
  assert.deepEqual(offsetOf({ size: 9, offset: 4 }, 4), ['blob.offset', '0'], 'of another size');
  assert.equal(offsetOf({ size: 10, offset: 4 }, 11)?.[0], 'argument.invalid');
});

const WAIT = 'Wait until jobs that name files end';

test('what comes needs room beside what is there, in the quota and on the disk', () => {
  assert.equal(bytesToFree(ROOM, 30), 0);
  assert.equal(bytesToFree(ROOM, 31), 1);
  assert.equal(bytesToFree({ ...ROOM, diskFree: 20 }, 30), 10);
  assert.equal(refuseBytes(ROOM, 30), null);
});

test('no room is said with its reason: the quota or the disk', () => {
  assert.deepEqual(refuseBytes(ROOM, 31), {
    code: 'blob.quota',
    details: { size: '31', limit: '100', used: '70' },
    hint: `${WAIT}, or ask an admin to raise head.blobs_max.`,
  });
  const never = /^It can never fit; ask an admin for more: /;
  assert.match(refuseBytes(ROOM, 101)?.hint ?? '', never);
  assert.equal(refuseBytes({ ...ROOM, diskFree: 20 }, 30)?.code, 'blob.disk_full');
});

test('[F13] room is made for what has come, and ahead for no more than has come before', () => {
  assert.equal(roomAhead({ size: 1000, taken: 0 }, 5), 5);
  assert.equal(roomAhead({ size: 1000, taken: 100 }, 5), 100);
  assert.equal(roomAhead({ size: 1000, taken: 900 }, 5), 100, 'and for no more than is to come');
});

test('[F15] a user has no more room than their own, whatever is free', () => {
  const room: Room = { ...ROOM, user: { name: 'bob', bytesUsed: 15, bytesMax: 20 } };
  assert.equal(refuseBytes(room, 5), null);
  assert.equal(ownToFree(room, 6), 1);
  assert.deepEqual(refuseBytes(room, 6), {
    code: 'blob.user_quota',
    details: { user: 'bob', size: '6', limit: '20', used: '15' },
    hint: `${WAIT}, or ask an admin for more: \`weft user modify bob --files SIZE\`.`,
  });
  assert.match(refuseBytes(room, 21)?.hint ?? '', /^It can never fit; ask an admin for more: /);
  assert.match(
    formatRefusal(refuseBytes(room, 6) as Refusal),
    /^bob has 15 of at most 20 of files on the head; there is no room for 6 more\. Wait until /,
  );
});
