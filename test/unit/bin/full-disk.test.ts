// A head on a full disk, a real one of a few MiB.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runMounted } from '../kernel/store/support/child.ts';
import { newDirectory } from '../kernel/store/support/directory.ts';

test('on a full disk jobs can be looked at and cancelled, also by a head that is started there', async (t) => {
  const directory = newDirectory(t);
  const prepare = 'mount -t tmpfs -o size=110m tmpfs "$1"; export TMPDIR="$1"';
  const script = fileURLToPath(new URL('./support/fills-disk.ts', import.meta.url));
  const { code, stdout, stderr } = await runMounted(prepare, script, directory);
  assert.equal(code, 0, stderr);
  const seen = JSON.parse(stdout);
  assert.match(seen.refused, /store\.unavailable/, 'the disk became full');
  assert.equal(seen.cancelled, 'done');
  assert.match(seen.inShortage, /the head's disk is full, .*listed and cancelled/);
  assert.deepEqual(seen.afterRestart, ['done', 'done', 'pending']);
  assert.match(seen.stillShort, /the head's disk is full/);
  assert.match(seen.told.words, /^It is pending: the head starts nothing: the head's disk is full/);
  assert.match(seen.told.obstacle, /^the head's disk is full/);
  assert.equal(seen.told.after, null);
});
