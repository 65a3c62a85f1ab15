// Folders of a gateway's jobs: what their users put there leads the gateway nowhere.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { siteFolders } from '../../../../../src/wings/sites/os/site-folders.ts';

const top = mkdtempSync(path.join(tmpdir(), 'weft-site-folders-'));
after(() => rmSync(top, { recursive: true }));

test('notes are out of reach of the user, and a claim is taken once', () => {
  const folders = siteFolders(path.join(top, 'notes'));
  folders.make(7, null, 'true');
  const kept = path.join(top, 'kept');
  writeFileSync(kept, 'as it was');
  const own = folders.path(7);
  for (const name of ['job', 'job.new', 'launch', 'launch.new'])
    symlinkSync(kept, path.join(own, name));
  folders.note(7, 'job', '4711');
  assert.equal(readFileSync(kept, 'utf8'), 'as it was');
  assert.equal(folders.noted(7, 'job'), '4711');
  assert.equal(folders.noted(7, 'launch'), null);
  assert.equal(folders.claim(7), true);
  assert.equal(folders.claim(7), false);
  assert.deepEqual(folders.list(), [7]);
  folders.remove(7);
  assert.deepEqual(folders.list(), []);
});

test('only ordinary files are read as receipts', () => {
  const folders = siteFolders(path.join(top, 'receipts'));
  folders.make(1, null, 'echo run\n');
  const own = folders.path(1);
  assert.equal(execFileSync('sh', [folders.scriptFile(1)], { encoding: 'utf8' }), 'run\n');
  assert.equal(statSync(folders.scriptFile(1)).mode & 0o777, 0o600);
  const elsewhere = path.join(top, 'secret');
  writeFileSync(elsewhere, '1764000000 0 0m0.0s 0m0.0s\n');
  symlinkSync(elsewhere, path.join(own, 'linked'));
  execFileSync('mkfifo', [path.join(own, 'piped')]);
  mkdirSync(path.join(own, 'folder'));
  writeFileSync(path.join(own, 'started'), '1764000000 n1\n');
  const read = ['linked', 'piped', 'folder', 'absent', 'started'].map((name) =>
    folders.read(1, name),
  );
  assert.deepEqual(read, [null, null, null, null, '1764000000 n1\n']);
});
