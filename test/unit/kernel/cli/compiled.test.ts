// What daemons leave in the user's cache, and what goes from there.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
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

test('what is compiled lies in the cache of the user, in a folder of this release', (t) => {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'weft-home-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const own = path.join('weft', 'compiled', VERSION);
  assert.equal(compiledFolder({ HOME: home }), path.join(home, '.cache', own));
  const elsewhere = path.join(home, 'c');
  assert.equal(
    compiledFolder({ HOME: '/h', XDG_CACHE_HOME: elsewhere }),
    path.join(elsewhere, own),
  );
  assert.equal(compiledFolder({}), null);
});

const OTHERS = { skip: process.geteuid?.() !== 0 && 'only root gives folders to another user' };

/** What the starters in bin/ say of the cache in this home, by its own rule. */
function startersFolder(environment: Record<string, string>): string {
  const file = JSON.stringify(path.join(ROOT, 'bin', 'modern-node.cjs'));
  const script = `console.log(require(${file}).cacheFolder())`;
  return execFileSync(process.execPath, ['--eval', script], {
    env: environment,
    encoding: 'utf8',
  }).trim();
}

test('root runs nothing that another user may have put into a cache', OTHERS, (t) => {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'weft-home-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const cache = path.join(home, '.cache');
  const both = (environment: Record<string, string>) => {
    const compiled = compiledFolder(environment);
    const starters = startersFolder(environment);
    const own = compiled === null ? 'null' : path.resolve(compiled, '../../..');
    assert.equal(own, starters);
    return starters;
  };
  assert.equal(both({ HOME: home }), cache);
  chownSync(home, 4711, 4711);
  assert.equal(both({ HOME: home }), 'null', 'HOME was kept');
  mkdirSync(cache);
  assert.equal(both({ HOME: home }), 'null', 'its owner may put another one in its place');
  rmSync(cache, { recursive: true });
  symlinkSync('/tmp', cache);
  assert.equal(both({ HOME: home }), 'null');
  chownSync(home, 0, 0);
  assert.equal(both({ HOME: home }), 'null', 'where everybody may write');
  assert.equal(both({ XDG_CACHE_HOME: '/tmp' }), 'null');
  assert.equal(both({ XDG_CACHE_HOME: path.join(home, 'own') }), path.join(home, 'own'));
  rmSync(cache);
  mkdirSync(path.join(home, 'elsewhere'));
  symlinkSync('elsewhere', cache);
  assert.equal(both({ HOME: home }), path.join(home, 'elsewhere'), 'a link of our own');
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
