// The script that jobs start their ranks with, in the state directory of each agent.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { stepPrograms } from '../../../../../src/wings/mpi/os/step-programs.ts';

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
