// What daemons leave in the user's cache, and what goes from there.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { compiledFolder, removeOldCompiled } from '../../../../src/kernel/cli/daemons/spawn.ts';
import { VERSION } from '../../../../src/kernel/cli/version.ts';
import { ROOT } from '../../../../tools/tree.ts';

const DAY_MS = 86_400_000;
const NOW = 1_700_000_000_000;

test('what is compiled lies in the cache of the user, in a folder of this release', () => {
  assert.equal(compiledFolder({ HOME: '/h' }), `/h/.cache/weft/compiled/${VERSION}`);
  const elsewhere = { HOME: '/h', XDG_CACHE_HOME: '/c' };
  assert.equal(compiledFolder(elsewhere), `/c/weft/compiled/${VERSION}`);
  assert.equal(compiledFolder({}), null);
});

const OTHERS = { skip: process.geteuid?.() !== 0 && 'only root gives folders to another user' };

test('root takes nothing from the cache of another user', OTHERS, (t) => {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const cache = path.join(home, '.cache');
  assert.equal(compiledFolder({ HOME: home }), path.join(cache, 'weft', 'compiled', VERSION));
  chownSync(home, 4711, 4711);
  assert.equal(compiledFolder({ HOME: home }), null);
  mkdirSync(cache);
  chownSync(cache, 4711, 4711);
  assert.equal(compiledFolder({ HOME: '/', XDG_CACHE_HOME: cache }), null);
  const script = `console.log(require(${JSON.stringify(path.join(ROOT, 'bin/modern-node.cjs'))}).cacheFolder())`;
  const asked = (HOME: string): string =>
    execFileSync(process.execPath, ['--eval', script], { env: { HOME }, encoding: 'utf8' }).trim();
  assert.equal(asked(home), 'null');
  chownSync(cache, 0, 0);
  assert.equal(asked(home), cache);
});

test('what other releases have not touched for a month goes, our own never', (t) => {
  const cache = mkdtempSync(path.join(tmpdir(), 'weft-compiled-'));
  t.after(() => rmSync(cache, { recursive: true, force: true }));
  for (const [name, days] of [
    ['1.0.0', 40],
    ['1.1.0', 20],
    ['1.2.0', 90],
  ] as const) {
    const folder = path.join(cache, name);
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'code'), 'x');
    utimesSync(folder, NOW / 1000, (NOW - days * DAY_MS) / 1000);
  }
  removeOldCompiled(path.join(cache, '1.2.0'), NOW);
  assert.deepEqual(readdirSync(cache).sort(), ['1.1.0', '1.2.0']);
});

test('a cache that is not there yet keeps nothing from starting', () => {
  assert.doesNotThrow(() => removeOldCompiled('/no/such/cache/1.0.0', NOW));
});
