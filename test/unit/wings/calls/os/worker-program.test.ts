// The program of workers, in the state directory of each agent and in a container.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  workerElsewhere,
  workerProgram,
} from '../../../../../src/wings/calls/os/worker-program.ts';

test('the program of workers is one word that every user may run', (t) => {
  const state = mkdtempSync(join(tmpdir(), 'weft-workers-'));
  t.after(() => rmSync(state, { recursive: true }));
  const path = workerProgram(state);
  assert.equal(path, join(state, 'bin', 'weft-worker'));
  assert.equal(statSync(path).mode & 0o777, 0o755);
  assert.match(readFileSync(path, 'utf8'), /^#!\/bin\/sh\nexec '.+' .*weft-worker\.cjs' "\$@"\n$/);
});

test('[K14] a worker in a container has the folder in which its packages are, wherever npm puts them', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'weft-workers-'));
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
