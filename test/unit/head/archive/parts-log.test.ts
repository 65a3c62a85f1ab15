// The log of parts: what was told is there, also after a kill at any byte, and what has gone takes no room.

import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { PartsLog } from '../../../../src/head/archive/parts-log.ts';

function bench(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-log-'));
  const file = path.join(folder, 'log');
  const made = {
    ...{ folder, file, log: new PartsLog(file) },
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
