// The log of parts: what was told is there, also after a kill at any byte, and what has gone takes
// no room.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { PartsLog } from '../../../../../src/kernel/head/archive/parts-log.ts';

function bench(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-log-'));
  const file = path.join(folder, 'log');
  const made = {
    folder,
    file,
    log: new PartsLog(file),
    restart: async () => {
      await made.log.close();
      made.log = new PartsLog(file);
    },
    all: () => Object.fromEntries(made.log.keys.map((key) => [key, made.log.read(key)])),
  };
  t.after(async () => {
    await made.log.close();
    rmSync(folder, { recursive: true });
  });
  return made;
}

test('what was put is there until it is dropped, the last word of each', async (t) => {
  const made = bench(t);
  await Promise.all(['a', 'b', 'c'].map((key) => made.log.put(key, { key, text: 'ä\n' })));
  await made.log.put('b', 'again');
  made.log.drop(['c', 'unknown']);
  for (const turn of ['at once', 'after a restart']) {
    assert.deepEqual(made.all(), { a: { key: 'a', text: 'ä\n' }, b: 'again' }, turn);
    assert.equal(made.log.read('c'), null);
    await made.restart();
  }
});

test('cut at any byte, the log has all that was told before, and goes on behind it', async (t) => {
  const made = bench(t);
  await made.log.put('a', 'kept');
  const whole = statSync(made.file).size;
  await made.log.put('b', 'torn');
  const bytes = readFileSync(made.file);
  for (let length = whole; length < bytes.length; length += 1) {
    await made.log.close();
    writeFileSync(made.file, bytes.subarray(0, length));
    made.log = new PartsLog(made.file);
    assert.deepEqual(made.all(), { a: 'kept' }, `${length} bytes`);
    assert.equal(statSync(made.file).size, whole);
  }
  await made.log.put('c', 'next');
  await made.restart();
  assert.deepEqual(made.all(), { a: 'kept', c: 'next' });
});

test('a length without its bytes, and a line that was changed, cost no other line', async (t) => {
  const made = bench(t);
  await made.log.put('a', 'first');
  await made.log.put('b', 'second');
  await made.log.put('c', 'third');
  await made.log.close();
  writeFileSync(made.file, readFileSync(made.file, 'utf8').replace('second', 'secomd'));
  const { size } = statSync(made.file);
  appendFileSync(made.file, Buffer.alloc(100));
  made.log = new PartsLog(made.file);
  assert.deepEqual(made.all(), { a: 'first', c: 'third' });
  assert.equal(statSync(made.file).size, size);
});

test('what has gone takes no room for ever, and what is needed stays', async (t) => {
  const made = bench(t);
  const long = 'x'.repeat(100_000);
  await made.log.put('kept', 'k');
  for (let at = 0; at < 50; at += 1) {
    const writing = made.log.put(`${at}`, long);
    made.log.drop([`${at - 1}`]);
    await writing;
  }
  assert.ok(statSync(made.file).size < 4_500_000);
  for (const turn of ['at once', 'after a restart']) {
    assert.deepEqual(made.all(), { kept: 'k', 49: long }, turn);
    await made.restart();
  }
  await made.log.put('50', long.repeat(12));
  made.log.drop(['kept', '49', '50']);
  assert.equal(statSync(made.file).size, 0);
  await made.log.put('last', 'l');
  await made.restart();
  assert.deepEqual([made.all(), readdirSync(made.folder)], [{ last: 'l' }, ['log']]);
});

test('after a sync that failed nobody is told of that file, and the log goes on in a new one', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'log');
  const begun: PromiseWithResolvers<void>[] = [];
  let isHeld = false;
  const log = new PartsLog(file, () => {
    const one = Promise.withResolvers<void>();
    begun.push(one);
    if (!isHeld) one.resolve();
    return one.promise;
  });
  await log.put('told', 1);
  const before = statSync(file).ino;
  isHeld = true;
  const failing = assert.rejects(log.put('failing', 2), { message: 'EIO' });
  while (begun.length < 2) await new Promise(setImmediate);
  const meanwhile = assert.rejects(log.put('meanwhile', 3), { message: 'EIO' });
  isHeld = false;
  begun[1]?.reject(new Error('EIO'));
  await Promise.all([failing, meanwhile]);
  assert.equal(begun.length, 2, 'a second sync of the same file would say that all is well');
  await log.put('later', 4);
  assert.notEqual(statSync(file).ino, before);
  await log.settle();
  await log.close();
  const next = new PartsLog(file);
  assert.deepEqual([next.read('told'), next.read('later')], [1, 4]);
  await next.close();
});

test('what is settled after a sync that failed is settled in a new file', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'log');
  let isBad = false;
  const log = new PartsLog(file, async () => {
    if (isBad) throw new Error('EIO');
  });
  await log.put('a', 1);
  isBad = true;
  await assert.rejects(log.put('b', 2), { message: 'EIO' });
  isBad = false;
  log.drop(['a']);
  const before = statSync(file).ino;
  await log.settle();
  assert.notEqual(statSync(file).ino, before);
  await log.close();
  const next = new PartsLog(file);
  assert.deepEqual(next.keys, ['b']);
  await next.close();
});

test('nobody is told of a new file before its name is on the disk', async (t) => {
  const made = bench(t);
  const long = 'x'.repeat(100_000);
  await made.log.put('kept', 'k');
  await Promise.all(Array.from({ length: 45 }, (_, at) => made.log.put(`${at}`, long)));
  made.log.drop(Array.from({ length: 45 }, (_, at) => `${at}`));
  assert.ok(statSync(made.file).size < 1000, 'it is a new file');
  renameSync(made.folder, `${made.folder}.away`);
  await assert.rejects(made.log.put('lost', 'l'), { code: 'ENOENT' });
  renameSync(`${made.folder}.away`, made.folder);
  await made.log.put('told', 't');
  await made.restart();
  assert.deepEqual([made.log.read('kept'), made.log.read('told')], ['k', 't']);
});

const NO_MOUNT = process.getuid?.() !== 0 && 'only root mounts a small disk';

test('on a full disk what goes is a line, and what cannot go stays whole', {
  skip: NO_MOUNT,
}, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder]);
  t.after(() => {
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  });
  const file = path.join(folder, 'log');
  const filler = path.join(folder, 'filler');
  const log = new PartsLog(file);
  const keys = Array.from({ length: 45 }, (_, at) => `${at} `.padEnd(5000, 'k'));
  for (const key of keys) await log.put(key, 'x'.repeat(95_000));
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  log.drop(keys.slice(0, 25));
  assert.deepEqual([log.keys, open(), readdirSync(folder)], [keys.slice(25), before, ['log']]);
  const { size } = statSync(file);
  const free = Number(
    execFileSync('df', ['-B1', '--output=avail', folder]).toString().split('\n')[1],
  );
  writeFileSync(filler, Buffer.alloc(free));
  assert.throws(() => log.drop(keys.slice(25, 28)), { code: 'ENOSPC' });
  assert.deepEqual([log.keys, statSync(file).size, open()], [keys.slice(25), size, before]);
  rmSync(filler);
  log.drop(keys.slice(25, 28));
  await log.put('last', 'l');
  await log.close();
  const next = new PartsLog(file);
  assert.deepEqual(next.keys, [...keys.slice(28), 'last']);
  await next.close();
});
