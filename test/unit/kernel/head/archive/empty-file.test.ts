// The one empty file: made when it is missing, and made anew when it can have no more names.

import assert from 'node:assert/strict';
import { linkSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { linkEmpty } from '../../../../../src/kernel/head/archive/job-logs.ts';

/** EXT4_LINK_MAX; on file systems that allow more, nothing is made anew. */
const NAMES_MAX = 65_000;

test('an empty file has a name more each time, also when it has as many as it may have', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-empty-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const empty = path.join(folder, 'empty');
  const names = ['a', 'b'].map((name) => path.join(folder, name));
  for (const name of names) linkEmpty(empty, name);
  assert.deepEqual(new Set(names.map((name) => statSync(name).ino)).size, 1);
  for (let at = 3; at < NAMES_MAX; at += 1) linkSync(empty, path.join(folder, `n${at}`));
  for (const name of ['c', 'd', 'e']) linkEmpty(empty, path.join(folder, name));
  assert.deepEqual(
    ['c', 'd', 'e'].map((name) => statSync(path.join(folder, name)).size),
    [0, 0, 0],
  );
});
