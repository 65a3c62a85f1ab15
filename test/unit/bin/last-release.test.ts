// An older head leaves a store alone, and says which release served it last.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { namingRelease, noteRelease, refuseOlder } from '../../../src/bin/last-release.ts';
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

test('a release that is older than the last one of a store refuses it, whatever it could read', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-release-'));
  t.after(() => rmSync(directory, { recursive: true }));
  refuseOlder(directory, '0.2.0');
  noteRelease(directory, '0.10.0');
  for (const same of ['0.10.0', '0.10.1', '0.11.0-rc.1', '1.0.0']) refuseOlder(directory, same);
  for (const older of ['0.9.9', '0.10.0-rc.2', '0.2.0']) {
    assert.throws(
      () => refuseOlder(directory, older),
      (error) => {
        assert.ok(error instanceof StoreFailure && error.reason === 'newer');
        assert.match(error.message, new RegExp(`served by Weft 0\\.10\\.0, and this is ${older},`));
        return true;
      },
    );
  }
  noteRelease(directory, '0.10.0-rc.10');
  assert.throws(() => refuseOlder(directory, '0.10.0-rc.9'));
  refuseOlder(directory, '0.10.0-rc.11');
});
