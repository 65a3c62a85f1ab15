// What was written gets to the disk: one by one or all at once, and each waits for its own errors
// only.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { DiskSync, WholeDisk } from '../../../../../src/kernel/head/disk/disk-sync.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-sync-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function written(folder: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const file = path.join(folder, String(at));
    writeFileSync(file, String(at));
    return file;
  });
}

test('few paths and many are synced, and what has gone is no matter', async (t) => {
  const folder = folderOf(t);
  const disk = new DiskSync(folder);
  t.after(() => disk.close());
  await disk.settle([]);
  await disk.settle([...written(folder, 2), folder]);
  const many = written(folder, 50);
  rmSync(many[7] as string);
  const settled = await Promise.allSettled(many.map((file) => disk.settle([file, folder])));
  assert.ok(settled.every(({ status }) => status === 'fulfilled'));
});

test('a path that cannot be synced is told to who waits for it, and to nobody else', async (t) => {
  const folder = folderOf(t);
  const disk = new DiskSync(folder);
  t.after(() => disk.close());
  const [file = ''] = written(folder, 1);
  const good = disk.settle([file]);
  await assert.rejects(disk.settle([`${file}/below`]), { code: 'ENOTDIR' });
  await good;
});

test('a whole file system is synced by a shell, one sync at a time', async (t) => {
  const whole = new WholeDisk(folderOf(t));
  t.after(() => whole.close());
  assert.equal(await whole.sync(60_000), true);
  const [first, again] = [whole.sync(60_000), whole.sync(60_000)];
  assert.deepEqual([await again, await first], [false, true], 'one at a time');
});

test('a sync of a whole file system that does not end in time is given up', async (t) => {
  const folder = folderOf(t);
  const gate = path.join(folder, 'gate');
  execFileSync('mkfifo', [gate]);
  writeFileSync(path.join(folder, 'sync'), `#!/bin/sh\ncat '${gate}'\n`, { mode: 0o755 });
  const { PATH } = process.env;
  process.env['PATH'] = `${folder}:${PATH}`;
  const whole = new WholeDisk(folder);
  t.after(() => {
    process.env['PATH'] = PATH;
    whole.close();
  });
  assert.equal(await whole.sync(50), false);
  writeFileSync(gate, '');
});

test('where nothing can sync a whole file system the paths are synced one by one', async (t) => {
  const folder = folderOf(t);
  const gone = path.join(folder, 'gone');
  const whole = new WholeDisk(gone);
  t.after(() => whole.close());
  assert.equal(await whole.sync(60_000), false);
  const disk = new DiskSync(gone);
  t.after(() => disk.close());
  await disk.settle(written(folder, 20));
  await assert.rejects(disk.settle([...written(folder, 20), `${gone}/x\0`]), /null bytes/);
});
