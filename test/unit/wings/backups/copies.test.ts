// Backups of a folder with a real store, and putting them back: on the disk, without a head.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { folderOf, markOf } from '../../../../src/kernel/connect/process-file.ts';
import { openSqliteStore } from '../../../../src/kernel/store/sqlite/open.ts';
import { makeBackup } from '../../../../src/wings/backups/bin/make-backup.ts';
import { isFull } from '../../../../src/wings/backups/bin/making.ts';
import { readBackups } from '../../../../src/wings/backups/transfer/read-backups.ts';
import { openBackup, problemsOf, restore } from '../../../../src/wings/backups/transfer/restore.ts';
import { makeFolder } from '../../../support/folder.ts';
import { commitOf, job } from '../../kernel/store/support/rows.ts';

const START = Date.UTC(2026, 10, 27, 12);

interface Wanted {
  readonly keep?: number;
  readonly to?: string;
  readonly free?: number;
  readonly tell?: () => void;
}

/** A head's folder with three records, in use; and where its backups go. */
async function world(t: TestContext, { key = 'k', start = START } = {}) {
  const folder = makeFolder(t, {
    'head/stamp.key': key.repeat(32),
    'head/tls/key.pem': 'secret',
    'head/logs/0/1/out': 'hello\n',
    'head/blobs/total': '7',
    'backups/notes': 'mine',
  });
  const from = join(folder, 'head');
  const to = join(folder, 'backups');
  const store = await openSqliteStore({ directory: from });
  t.after(() => store.close());
  await store.recover();
  let seq = 0;
  const append = async (): Promise<void> => {
    seq += 1;
    await store.append(commitOf(seq, [job(seq)]));
  };
  for (let count = 0; count < 3; count++) await append();
  let made = 0;
  const back = ({ free = 2 ** 40, tell = () => undefined, ...more }: Wanted = {}) => {
    const at = start + made * 1000;
    made += 1;
    const about = { cluster: 'lab', weft: '1', configuration: [], keysFile: null };
    const order = { from, to, keep: 24, at, ...about, ...more };
    return makeBackup(order, { now: () => at + 5, tell, free: () => free });
  };
  return { folder, from, to, append, back };
}

const text = (...path: string[]): string => readFileSync(join(...path), 'utf8');
const names = (folder: string): string[] => readdirSync(folder).sort();

test('[U1] a backup has the store as it was at one instant, and the files', async (t) => {
  const { to, back } = await world(t);
  const { name, folder, header } = back();
  assert.equal(name, 'weft-20261127T120000.000Z');
  assert.deepEqual([header.records, header.lastJobId, header.cluster], [3, 3, 'lab']);
  assert.equal(text(folder, 'head/logs/0/1/out'), 'hello\n');
  assert.equal(existsSync(join(folder, 'head/blobs/total')), false);
  assert.deepEqual(problemsOf(openBackup(folder)), []);
  assert.equal(statSync(folder).mode & 0o77, 0);
  assert.deepEqual(names(to), ['notes', name]);
});

test('[U1] a backup has the history of steps, and is put back with it', async (t) => {
  const { folder, from, back } = await world(t);
  mkdirSync(join(from, 'steps'));
  const steps = new DatabaseSync(join(from, 'steps/steps.db'));
  t.after(() => steps.close());
  steps.exec('PRAGMA journal_mode = WAL; PRAGMA user_version = 1; CREATE TABLE steps (job);');
  steps.exec('INSERT INTO steps VALUES (42)');
  // What lies in its log beside the file is in the backup.
  const made = back();
  const to = join(folder, 'put-back');
  restore(openBackup(made.folder), to);
  assert.deepEqual(readdirSync(join(to, 'steps')), ['steps.db']);
  const again = new DatabaseSync(join(to, 'steps/steps.db'));
  t.after(() => again.close());
  assert.deepEqual(
    again
      .prepare('SELECT job FROM steps')
      .all()
      .map(({ job: id }) => id),
    [42],
  );
  assert.equal(again.prepare('PRAGMA user_version').get()?.['user_version'], 1);
});

