// Files of the agent and of users, on the real file system.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemFiles } from '../../../../src/kernel/os/files.ts';
import {
  openJournalFile,
  RESERVE_BYTES,
  reserveOfEach,
} from '../../../../src/kernel/os/journal-file.ts';
import { cutAndRestore } from '../../../../src/kernel/os/middle.ts';
import { TreeThread } from '../../../../src/kernel/os/tree-thread.ts';
import type { JournalFile } from '../../../../src/kernel/ports/journal-file.ts';

const root = mkdtempSync(join(tmpdir(), 'weft-files-'));
const isRoot = process.getuid?.() === 0;
const NO_ROOT = isRoot ? false : 'mounting a small disk needs root';
const self = process.getuid?.() ?? 0;
const SOMEBODY = { uid: 54_321, gid: 54_321 };
after(() => rmSync(root, { recursive: true }));

test('a directory gets the mode that is meant, whatever the umask, and may exist', () => {
  const path = join(root, 'a/b');
  systemFiles.makeDirectory(path, null, 0o711);
  systemFiles.makeDirectory(path, null, 0o711);
  assert.equal(statSync(path).mode & 0o777, 0o711);
});

test('a file where a directory should be is an error in words', () => {
  const path = join(root, 'file');
  writeFileSync(path, '');
  assert.throws(() => systemFiles.makeDirectory(path, null, 0o700), /is not a directory|EEXIST/);
});

test('a directory that its owner has shut is opened for them again', () => {
  const path = join(root, 'closed');
  systemFiles.makeDirectory(path, null, 0o700);
  chmodSync(path, 0o000);
  systemFiles.makeDirectory(path, null, 0o700);
  assert.equal(statSync(path).mode & 0o777, 0o700);
});

test('a directory that was only half made is finished', { skip: !isRoot }, () => {
  const path = join(root, 'half');
  mkdirSync(path, { mode: 0o755 });
  systemFiles.makeDirectory(path, SOMEBODY, 0o700);
  assert.equal(statSync(path).uid, SOMEBODY.uid);
  const other = { uid: 54_322, gid: 54_322 };
  const words = /half belongs to uid 54321 and must belong to uid 54322; remove it/;
  assert.throws(() => systemFiles.makeDirectory(path, other, 0o700), words);
});

test('output is read from regular files of the user only, never through links', () => {
  const path = join(root, 'out');
  writeFileSync(path, '0123456789');
  const read = (file: string, uid: number | null): string =>
    Buffer.from(systemFiles.read(file, uid, 2, 5)).toString();
  assert.equal(read(path, self), '23456');
  assert.equal(read(path, self + 1), '', 'of somebody else');
  symlinkSync(path, join(root, 'link'));
  assert.equal(read(join(root, 'link'), self), '');
  assert.equal(systemFiles.size(join(root, 'link')), null);
  linkSync(path, join(root, 'hard'));
  assert.equal(read(join(root, 'hard'), self + 1), '', 'a hard link to a file of somebody else');
  execFileSync('mkfifo', [join(root, 'fifo')]);
  assert.equal(read(join(root, 'fifo'), self), '', 'a fifo does not block');
  assert.equal(read(join(root, 'missing'), null), '');
});

test("a file is emptied for another use only while it is nobody else's and has one name", () => {
  const make = (name: string, mode = 0o600): string => {
    const path = join(root, name);
    writeFileSync(path, 'text', { mode });
    return path;
  };
  const path = make('spool');
  assert.equal(systemFiles.empty(path, self), true);
  assert.equal(statSync(path).size, 0);
  assert.equal(systemFiles.empty(join(root, 'none'), self), true);
  assert.equal(systemFiles.empty(make('theirs'), self + 1), false, 'of somebody else');
  assert.equal(systemFiles.empty(make('shut', 0o400), self), false, 'with another mode');
  const named = make('named');
  linkSync(named, join(root, 'other-name'));
  assert.equal(systemFiles.empty(named, self), false, 'with a second name');
  symlinkSync(make('target'), join(root, 'pointer'));
  assert.equal(systemFiles.empty(join(root, 'pointer'), self), false, 'a link');
  assert.equal(statSync(join(root, 'target')).size, 4);
});

test('a whole tree is removed, an absent one is fine', async () => {
  const path = join(root, 'tree');
  mkdirSync(join(path, 'x/-rf'), { recursive: true });
  writeFileSync(join(path, '-f'), '');
  await systemFiles.removeTree(path);
  assert.equal(existsSync(path), false);
  await systemFiles.removeTree(path);
});

