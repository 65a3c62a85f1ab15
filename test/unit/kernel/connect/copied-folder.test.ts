// Folders that were copied while what they name was running.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { instanceOf } from '../../../../src/bin/agent-host.ts';
import { takeLock } from '../../../../src/kernel/connect/lock-file.ts';
import { isCopied, noteOrigin, originOf } from '../../../../src/kernel/connect/origin.ts';
import { markOf, readLiveMark, writeMark } from '../../../../src/kernel/connect/process-file.ts';

/** `original` with its `run`, and where a copy of it may come. */
function folders(t: TestContext): { original: string; copy: string } {
  const place = mkdtempSync(join(tmpdir(), 'weft-copied-'));
  t.after(() => rmSync(place, { recursive: true }));
  const original = join(place, 'original');
  mkdirSync(join(original, 'run'), { recursive: true });
  return { original, copy: join(place, 'copy') };
}

test('[N20] a mark in a copied folder is of the original, and names nobody there', (t) => {
  const { original, copy } = folders(t);
  const file = join('run', 'head.pid');
  writeMark(join(original, file), process.pid);
  cpSync(original, copy, { recursive: true });
  assert.equal(readLiveMark(join(original, file))?.pid, process.pid);
  assert.equal(readLiveMark(join(copy, file)), null);
});

test('[N20] a folder that was given another name is the same one', (t) => {
  const { original, copy } = folders(t);
  writeMark(join(original, 'run', 'head.pid'), process.pid);
  renameSync(original, copy);
  assert.equal(readLiveMark(join(copy, 'run', 'head.pid'))?.pid, process.pid);
});

test('[N20] a mark of an older release is believed where its process works', (t) => {
  const { original, copy } = folders(t);
  const file = join('run', 'head.pid');
  writeFileSync(join(original, file), JSON.stringify(markOf(process.pid)));
  cpSync(original, copy, { recursive: true });
  const before = process.cwd();
  process.chdir(join(original, 'run'));
  try {
    assert.equal(readLiveMark(join(original, file))?.pid, process.pid);
    assert.equal(readLiveMark(join(copy, file)), null);
  } finally {
    process.chdir(before);
  }
});

test('[N20] a lock in a copied folder is held by nobody', (t) => {
  const { original, copy } = folders(t);
  const file = join('run', 'up.pid');
  // Another process's: the test's own parent lives as long as the test.
  writeMark(join(original, file), process.ppid);
  cpSync(original, copy, { recursive: true });
  assert.equal(takeLock(join(original, file), 'user').ok, false);
  const taken = takeLock(join(copy, file), 'user');
  assert.ok(taken.ok);
  taken.release();
});

/** Until what is written has a later time than this file: one tick of the kernel, some ms. */
function passTick(file: string): void {
  const probe = `${file}.probe`;
  const changedAt = (one: string): bigint => statSync(one, { bigint: true }).ctimeMs;
  const until = performance.now() + 10_000;
  do {
    assert.ok(performance.now() < until, 'the clock of the file system stands still');
    writeFileSync(probe, '');
  } while (changedAt(probe) <= changedAt(file));
  rmSync(probe);
}

test('[N20] an agent knows that its folder is a copy, and of which one', (t) => {
  const { original, copy } = folders(t);
  writeFileSync(join(original, 'instance'), 'one');
  assert.equal(isCopied(original, 'boot'), false, 'nothing is known yet');
  noteOrigin(original, 'boot', null);
  passTick(join(original, 'instance'));
  cpSync(original, copy, { recursive: true });
  assert.equal(isCopied(original, 'boot'), false);
  assert.equal(isCopied(copy, 'boot'), true);
  noteOrigin(copy, 'boot', readFileSync(join(copy, 'instance'), 'utf8'));
  assert.equal(isCopied(copy, 'boot'), false);
  assert.equal(originOf(copy), 'one');
});

/** The folder with other words in its `origin.json`. */
function renote(folder: string, words: Record<string, string>): void {
  const file = join(folder, 'origin.json');
  const noted = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  writeFileSync(file, JSON.stringify({ ...noted, ...words }));
}

test('[N20] a disk that is mounted anew is no copy: other numbers, and nothing changed', (t) => {
  const { original, copy } = folders(t);
  writeFileSync(join(original, 'instance'), 'one');
  noteOrigin(original, 'boot', null);
  renote(original, { dev: '1' });
  assert.equal(isCopied(original, 'boot'), false, 'another device');
  renote(original, { ino: '1' });
  assert.equal(isCopied(original, 'boot'), false, 'another inode');
  noteOrigin(original, 'boot', null);
  renote(original, { dev: '1', place: copy });
  assert.equal(isCopied(original, 'boot'), true, 'a snapshot: another device in another place');
});

test('[N20] what a copy says of its original is set aside, and is still there', async (t) => {
  const { original, copy } = folders(t);
  const warned: unknown[] = [];
  const log = { warn: (_: unknown, message: string) => warned.push(message) };
  const was = await instanceOf({ stateDir: original, elsewhere: null }, 'boot', log);
  writeFileSync(join(original, 'journal'), 'ends');
  passTick(join(original, 'instance'));
  cpSync(original, copy, { recursive: true });
  assert.equal(await instanceOf({ stateDir: original, elsewhere: null }, 'boot', log), was);
  assert.deepEqual(warned, []);
  assert.notEqual(await instanceOf({ stateDir: copy, elsewhere: null }, 'boot', log), was);
  assert.equal(existsSync(join(copy, 'journal')), false);
  assert.equal(readFileSync(join(copy, `journal.of-${was}`), 'utf8'), 'ends');
  assert.equal(warned.length, 1);
});

test('[N20] a folder whose launcher answers is no copy, whatever its files look like', async (t) => {
  const { original, copy } = folders(t);
  const log = { warn: () => assert.fail('it is no copy') };
  const was = await instanceOf({ stateDir: original, elsewhere: null }, 'boot', log);
  passTick(join(original, 'instance'));
  cpSync(original, copy, { recursive: true });
  writeFileSync(join(copy, 'journal'), 'ends');
  const launcher = createServer().listen(join(copy, 'launcher.sock'));
  t.after(() => launcher.close());
  await once(launcher, 'listening');
  assert.equal(await instanceOf({ stateDir: copy, elsewhere: null }, 'boot', log), was);
  assert.equal(readFileSync(join(copy, 'journal'), 'utf8'), 'ends');
});
