// The script that jobs start their ranks with, in the state directory of each agent.

import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import {
  stepPrograms,
  workerElsewhere,
  workerProgram,
} from '../../../../../src/wings/mpi/os/step-programs.ts';

test('an agent that is started again leaves the script of running jobs alone', (t) => {
  const state = mkdtempSync(join(tmpdir(), 'weft-steps-'));
  t.after(() => rmSync(state, { recursive: true }));
  const { client } = stepPrograms(state);
  const first = statSync(client, { bigint: true });
  assert.equal(Number(first.mode) & 0o777, 0o755);
  const text = readFileSync(client, 'utf8');
  stepPrograms(state);
  const again = statSync(client, { bigint: true });
  assert.deepEqual([again.ino, again.mtimeNs], [first.ino, first.mtimeNs]);
  // Of another release: who reads it goes on reading that one.
  writeFileSync(client, '#!/bin/sh\nexec older\n');
  stepPrograms(state);
  const replaced = statSync(client, { bigint: true });
  assert.notEqual(replaced.ino, first.ino, 'not written in place');
  assert.equal(Number(replaced.mode) & 0o777, 0o755);
  assert.equal(readFileSync(client, 'utf8'), text);
  assert.deepEqual(readdirSync(dirname(client)), ['weft-rsh']);
});

test('the program of workers is one word that every user may run', (t) => {
  const state = mkdtempSync(join(tmpdir(), 'weft-steps-'));
  t.after(() => rmSync(state, { recursive: true }));
  const path = workerProgram(state);
  assert.equal(path, join(state, 'bin', 'weft-worker'));
  assert.equal(statSync(path).mode & 0o777, 0o755);
  assert.match(readFileSync(path, 'utf8'), /^#!\/bin\/sh\nexec '.+' .*weft-worker\.cjs' "\$@"\n$/);
});

test('[K14] a worker in a container has the folder in which its packages are, wherever npm puts them', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'weft-steps-'));
  t.after(() => rmSync(root, { recursive: true }));
  const packages = join(root, 'node_modules');
  // One is of another version beside it: npm has put its own into it, and the rest beside it.
  mkdirSync(join(packages, 'weft', 'node_modules', 'ws'), { recursive: true });
  const starter = join(packages, 'weft', 'bin', 'weft-worker.cjs');
  const { argv, folder } = workerElsewhere(starter);
  assert.deepEqual([argv.at(-1), folder], [starter, packages]);
  const checkout = join(root, 'weft', 'bin', 'weft-worker.cjs');
  assert.equal(workerElsewhere(checkout).folder, join(root, 'weft'));
});