test('a history of steps that cannot be read keeps no backup from being made', async (t) => {
  const { from, back } = await world(t);
  mkdirSync(join(from, 'steps'));
  writeFileSync(
    join(from, 'steps/steps.db'),
    'this is no file of SQLite, and long enough to be seen',
  );
  const { folder, header } = back();
  assert.match(header.leftOut?.join() ?? '', /^steps\/steps\.db: .*not a database/);
  assert.equal(openBackup(folder).header.leftOut?.length, 1);
  assert.deepEqual(readdirSync(join(folder, 'head/steps')), []);
  assert.deepEqual(problemsOf(openBackup(folder)), []);
});

test('[U6] a disk that is full fails the backup, whatever it filled with', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('PRAGMA max_page_count = 2; CREATE TABLE a (b)');
  const fill = () => database.exec('INSERT INTO a VALUES (zeroblob(100000))');
  assert.throws(fill, (error) => isFull(error));
  database.close();
  assert.ok(isFull(Object.assign(new Error('no space'), { code: 'ENOSPC' })));
  assert.ok(!isFull(new Error('file is not a database')));
});

test('files that have not changed are links to those of the backup before', async (t) => {
  const { from, back } = await world(t);
  const first = back();
  appendFileSync(join(from, 'logs/0/1/out'), 'more\n');
  const second = back();
  const inode = (of: { folder: string }, path: string) =>
    statSync(join(of.folder, 'head', path)).ino;
  assert.equal(inode(first, 'tls/key.pem'), inode(second, 'tls/key.pem'));
  assert.equal(text(first.folder, 'head/logs/0/1/out'), 'hello\n');
  assert.equal(text(second.folder, 'head/logs/0/1/out'), 'hello\nmore\n');
  assert.ok(second.header.newBytes < second.header.bytes);
});

test('[U5] the newest stay; those of another head and what is no backup are left alone', async (t) => {
  const { from, to, back } = await world(t);
  const other = await world(t, { key: 'o', start: START - 60_000 });
  const { name } = other.back({ to });
  writeFileSync(join(from, 'audit.log'), '1');
  for (let count = 0; count < 3; count++) back({ keep: 2 });
  const own = ['weft-20261127T120001.000Z', 'weft-20261127T120002.000Z'];
  assert.deepEqual(names(to), ['notes', name, ...own].sort());
});

