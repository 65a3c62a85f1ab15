// What a backup says of itself is read with care: it may come from anywhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEntries } from '../../../../src/wings/backups/api/backed-up.ts';
import { BACKUP_FORMAT, parseHeader } from '../../../../src/wings/backups/api/backup-header.ts';

const FILE = {
  kind: 'file',
  path: 'logs/0/1',
  bytes: 3,
  mtimeMs: 1.5,
  mode: 0o600,
  sha256: 'a'.repeat(64),
};
const line = (entry: object): string => `${JSON.stringify(entry)}\n`;
const FOLDERS = ['logs', 'logs/0']
  .map((path) => line({ kind: 'folder', path, mode: 0o700 }))
  .join('');

test('files, links and folders are read as they were written', () => {
  const entries = [
    { kind: 'folder', path: 'logs', mode: 0o700 },
    { kind: 'folder', path: 'logs/0', mode: 0o700 },
    FILE,
    { ...FILE, path: 'logs/0/2', same: 'logs/0/1' },
    { kind: 'link', path: 'logs/last', target: '../elsewhere' },
  ];
  const read = parseEntries(entries.map(line).join(''));
  assert.deepEqual(read, { ok: true, value: entries });
});

for (const path of ['/etc/passwd', '../x', 'a/../../x', 'a//b', '', 'a\0b', './a']) {
  test(`[U3] a path that leads elsewhere is no entry: ${JSON.stringify(path)}`, () => {
    const read = parseEntries(FOLDERS + line(FILE) + line({ ...FILE, path }));
    assert.deepEqual(read, { ok: false, error: 'line 4 is not an entry of a backup' });
  });
}

test('[U3] nothing is behind a link, in no folder of the backup, or there twice', () => {
  const link = line({ kind: 'link', path: 'a', target: '/etc' });
  const behind = [
    line({ kind: 'folder', path: 'a/cron.d', mode: 0o777 }),
    line({ ...FILE, path: 'a/x' }),
  ];
  for (const entry of behind) {
    const read = parseEntries(link + entry);
    assert.deepEqual(read, { ok: false, error: 'line 2 is not in a folder of the backup' });
  }
  assert.equal(parseEntries(FOLDERS + line(FILE) + line(FILE)).ok, false);
});

test('a line that is cut off is named', () => {
  const read = parseEntries(line(FILE).slice(0, 20));
  assert.deepEqual(read, { ok: false, error: 'line 1 is not an entry of a backup' });
});

test('a backup of a newer release is refused as such', () => {
  const read = parseHeader(JSON.stringify({ format: BACKUP_FORMAT + 1 }));
  assert.equal(read.ok, false);
  assert.match(read.error, /newer release \(format 2\)/);
});

test('what is no header says why', () => {
  for (const text of ['', '{', 'null', '{"format":1}']) {
    assert.equal(parseHeader(text).ok, false, text);
  }
});
