// Input of a site's jobs in folders: what one gateway wrote the next one goes on with.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Feeds } from '../../../../../src/kernel/agent/feeds.ts';
import type { EpochId } from '../../../../../src/kernel/model/ids.ts';
import { systemFiles } from '../../../../../src/kernel/os/files.ts';
import { inputFolders } from '../../../../../src/wings/sites/os/input-folders.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-input-folders-'));
after(() => rmSync(top, { recursive: true }));

test('[G25] the next gateway goes on where the one before ended, and knows the end', async () => {
  const path = join(top, 'one');
  const first = await inputFolders.make(path, null);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  await first.write(Buffer.from('abc'));
  await first.write(Buffer.from('de'));
  // The job took the first piece away.
  unlinkSync(join(path, '0'));
  const second = inputFolders.resume(path);
  assert.deepEqual([second?.bytes, second?.isEnded], [5, false]);
  await second?.pipe.write(Buffer.from('f'));
  await second?.pipe.end();
  const third = inputFolders.resume(path);
  assert.deepEqual([third?.bytes, third?.isEnded], [6, true]);
  assert.deepEqual(readdirSync(path).sort(), ['3', '5', 'end-6']);
  assert.equal(readFileSync(join(path, '3'), 'utf8'), 'de');
  third?.pipe.remove();
  assert.ok(!existsSync(path));
});

test('[G25] a job that does not read makes its client wait', async () => {
  const path = join(top, 'slow');
  const folder = await inputFolders.make(path, null);
  let written = 0;
  const all = (async () => {
    for (; written < 40; written += 1) await folder.write(Buffer.from('x'));
  })();
  while (written < 16) await new Promise(setImmediate);
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  assert.equal(written, 16);
  for (const name of ['0', '1', '2', '3']) unlinkSync(join(path, name));
  while (written < 20) await new Promise((go) => setTimeout(go, 10));
  assert.equal(readdirSync(path).length, 16);
  folder.remove();
  await all;
});

test('what a user puts into the folder is not followed', async () => {
  const path = join(top, 'links');
  const folder = await inputFolders.make(path, null);
  const target = join(top, 'target');
  writeFileSync(target, 'safe');
  symlinkSync(target, join(path, 'draft'));
  symlinkSync(target, join(path, '0'));
  await folder.write(Buffer.from('abc'));
  assert.equal(readFileSync(target, 'utf8'), 'safe');
  folder.remove();
  assert.equal(readFileSync(target, 'utf8'), 'safe');
});

test('[G25] a pipe that a gateway of an earlier release has left is broken off, not in the way', () => {
  const directory = mkdtempSync(join(top, 'stdin-'));
  const warned: string[] = [];
  const warn = (_: object, words: string): void => {
    warned.push(words);
  };
  const quiet = (): void => undefined;
  const feeds = new Feeds({
    pipes: inputFolders,
    files: systemFiles,
    log: { debug: quiet, info: quiet, error: quiet, warn },
    directory,
    isStarted: () => true,
    send: () => true,
  });
  const id = '42#1' as EpochId;
  execFileSync('mkfifo', [feeds.pathOf(id), feeds.pathOf('7#1' as EpochId)]);
  feeds.takeUp([id]);
  assert.ok(feeds.isBroken(id));
  assert.equal(warned.length, 1);
  assert.deepEqual(readdirSync(directory), []);
});