test('[U3] a backup is put back as it was written, with links, modes and times', async (t) => {
  const { folder, from, back } = await world(t);
  mkdirSync(join(from, 'archive/empty'), { recursive: true, mode: 0o750 });
  writeFileSync(join(from, 'archive/run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  utimesSync(join(from, 'archive/run.sh'), 1000, 1000);
  linkSync(join(from, 'archive/run.sh'), join(from, 'archive/same.sh'));
  symlinkSync('../nowhere', join(from, 'archive/link'));
  const to = join(folder, 'fresh/head');
  restore(openBackup(back().folder), to);
  assert.equal(statSync(join(to, 'archive/run.sh')).mode & 0o777, 0o755);
  assert.equal(statSync(join(to, 'archive/run.sh')).mtimeMs, 1_000_000);
  assert.equal(statSync(join(to, 'archive/same.sh')).ino, statSync(join(to, 'archive/run.sh')).ino);
  assert.equal(statSync(join(to, 'archive/empty')).mode & 0o777, 0o750);
  assert.deepEqual(names(join(to, 'archive')), ['empty', 'link', 'run.sh', 'same.sh']);
  assert.equal(text(to, 'logs/0/1/out'), 'hello\n');
});

test('[U3] a file that differs, or is gone, keeps all of it from being put back', async (t) => {
  const { folder, back } = await world(t);
  const made = back().folder;
  const to = join(folder, 'fresh/head');
  appendFileSync(join(made, 'head/tls/key.pem'), '!');
  assert.throws(
    () => restore(openBackup(made), to),
    /tls\/key\.pem differs .* nothing was put back/,
  );
  rmSync(join(made, 'head/tls/key.pem'));
  assert.throws(() => restore(openBackup(made), to), { code: 'backup.damaged' });
  assert.deepEqual(problemsOf(openBackup(made)), ['tls/key.pem is missing']);
  assert.deepEqual(names(join(folder, 'fresh')), []);
});

test('[U3] a link or a pipe in the place of a file is not opened', async (t) => {
  const { folder, back } = await world(t);
  const made = back().folder;
  const file = join(made, 'head/tls/key.pem');
  const to = join(folder, 'fresh/head');
  writeFileSync(join(folder, 'same'), text(file));
  rmSync(file);
  symlinkSync(join(folder, 'same'), file);
  assert.throws(() => restore(openBackup(made), to), /tls\/key\.pem differs/);
  rmSync(file);
  execFileSync('mkfifo', [file]);
  assert.throws(() => restore(openBackup(made), to), /tls\/key\.pem differs/);
  assert.deepEqual(names(join(folder, 'fresh')), []);
});

test('[U3] a link, a pipe or too much in the place of what a backup says of itself is not read', async (t) => {
  const { folder, to, back } = await world(t);
  const made = back().folder;
  for (const name of ['backup.json', 'files.jsonl']) {
    const file = join(made, name);
    const kept = join(folder, 'kept');
    renameSync(file, kept);
    symlinkSync(kept, file);
    assert.throws(() => openBackup(made), { code: 'backup.damaged' });
    if (name === 'backup.json') assert.deepEqual(readBackups(to), []);
    rmSync(file);
    execFileSync('mkfifo', [file]);
    assert.throws(() => openBackup(made), { code: 'backup.damaged' });
    rmSync(file);
    renameSync(kept, file);
  }
  openBackup(made);
  truncateSync(join(made, 'backup.json'), 2 ** 21);
  assert.throws(() => openBackup(made), /backup\.json is no plain file of a header's size/);
  assert.deepEqual(readBackups(to), []);
});

test('[U3] nothing is put back where something is', async (t) => {
  const { from, back } = await world(t);
  const made = back().folder;
  assert.throws(() => restore(openBackup(made), from), { code: 'restore.not_empty' });
  assert.equal(text(from, 'tls/key.pem'), 'secret');
});

test('[U3] nor where something came between the first look and the lock', async (t) => {
  const { folder, back } = await world(t);
  const backup = openBackup(back().folder);
  const to = join(folder, 'fresh/head');
  const meanwhile = (): number => {
    mkdirSync(to);
    writeFileSync(join(to, 'stamp.key'), 'of a head');
    return 2 ** 40;
  };
  assert.throws(() => restore(backup, to, meanwhile), { code: 'restore.not_empty' });
  assert.equal(text(to, 'stamp.key'), 'of a head');
  assert.deepEqual(names(join(folder, 'fresh')), ['head']);
});

test('[U3] a second restore in the middle of the first is refused, and one that was killed is in nobody’s way', async (t) => {
  const { folder, back } = await world(t);
  const made = back().folder;
  const to = join(folder, 'fresh/head');
  mkdirSync(join(folder, 'fresh/head.half/logs'), { recursive: true });
  const lock = `${to}.restoring`;
  const held = (pid: number) => JSON.stringify({ ...markOf(pid), folder: folderOf(lock) });
  // Whoever started this test lives.
  writeFileSync(lock, held(process.ppid));
  assert.throws(() => restore(openBackup(made), to), /another restore .*\(process \d+\)/);
  assert.deepEqual(names(join(folder, 'fresh')), ['head.half', 'head.restoring']);
  assert.deepEqual(names(join(folder, 'fresh/head.half')), ['logs'], 'its work is left alone');
  writeFileSync(lock, held(2 ** 22 + 1));
  restore(openBackup(made), to);
  assert.deepEqual(names(join(folder, 'fresh')), ['head']);
});

test('[U4] a store from a backup opens only with consent to the loss', async (t) => {
  const { folder, back } = await world(t);
  const to = join(folder, 'fresh/head');
  restore(openBackup(back().folder), to);
  await assert.rejects(openSqliteStore({ directory: to }), /is a backup of .*--accept-loss/);
  const store = await openSqliteStore({ directory: to, acceptLoss: true });
  const { loss, records } = await store.recover();
  assert.deepEqual(loss, { lastSeq: 3, promisedSeq: null, given: null });
  assert.equal([...records].length, 3);
  await store.append(commitOf(4, [job(4)]));
  await store.close();
  const again = await openSqliteStore({ directory: to });
  assert.equal((await again.recover()).loss, null);
  await again.close();
});

test('[U2] what a backup that was cut off has left goes with the next, and is never listed', async (t) => {
  const { from, to, back } = await world(t);
  const first = back();
  writeFileSync(join(from, 'audit.log'), 'x');
  const cut = (): never => {
    throw new Error('cut off');
  };
  for (let index = 0; index < 300; index++) writeFileSync(join(from, `f${index}`), '');
  assert.throws(() => back({ tell: cut }), /cut off/);
  assert.deepEqual(names(to), ['notes', first.name]);
  // As a kill leaves it: the folder of a backup that was not finished.
  mkdirSync(join(to, `.half-${first.header.head}-weft-20261127T120009.000Z`, 'head'), {
    recursive: true,
  });
  const last = back();
  assert.deepEqual(names(to), ['notes', first.name, last.name]);
});

test('a folder inside the head, or whose parent is missing, is refused', async (t) => {
  const { from, to, back } = await world(t);
  assert.throws(() => back({ to: join(from, 'logs') }), /inside the head's own folder/);
  assert.throws(() => back({ to: join(to, 'no/such') }), /ENOENT/);
});

test('a damaged record of the store makes no backup', async (t) => {
  const { from, to, back, append } = await world(t);
  await append();
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(join(from, 'weft.db'));
  database.exec('UPDATE journal SET crc = crc + 1 WHERE seq = 2');
  database.close();
  assert.throws(() => back(), /record 2 differs from what was written/);
  assert.deepEqual(names(to), ['notes']);
});

test('[U6] a backup for which there is no room is refused, and the folder stays as it is', async (t) => {
  const { to, back } = await world(t);
  const words = /has no room: the backup needs .*, and 0 may be used \(1G stay free\)/;
  assert.throws(() => back({ free: 2 ** 30 }), words);
  assert.deepEqual(names(to), ['notes']);
});

test('[U3] a backup that has no room where it is to be put back leaves nothing there', async (t) => {
  const { folder, back } = await world(t);
  const backup = openBackup(back().folder);
  const to = join(folder, 'fresh/head');
  assert.throws(() => restore(backup, to, () => 10), { code: 'restore.no_room' });
  assert.deepEqual(names(join(folder, 'fresh')), []);
});

const isRoot = process.getuid?.() === 0;

test('[U7] root puts a backup back as the user whose folder it is', {
  skip: !isRoot,
}, async (t) => {
  const { folder, back } = await world(t);
  const backup = openBackup((await back()).folder);
  chmodSync(folder, 0o755);
  const [theirs, roots] = [join(folder, 'theirs'), join(folder, 'roots')];
  mkdirSync(theirs);
  chownSync(theirs, 4321, 4321);
  mkdirSync(roots);
  restore(backup, join(theirs, 'head'));
  const { uid, gid } = statSync(join(theirs, 'head', 'stamp.key'));
  assert.deepEqual([uid, gid, process.geteuid?.()], [4321, 4321, 0]);

  // A link of theirs to where only root may write.
  symlinkSync(roots, join(theirs, 'link'));
  lchownSync(join(theirs, 'link'), 4321, 4321);
  for (const to of [join(theirs, 'link'), join(theirs, 'link', 'head')]) {
    assert.throws(() => restore(backup, to), /permission denied/);
  }
  assert.deepEqual(readdirSync(roots), []);
  assert.equal(process.geteuid?.(), 0);
});

test('[U7] root reads a backup as the user whose folder it is', { skip: !isRoot }, async (t) => {
  const { folder, back } = await world(t);
  chmodSync(folder, 0o755);
  const made = back().folder;
  const theirs = join(folder, 'backups');
  execFileSync('chown', ['-R', '4321:4321', theirs]);
  const others = join(folder, 'others');
  mkdirSync(others);
  chownSync(others, 4322, 4322);
  restore(openBackup(made), join(others, 'good'));
  const { uid, gid } = statSync(join(others, 'good', 'logs/0/1/out'));
  assert.deepEqual([uid, gid], [4322, 4322]);
  // The folder around it is a link of theirs to what only root reads.
  const tls = join(made, 'head/tls');
  mkdirSync(join(folder, 'roots'), { mode: 0o700 });
  renameSync(join(tls, 'key.pem'), join(folder, 'roots/key.pem'));
  rmSync(tls, { recursive: true });
  symlinkSync(join(folder, 'roots'), tls);
  assert.throws(() => restore(openBackup(made), join(others, 'bad')), /permission denied/);
  assert.deepEqual(readdirSync(others), ['good']);
});
