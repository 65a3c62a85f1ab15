// What package.json and the lockfile promise: nothing that must run at install time, no addresses,
// and every program there.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { ROOT } from '../../../tools/tree.ts';

interface Lockfile {
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const readText = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const { packages } = JSON.parse(readText('package-lock.json')) as Lockfile;

it('no dependency has an install script', () => {
  assert.ok(Object.keys(packages).length > 50, 'the lockfile lists the packages');
  const scripted = Object.keys(packages).filter((name) => packages[name]?.['hasInstallScript']);
  assert.deepEqual(scripted, []);
});

it('the lockfile names no place to download from', () => {
  const resolved = Object.keys(packages).filter((name) => packages[name]?.['resolved']);
  assert.deepEqual(resolved, []);
});

it('every package is pinned by a hash', () => {
  const names = Object.keys(packages).filter((name) => name !== '');
  assert.deepEqual(
    names.filter((name) => typeof packages[name]?.['integrity'] !== 'string'),
    [],
  );
});

// npm leaves out an optional package that it cannot find, and then refuses its own lockfile.
it('every package that a locked package depends on is locked too', () => {
  const isLocked = (from: string, name: string): boolean => {
    if (`${from}node_modules/${name}` in packages) return true;
    const up = from.lastIndexOf('node_modules/', from.length - 2);
    return from !== '' && isLocked(from.slice(0, Math.max(up, 0)), name);
  };
  const missing = Object.entries(packages).flatMap(([place, entry]) => {
    const needed = { ...Object(entry['dependencies']), ...Object(entry['optionalDependencies']) };
    const from = place === '' ? '' : `${place}/`;
    return Object.keys(needed).filter((name) => !isLocked(from, name));
  });
  assert.deepEqual(missing, []);
});

// `node_modules/.bin` stands first in the PATH of a project's scripts. What is optional counts: npm
// installs it.
it('nothing that comes with the package is another Node', () => {
  const installed = Object.entries(packages).filter(([, entry]) => entry['dev'] !== true);
  assert.ok(installed.length > 10 && installed.length < Object.keys(packages).length);
  const named = installed.flatMap(([place, entry]) => [
    ...Object.keys(Object(entry['bin'])),
    ...['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((field) =>
      Object.keys(Object(entry[field])),
    ),
    place.split('node_modules/').at(-1) ?? '',
  ]);
  assert.deepEqual(
    named.filter((name) => /^node(-|$)/.test(name)),
    [],
  );
});

it('every program of the package has its starter, and every script its file', () => {
  const manifest = JSON.parse(readText('package.json')) as {
    bin: Record<string, string>;
    scripts: Record<string, string>;
  };
  for (const file of Object.values(manifest.bin)) {
    assert.match(readText(file), /^#!\/usr\/bin\/env node\n/, file);
  }
  const tools = Object.values(manifest.scripts).flatMap((line) => line.match(/tools\/\S+/g) ?? []);
  assert.deepEqual(
    tools.filter((file) => !existsSync(path.join(ROOT, file))),
    [],
  );
});
