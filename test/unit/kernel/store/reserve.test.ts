// The room that is kept back for a full disk: what may take it, and where none can be had.

import assert from 'node:assert/strict';
import fs, { existsSync, statSync, truncateSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toStoreFailure } from '../../../../src/kernel/store/sqlite/failures.ts';
import { Reserve } from '../../../../src/kernel/store/sqlite/reserve.ts';
import { runMounted } from './support/child.ts';
import { newDirectory } from './support/directory.ts';

const MIB = 1_048_576;

/** A user's quota allows so many bytes more, on a disk with room; gives the quota back. */
function underQuota(t: TestContext, bytes: number): () => void {
  const { writeSync, writeFileSync } = fs;
  const refused = Object.assign(new Error('EDQUOT: quota exceeded, write'), {
    errno: -122,
    code: 'EDQUOT',
    syscall: 'write',
  });
  let left = bytes;
  const take = (piece: unknown): void => {
    left -= (piece as Uint8Array).length;
    if (left < 0) throw refused;
  };
  Object.assign(fs, {
    writeSync: (file: number, piece: Uint8Array) => {
      take(piece);
      return writeSync(file, piece);
    },
    writeFileSync: (path: string, piece: Uint8Array) => {
      take(piece);
      writeFileSync(path, piece);
    },
  });
  syncBuiltinESMExports();
  const end = (): void => {
    Object.assign(fs, { writeSync, writeFileSync });
    syncBuiltinESMExports();
  };
  t.after(end);
  return end;
}

test('where a quota allows no reserve, work is accepted without one, and it is said', (t) => {
  const directory = newDirectory(t);
  const path = join(directory, 'weft.reserve');
  const raise = underQuota(t, 4 * MIB);
  const reserve = new Reserve(directory);
  const words =
    /weft\.reserve: a quota does not allow it \(EDQUOT\)\. Nothing is kept back .* 16 MiB more/;
  assert.match(reserve.fill() ?? '', words);
  assert.deepEqual([reserve.isSpent, reserve.spend()], [false, false]);
  assert.ok(!existsSync(path), 'the next head must not take it for one that was given up');
  assert.equal(new Reserve(directory).isSpent, false);
  raise();
  assert.equal(reserve.fill(), null);
  assert.equal(statSync(path).size, 16 * MIB);
});

test('a reserve that was given up is missed until the quota allows it again', (t) => {
  const directory = newDirectory(t);
  const reserve = new Reserve(directory);
  assert.equal(reserve.fill(), null);
  assert.ok(reserve.spend());
  const raise = underQuota(t, 4 * MIB);
  assert.match(reserve.fill() ?? '', /EDQUOT/);
  assert.equal(reserve.isSpent, true);
  assert.equal(new Reserve(directory).isSpent, true);
  raise();
  assert.equal(reserve.fill(), null);
  assert.equal(reserve.isSpent, false);
});

test('a head that was killed while it made its reserve makes it again', (t) => {
  const directory = newDirectory(t);
  new Reserve(directory).fill();
  truncateSync(join(directory, 'weft.reserve'), 5 * MIB);
  const reserve = new Reserve(directory);
  assert.equal(reserve.fill(), null);
  assert.ok(reserve.spend());
});

test('what SQLite calls a disk error is a full disk when it is a quota', (t) => {
  const error = Object.assign(new Error('disk I/O error'), { errcode: 778, code: 'ERR_SQLITE' });
  // Enough for a small file, too little for a commit.
  underQuota(t, 100_000);
  const failure = toStoreFailure(error, newDirectory(t));
  assert.equal(failure.reason, 'full');
  assert.match(failure.message, /No space is left on this file system or in the quota/);
});

test('a snapshot that finds no room leaves the reserve to the records', async (t) => {
  const prepare = 'mount -t tmpfs -o size=100m tmpfs "$1"';
  const directory = newDirectory(t);
  const { code, stdout, stderr } = await runMounted(
    prepare,
    './snapshots-on-full-disk.ts',
    directory,
  );
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), {
    made: 16,
    snapshot: 'full',
    afterSnapshot: 16,
    record: 'full',
    afterRecord: 0,
    room: 'ends_only',
  });
});
