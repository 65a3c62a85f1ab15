// An older head that cannot read a store says which release wrote it last.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { namingRelease, noteRelease } from '../../../src/bin/last-release.ts';
import { StoreFailure } from '../../../src/kernel/ports/store.ts';

test('what an older head cannot read is told with the release that wrote it', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-release-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const newer = new StoreFailure('newer', 'the snapshot has version 9.');
  assert.equal(namingRelease(newer, directory), newer);
  noteRelease(directory, '0.3.0');
  noteRelease(directory, '0.3.0');
  assert.deepEqual(readdirSync(directory), ['release']);
  const named = namingRelease(newer, directory);
  assert.ok(named instanceof StoreFailure && named.reason === 'newer');
  assert.equal(named.message, 'the snapshot has version 9. Weft 0.3.0 wrote it last.');
  const full = new StoreFailure('full', 'no room');
  assert.equal(namingRelease(full, directory), full);
  // Whatever else stands in that file is not repeated.
  writeFileSync(join(directory, 'release'), 'x'.repeat(5000));
  assert.equal(namingRelease(newer, directory), newer);
  noteRelease(join(directory, 'nowhere'), '0.3.0');
});