test('a tree of any number of names, not all of them text, is removed', async () => {
  const path = join(root, 'many');
  const longName = 'x'.repeat(200);
  // More bytes of names than one program can be given as arguments.
  const script = `mkdir ${path} && cd ${path} && seq -f ${longName}%g 12000 | xargs touch`;
  execFileSync('sh', ['-c', `${script} && touch "$(printf '\\377\\376')"`]);
  await systemFiles.removeTree(path);
  assert.equal(existsSync(path), false);
});

test('a small tree is removed without following its links', async () => {
  const path = join(root, 'few');
  const outside = join(root, 'outside');
  mkdirSync(join(path, 'a/b'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, 'stays'), '');
  for (const at of ['link', 'a/b/link']) symlinkSync(outside, join(path, at));
  writeFileSync(Buffer.concat([Buffer.from(`${path}/a/`), Buffer.from([0xff, 0xfe])]), '');
  await systemFiles.removeTree(path);
  assert.deepEqual([existsSync(path), readdirSync(outside)], [false, ['stays']]);
});

test('a tree goes also when the thread for it dies', async () => {
  const dying = new TreeThread(new URL('data:text/javascript,process.exit(3)'));
  const paths = ['first', 'second'].map((name) => join(root, name));
  for (const path of paths) mkdirSync(join(path, 'below'), { recursive: true });
  await Promise.all(paths.map((path) => dying.remove(path)));
  assert.deepEqual(paths.map(existsSync), [false, false]);
});

test('what is mounted in a tree stays, and is told', { skip: NO_ROOT }, async () => {
  const path = join(root, 'mounted');
  const disk = join(path, 'disk');
  mkdirSync(disk, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', 'weft', disk]);
  try {
    writeFileSync(join(disk, 'stays'), '');
    await assert.rejects(systemFiles.removeTree(path), /busy|cannot delete/);
    assert.ok(existsSync(join(disk, 'stays')));
  } finally {
    execFileSync('umount', [disk]);
  }
});

test('a look says whether a file is private: one name, one owner, nobody else', () => {
  const path = join(root, 'looked-at');
  writeFileSync(path, 'text', { mode: 0o600 });
  const look = (uid: number | null = self) => systemFiles.look(path, uid);
  assert.deepEqual(look(), { size: 4, isPrivate: true });
  assert.deepEqual([look(self + 1)?.isPrivate, look(null)?.isPrivate], [false, false]);
  linkSync(path, join(root, 'looked-at-too'));
  assert.deepEqual(look(), { size: 4, isPrivate: false });
  assert.equal(systemFiles.look(join(root, 'none'), self), null);
  assert.equal(systemFiles.look(root, self), null, 'a directory');
});

test('a path that cannot be looked at has no size', () => {
  assert.equal(systemFiles.size(join(root, 'x'.repeat(300))), null);
});

test('removing a tree uses the rights of its owner only', { skip: !isRoot }, async () => {
  const path = join(root, 'owned');
  mkdirSync(join(path, 'locked'), { recursive: true, mode: 0o755 });
  writeFileSync(join(path, 'locked/of-root'), '');
  chownSync(path, SOMEBODY.uid, SOMEBODY.gid);
  await assert.rejects(systemFiles.removeTree(path), /Permission denied/);
  assert.ok(existsSync(join(path, 'locked/of-root')));
});

test('a written file has its owner and mode, and replaces what was there', () => {
  const path = join(root, 'script');
  systemFiles.writeFile(path, 'one', null, 0o600);
  systemFiles.writeFile(path, 'two', isRoot ? SOMEBODY : null, 0o700);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(statSync(path).uid, isRoot ? SOMEBODY.uid : self);
  assert.equal(systemFiles.size(path), 3);
});

test('a journal file on a full disk can be written for as long as its reserve lasts', {
  skip: NO_ROOT,
}, () => {
  const disk = join(root, 'small');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'weft', disk]);
  try {
    const file = openJournalFile(join(disk, 'journal'));
    file.write(0, Buffer.from('begin'));
    assert.equal(file.hasRoom(), true);
    execFileSync('sh', ['-c', 'cat /dev/zero > "$1/filler" 2>/dev/null || true', '_', disk]);
    assert.throws(() => file.replace(Buffer.from('x')), /ENOSPC/);
    const half = Buffer.alloc(RESERVE_BYTES / 2, 'x');
    file.write(5, half);
    assert.equal(file.hasRoom(), false);
    file.write(5 + half.length, half.subarray(1));
    assert.throws(() => file.write(5 + 2 * half.length, Buffer.alloc(RESERVE_BYTES)), /ENOSPC/);
    rmSync(join(disk, 'filler'));
    assert.equal(file.hasRoom(), true);
    file.close();
  } finally {
    execFileSync('umount', [disk]);
  }
});

