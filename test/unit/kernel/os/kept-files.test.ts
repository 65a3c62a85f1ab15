// Files that are kept open as far as the process may, and read all the same beyond that.

import assert from 'node:assert/strict';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { KeptFiles, keptFilesMax } from '../../../../src/kernel/os/cgroup/kept-files.ts';

const line = (soft: string) => `Max open files            ${soft}                 4096  files\n`;

/** What a descriptor of this process leads to. */
function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ''; // The one that listed them.
  }
}

test('[N23] half of what the process may open is kept open', () => {
  assert.equal(keptFilesMax(line('256')), 128);
  assert.equal(keptFilesMax(line('unlimited')), Number.POSITIVE_INFINITY);
  assert.ok(keptFilesMax() > 0, 'of this process');
});

test('[N23] files beyond that are read and written as those that are open', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-kept-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const place = path.join(folder, 'file');
  writeFileSync(place, 'one');
  const openCount = () => readdirSync('/proc/self/fd').filter((fd) => linkOf(fd) === place).length;
  const shelf = new KeptFiles(1);
  const kept = shelf.open(place, 'r+');
  const other = shelf.open(place, 'r+');
  assert.equal(openCount(), 1);
  assert.deepEqual([kept.read(), other.read(), other.read(1)], ['one', 'one', 'o']);
  other.write('two');
  assert.deepEqual([kept.read(), readFileSync(place, 'utf8')], ['two', 'two']);
  other.close();
  kept.close();
  assert.equal(openCount(), 0);
  const next = shelf.open(place);
  assert.equal(openCount(), 1, 'there is room again');
  next.close();
});

test('a file that is not there is told when it is opened', () => {
  for (const max of [0, 1]) {
    assert.throws(() => new KeptFiles(max).open('/nowhere/at/all'), { code: 'ENOENT' });
  }
});
