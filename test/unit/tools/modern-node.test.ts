// The Node that programs of this package run with where the machine's own is too old.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const MODULE = fileURLToPath(new URL('../../../bin/modern-node.cjs', import.meta.url));
const NAME = `node-${process.platform}-${process.arch}`;

/** A folder that goes with the test. */
function folder(t: { after(f: () => void): void }): string {
  const made = mkdtempSync(path.join(tmpdir(), 'weft-node-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Stands for npm: keeps what it was given, and installs a program or fails. */
function npm(at: string, does: string): string {
  const file = path.join(at, 'npm-cli.js');
  writeFileSync(
    file,
    `const fs = require('node:fs');
     fs.cpSync(process.cwd(), ${JSON.stringify(path.join(at, 'given'))}, { recursive: true });
     fs.writeFileSync(${JSON.stringify(path.join(at, 'given', 'words'))}, process.argv.slice(2).join(' '));
     ${does}`,
  );
  return file;
}

/** What a program says that asks for a Node of Weft's own in one of these folders. */
function ask(places: readonly string[], npmFile: string) {
  const script = `console.log(require(${JSON.stringify(MODULE)}).ownNode(${JSON.stringify(places)}))`;
  const environment = { ...process.env, npm_execpath: npmFile };
  const options = { encoding: 'utf8', env: environment } as const;
  const { stdout, stderr } = spawnSync(process.execPath, ['--eval', script], options);
  return { stdout: stdout.trim(), stderr };
}

const INSTALLS = `const bin = 'node_modules/${NAME}/bin';
  fs.mkdirSync(bin, { recursive: true });
  fs.writeFileSync(bin + '/node', '');`;

test('it is installed once, by its hash, in the first folder that can be written', (t) => {
  const at = folder(t);
  const file = path.join(at, 'a-file');
  writeFileSync(file, '');
  const [closed, open] = [path.join(file, 'below'), path.join(at, 'open')];
  const first = ask([closed, open], npm(at, INSTALLS));
  assert.match(
    first.stderr,
    /^Weft needs Node 24, .* installing one for Weft alone in .*open, once/,
  );
  assert.ok(first.stdout.startsWith(open) && existsSync(first.stdout), first.stdout);
  assert.equal(
    statSync(path.join(first.stdout, '..', '..', '..', '..')).mode & 0o777,
    0o755,
    'for all users',
  );
  const words = readFileSync(path.join(at, 'given', 'words'), 'utf8').split(' ');
  assert.ok(words.includes('--no-update-notifier'), "npm's own upgrade is not advertised");
  const lock = JSON.parse(readFileSync(path.join(at, 'given', 'package-lock.json'), 'utf8'));
  assert.match(lock.packages[`node_modules/${NAME}`].integrity, /^sha512-[\w+/]{86}==$/);
  const second = ask([closed, open], npm(at, 'process.exit(9)'));
  assert.deepEqual(second, { stdout: first.stdout, stderr: '' });
});

test('one that cannot be installed is said in words, and leaves nothing', (t) => {
  const at = folder(t);
  const open = path.join(at, 'open');
  const { stdout, stderr } = ask([open], npm(at, 'process.exit(9)'));
  assert.equal(stdout, '');
  assert.match(
    stderr,
    /installing one for Weft alone failed: npm ci failed: exit 9\. Install Node 24/,
  );
  assert.deepEqual(readdirSync(open), []);
});

test('a program that is handed over keeps the PATH of its user', () => {
  const child = 'process.stdout.write(process.env.PATH)';
  const script = `require(${JSON.stringify(MODULE)}).become(process.execPath, ['--eval', ${JSON.stringify(child)}])`;
  const environment = { PATH: '/usr/bin:/somewhere' };
  const options = { encoding: 'utf8', env: environment } as const;
  const { stdout } = spawnSync(process.execPath, ['--eval', script], options);
  assert.equal(stdout, environment.PATH);
});
