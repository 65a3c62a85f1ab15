// Values in memory that processes of one user share: read by another process, gone with the one
// that has them, and nothing else is ever read so.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import {
  fillRoom,
  hostWith,
  NearMemory,
  readValue,
} from '../../../../../src/wings/calls/functions/near-memory.ts';

const VALUE = Buffer.alloc(100_000, 'value');
const PROGRAM = `
const { NearMemory } = await import(process.argv[1]);
const into = new Uint8Array(${VALUE.length});
console.log(new NearMemory().read(process.argv[2], into), Buffer.from(into).toString('latin1', 0, 10));
`;

const MODULE = new URL('../../../../../src/wings/calls/functions/near-memory.ts', import.meta.url)
  .href;

/** What another process reads there. */
function readElsewhere(file: string): string {
  const args = ['--input-type=module', '-e', PROGRAM, MODULE, file];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}

test('[C20] another process of the same user reads a value, until it is closed', () => {
  const memory = new NearMemory();
  assert.match(memory.host ?? '', /^[0-9a-f]{64}$/);
  assert.equal(memory.host, new NearMemory().host);
  const value = memory.offer(VALUE);
  assert.ok(value !== null);
  assert.equal(readElsewhere(value.file), 'true valuevalue');
  value.close();
  value.close();
  assert.match(readElsewhere(value.file), /^false/);
  const into = new Uint8Array(VALUE.length);
  assert.equal(memory.read(value.file, into), false);
  assert.equal(memory.host, null, 'from now on values go over the line');
});

test('[C20] what is offered is bounded, and free again when it is closed', () => {
  const memory = new NearMemory();
  const large = Buffer.alloc(16 * 1_048_576);
  assert.equal(memory.offer(Buffer.alloc(large.length + 1)), null);
  const values = [memory.offer(large), memory.offer(large)];
  assert.ok(values.every((value) => value !== null));
  assert.equal(memory.offer(VALUE), null);
  for (const value of values) value?.close();
  const again = memory.offer(VALUE);
  assert.ok(again !== null);
  again.close();
});

test('[C20] no other file of a process is read, nor a value of another size', (t) => {
  const memory = new NearMemory();
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-near-memory-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const named = path.join(folder, 'secret');
  writeFileSync(named, VALUE);
  const fd = openSync(named, 'r');
  t.after(() => closeSync(fd));
  const value = memory.offer(VALUE);
  assert.ok(value !== null);
  t.after(() => value.close());
  const into = new Uint8Array(VALUE.length);
  const [pid, own, ino] = value.file.split('.');
  for (const file of [
    `${pid}.${fd}.${ino}`,
    `${pid}.${own}.${Number(ino) + 1}`,
    `${pid}.0.1`,
    `../../etc/passwd`,
    `${value.file}.1`,
    '',
  ]) {
    assert.equal(new NearMemory().read(file, into), false, file);
  }
  assert.equal(new NearMemory().read(value.file, new Uint8Array(VALUE.length - 1)), false);
  assert.equal(new NearMemory().read(value.file, into), true);
});

test('[C20] a value of another is held open until its last holder closes it', () => {
  const theirs = new NearMemory();
  const ours = new NearMemory();
  const value = theirs.offer(VALUE);
  assert.ok(value !== null);
  const held = ours.open(value.file, VALUE.length);
  assert.ok(held !== null && !(held instanceof Uint8Array));
  value.close();
  assert.notEqual(held.file, value.file);
  assert.equal(readElsewhere(held.file), 'true valuevalue');
  const lent = held.lend();
  held.close();
  held.close();
  assert.deepEqual(held.bytes(), VALUE);
  lent.close();
  assert.match(readElsewhere(lent.file), /^false/);
});

test('[C20] of many values that are held open the bytes are taken; what is not there is none', () => {
  const theirs = new NearMemory();
  const ours = new NearMemory();
  const value = theirs.offer(VALUE);
  assert.ok(value !== null);
  const all = Array.from({ length: 257 }, () => ours.open(value.file, VALUE.length));
  assert.deepEqual(all.pop(), VALUE);
  for (const one of all) if (one !== null && !(one instanceof Uint8Array)) one.close();
  value.close();
  assert.notEqual(ours.host, null);
  assert.equal(ours.open(value.file, VALUE.length), null);
  assert.equal(ours.host, null);
});

const WRITER = `
const { fillRoom } = await import(process.argv[1]);
console.log(fillRoom(process.argv[2], Buffer.alloc(${VALUE.length}, 'value')));
`;

/** Whether another process, which ends with that, could write a value there. */
function fillElsewhere(file: string): boolean {
  const args = ['--input-type=module', '-e', WRITER, MODULE, file];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim() === 'true';
}

test('[C20] what another process has written into a room outlives it', () => {
  const memory = new NearMemory();
  const room = memory.room();
  assert.ok(room !== null);
  assert.equal(fillElsewhere(room.file), true);
  assert.equal(fillElsewhere(room.file), false, 'it has a value');
  assert.equal(room.filled(VALUE.length - 1), null);
  const value = room.filled(VALUE.length);
  assert.ok(value !== null && !(value instanceof Uint8Array));
  assert.deepEqual(readValue(value.file, VALUE.length), VALUE);
  value.close();
  assert.equal(readValue(value.file, VALUE.length), null);
  assert.equal(fillRoom(value.file, VALUE), false);
});

test('[C20] a value that does not fit is not in its room, nor a part of it', (t) => {
  const memory = new NearMemory();
  const room = memory.room();
  assert.ok(room !== null);
  t.after(() => room.close());
  assert.equal(fillRoom(room.file, Buffer.alloc(16 * 1_048_576 + 1)), false);
  const words = execFileSync(
    'sh',
    ['-c', 'ulimit -f 64; exec "$0" "$@"', process.execPath, '--input-type=module'].concat([
      '-e',
      `process.on('SIGXFSZ', () => undefined);${WRITER}`,
      MODULE,
      room.file,
    ]),
    { encoding: 'utf8' },
  );
  assert.equal(words.trim(), 'false');
  assert.equal(room.filled(VALUE.length), null);
  assert.equal(fillElsewhere(room.file), true, 'it can be used again');
});

test('[C20] what is longer than any value is none, whoever has written it into a room', (t) => {
  const room = new NearMemory().room();
  assert.ok(room !== null);
  t.after(() => room.close());
  const [pid, fd] = room.file.split('.');
  const length = 16 * 1_048_576 + 1;
  truncateSync(`/proc/${pid}/fd/${fd}`, length);
  assert.equal(room.filled(length), null);
});

test('[C20] a value for which its reader has no memory counts as not there', (t) => {
  const value = new NearMemory().offer(VALUE);
  assert.ok(value !== null);
  t.after(() => value.close());
  const refused = t.mock.method(Buffer, 'allocUnsafeSlow', () => {
    throw new RangeError('Array buffer allocation failed');
  });
  assert.equal(readValue(value.file, VALUE.length), null);
  assert.equal(refused.mock.callCount(), 1);
  refused.mock.restore();
  assert.deepEqual(readValue(value.file, VALUE.length), VALUE);
});

test('[C20] a process says which memory it shares only with one whose files it sees', () => {
  assert.equal(hostWith(process.pid), new NearMemory().host);
  assert.equal(hostWith(2 ** 30), '');
});
