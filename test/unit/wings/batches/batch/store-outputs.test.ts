// What a job of a local run has left in its save folder, brought into its archive.

import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parseGlob } from '../../../../../src/kernel/files/glob.ts';
import { storeOutputs } from '../../../../../src/wings/batches/batch/archive/store-outputs.ts';

test('what nobody may read is named, and the rest is kept', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-store-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [save, into] = [path.join(folder, 'save'), path.join(folder, 'into')];
  for (const one of ['shut', 'fixed']) mkdirSync(path.join(save, one), { recursive: true });
  mkdirSync(into);
  chmodSync(path.join(save, 'fixed'), 0o555);
  for (const name of ['fine', 'locked']) writeFileSync(path.join(save, name), 'x');
  chmodSync(folder, 0o755);
  chmodSync(into, 0o777);
  for (const name of ['locked', 'shut']) chmodSync(path.join(save, name), 0);
  const every = parseGlob('**');
  assert.ok(every.ok);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  const storing = storeOutputs(save, { into, globs: [every.value], hidden: new Map() });
  const { entries, leftOut } = await storing.finally(() => {
    if (isRoot) process.seteuid?.(0);
  });
  const why = 'its mode lets nobody read it';
  assert.deepEqual(leftOut, [
    { path: 'locked', why },
    { path: 'shut', why },
  ]);
  const kept = entries.map((entry) => entry.path);
  assert.deepEqual(
    [kept, readdirSync(into)],
    [
      ['fine', 'fixed', 'shut'],
      ['fine', 'fixed', 'shut'],
    ],
  );
  // A folder that nobody can look into would be in the way of who removes what is kept.
  const modes = { fixed: 0o555, shut: 0o700 };
  for (const [name, mode] of Object.entries(modes)) {
    assert.equal(statSync(path.join(into, name)).mode & 0o777, mode);
    assert.equal(entries.find((entry) => entry.path === name)?.mode, mode);
  }
});
