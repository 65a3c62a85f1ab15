// Whose cluster `npm run clean` may take away.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { hasCluster, markCluster, whyNotOurs } from '../../../tools/checkout-mark.ts';
import { ROOT } from '../../../tools/tree.ts';

test('npm run clean takes away the cluster that npm start of this checkout began, and no other', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-mark-'));
  try {
    assert.deepEqual([hasCluster(directory), whyNotOurs(directory, '/a')], [false, null]);
    mkdirSync(path.join(directory, 'head'));
    writeFileSync(path.join(directory, 'cluster.json'), '{}');
    assert.equal(hasCluster(directory), true);
    const installed = whyNotOurs(directory, '/a') ?? '';
    assert.match(installed, /is left alone: npm start has not begun it\. `npx weft down --clean` /);
    markCluster(directory, '/a');
    assert.equal(whyNotOurs(directory, '/a'), null);
    assert.match(whyNotOurs(directory, '/b') ?? '', /that of \/a has begun it/);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('npm run clean removes nothing of an installed cluster, nor of its own without the word', (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-clean-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const state = path.join(directory, 'state');
  mkdirSync(path.join(state, 'head'), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(state, 'cluster.json'), '{}');
  const clean = (...words: string[]) => {
    const environment = { PATH: process.env['PATH'], HOME: directory, WEFT_DIR: state };
    const argv = [path.join(ROOT, 'tools', 'clean.ts'), ...words];
    const options = { encoding: 'utf8', env: environment, stdio: 'pipe' } as const;
    const { status, stderr } = spawnSync(process.execPath, argv, options);
    return { status, stderr, isThere: existsSync(path.join(state, 'head')) };
  };
  for (const words of [[], ['--yes']]) {
    const { status, stderr, isThere } = clean(...words);
    assert.deepEqual([status, isThere], [1, true], stderr);
    assert.match(stderr, /is left alone: npm start has not begun it/);
  }
  markCluster(state, ROOT);
  const asked = clean();
  assert.deepEqual([asked.status, asked.isThere], [2, true], asked.stderr);
  assert.match(
    asked.stderr,
    /would remove the queue, .*\n {2}From a script: npm run clean -- --yes/,
  );
  const told = clean('--yes');
  assert.deepEqual([told.status, told.isThere], [0, false], told.stderr);
});