test('a journal file keeps what was appended, and is replaced as a whole', () => {
  const path = join(root, 'journal');
  const first = openJournalFile(path);
  const text = (file: JournalFile): string =>
    Buffer.from(file.read()).toString().replace(/\0+$/, '');
  first.write(0, Buffer.from('ab'));
  first.write(2, Buffer.from('c'));
  first.close();
  const again = openJournalFile(path);
  assert.equal(text(again), 'abc');
  again.replace(Buffer.from('x'));
  again.write(1, Buffer.from('y'));
  assert.equal(text(again), 'xy');
  assert.ok(statSync(path).blocks * 512 >= RESERVE_BYTES);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  again.close();
});

test('many nodes of one process set less aside each', () => {
  assert.deepEqual([1, 4].map(reserveOfEach), [RESERVE_BYTES, RESERVE_BYTES]);
  assert.ok(100 * reserveOfEach(100) <= 4 * RESERVE_BYTES);
  assert.equal(reserveOfEach(1000), 65_536);
  const path = join(root, 'journal of many');
  const file = openJournalFile(path, reserveOfEach(100));
  file.replace(Buffer.from('x'));
  assert.ok(file.hasRoom());
  const { blocks } = statSync(path);
  assert.ok(blocks * 512 >= reserveOfEach(100) && blocks * 512 < 1_048_576);
  file.close();
});

test('a file gives the room behind its limit back, and its writers notice nothing', async () => {
  const path = join(root, 'long');
  const append = openSync(path, 'a');
  writeSync(append, 'x'.repeat(4_000_000));
  await systemFiles.emptyFrom(path, self + 1, 1_048_576, 0);
  assert.ok(statSync(path).blocks * 512 >= 4_000_000);
  await systemFiles.emptyFrom(path, self, 1_048_576, 0);
  assert.equal(statSync(path).size, 4_000_000);
  assert.ok(statSync(path).blocks * 512 < 1_200_000, `${statSync(path).blocks} blocks`);
  writeSync(append, 'end');
  closeSync(append);
  assert.equal(Buffer.from(systemFiles.read(path, null, 4_000_000, 10)).toString(), 'end');
  assert.equal(systemFiles.read(path, null, 1_048_575, 1)[0], 'x'.charCodeAt(0));
  await systemFiles.emptyFrom(path, self, 1_048_576, 1000);
  const tail = Buffer.from(systemFiles.read(path, null, 3_999_003, 2000)).toString();
  assert.equal(tail, `${'\0'.repeat(997)}end`, 'what is left of the end stays');
  const link = join(root, 'link-to-long');
  symlinkSync(path, link);
  await assert.rejects(systemFiles.emptyFrom(link, null, 0, 0), /ELOOP/);
});

test('the end that is kept of a file has nothing missing, however fast its writer is', async () => {
  const path = join(root, 'fast');
  const output = openSync(path, 'w');
  const script = 'i=0; while [ $i -lt 100000 ]; do echo "line $i of the output"; i=$((i+1)); done';
  const writer = spawn('sh', ['-c', script], { stdio: ['ignore', output, 'inherit'] });
  closeSync(output);
  const [limit, keep] = [100_000, 50_000];
  let isOver = false;
  const over = once(writer, 'exit').then(() => {
    isOver = true;
  });
  let cuts = 0;
  while (!isOver) {
    await systemFiles.emptyFrom(path, self, limit, keep);
    const { size } = statSync(path);
    if (size < limit + keep) continue;
    cuts += 1;
    const end = Buffer.from(systemFiles.read(path, null, size - keep, keep));
    assert.equal(end.indexOf(0), -1, `cut ${cuts}, at ${size}`);
    await new Promise(setImmediate);
  }
  await over;
  assert.ok(cuts > 1, 'it was cut while it was written');
  await systemFiles.emptyFrom(path, self, limit, keep);
  assert.ok(statSync(path).blocks * 512 < limit + keep + 200_000);
});

test('where nothing can be punched into a file it is cut, and its end put back', () => {
  const path = join(root, 'cut');
  writeFileSync(path, `${'x'.repeat(300_000)}${'y'.repeat(1000)}`);
  const file = openSync(path, 'r+');
  cutAndRestore(file, { from: 100_000, keep: 1000 });
  closeSync(file);
  const text = readFileSync(path, 'latin1');
  assert.equal(text, `${'x'.repeat(100_000)}${'\0'.repeat(200_000)}${'y'.repeat(1000)}`);
  assert.ok(statSync(path).blocks * 512 < 200_000);
});
