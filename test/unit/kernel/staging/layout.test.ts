// Files laid out for a task: names, contents, permissions, links.

import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { FileEntry } from '../../../../src/kernel/files/entry.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import { layOut } from '../../../../src/kernel/staging/layout.ts';

const HASH = 'a'.repeat(64) as BlobHash;
const file = (name: string, mode = 0o644): FileEntry => {
  return { path: name, kind: 'file', size: 2, mode, sha256: HASH };
};

function place(t: { after(act: () => void): void }) {
  const root = mkdtempSync(path.join(tmpdir(), 'weft-layout-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, 'work');
  mkdirSync(folder);
  writeFileSync(path.join(root, 'blob'), 'hi', { mode: 0o600 });
  return {
    folder,
    pathOf: () => path.join(root, 'blob'),
    at: (name: string) => path.join(folder, name),
  };
}

test('files, folders and links have their names, permissions and no more than that', async (t) => {
  const { folder, pathOf, at } = place(t);
  const entries: FileEntry[] = [
    file('a/b/deep.txt'),
    file('run.sh', 0o755),
    file('secret', 0o6640),
    { path: 'shut', kind: 'folder', size: 0, mode: 0o500 },
    file('shut/in'),
    { path: 'empty', kind: 'folder', size: 0, mode: 0o750 },
    { path: 'a/link', kind: 'link', size: 0, mode: 0o777, target: 'b/deep.txt' },
  ];
  await layOut({ entries, pathOf, folder, owner: null });
  const modes = ['a', 'a/b/deep.txt', 'run.sh', 'secret', 'shut', 'empty'].map(
    (name) => statSync(at(name)).mode & 0o7777,
  );
  assert.deepEqual(modes, [0o755, 0o644, 0o755, 0o640, 0o500, 0o750]);
  assert.equal(readFileSync(at('shut/in'), 'utf8'), 'hi');
  assert.equal(readlinkSync(at('a/link')), 'b/deep.txt');
});

test('what is in memory needs no file, and has its permissions and owner as all else', async (t) => {
  const { folder, at } = place(t);
  const inMemory = new Map([[HASH, Buffer.from('hi')]]);
  const pathOf = (): string => assert.fail('nothing else is read');
  const uid = process.getuid?.() ?? 0;
  const owner = { uid, gid: process.getgid?.() ?? 0 };
  const entries = [file('a/b', 0o600), file('run.sh', 0o755)];
  await layOut({ entries, pathOf, inMemory, folder, owner });
  for (const [name, mode] of [
    ['a/b', 0o600],
    ['run.sh', 0o755],
  ] as const) {
    assert.equal(readFileSync(at(name), 'utf8'), 'hi');
    const status = statSync(at(name));
    assert.deepEqual([status.mode & 0o7777, status.uid], [mode, uid]);
  }
});

test('all of it belongs to the user of the job', {
  skip: process.getuid?.() !== 0 && 'only root gives files away',
}, async (t) => {
  const { folder, pathOf, at } = place(t);
  const link: FileEntry = { path: 'l', kind: 'link', size: 0, mode: 0o777, target: 'x/y' };
  await layOut({ entries: [file('x/y'), link], pathOf, folder, owner: { uid: 1234, gid: 1235 } });
  for (const name of ['x', 'x/y']) {
    const { uid, gid } = statSync(at(name));
    assert.deepEqual([uid, gid], [1234, 1235], name);
  }
});

test('a content that is not there is an error, not an empty file', async (t) => {
  const { folder } = place(t);
  const gone = { entries: [file('x')], pathOf: () => '/nonexistent/x', folder, owner: null };
  await assert.rejects(layOut(gone), { code: 'ENOENT' });
});
