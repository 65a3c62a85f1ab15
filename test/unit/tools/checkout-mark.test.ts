// Whose cluster `npm run clean` may take away.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { hasCluster, markCluster, whyNotOurs } from '../../../tools/checkout-mark.ts';

test('npm run clean takes away the cluster that npm start of this checkout began, and no other', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-mark-'));
  try {
    assert.deepEqual([hasCluster(directory), whyNotOurs(directory, '/a')], [false, null]);
    mkdirSync(path.join(directory, 'head'));
    writeFileSync(path.join(directory, 'cluster.json'), '{}');
    assert.equal(hasCluster(directory), true);
    const installed = whyNotOurs(directory, '/a') ?? '';
    assert.match(installed, /is left alone: npm start has not begun it\. weft down --clean /);
    markCluster(directory, '/a');
    assert.equal(whyNotOurs(directory, '/a'), null);
    assert.match(whyNotOurs(directory, '/b') ?? '', /that of \/a has begun it/);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
