// Values in memory that processes of one user share: read by another process, gone with the one
// that has them, and nothing else is ever read so.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { NearMemory } from '../../../../../src/wings/calls/functions/near-memory.ts';

const VALUE = Buffer.alloc(100_000, 'value');
const PROGRAM = `
const { NearMemory } = await import(process.argv[1]);
const into = new Uint8Array(${VALUE.length});
console.log(new NearMemory().read(process.argv[2], into), Buffer.from(into).toString('latin1', 0, 10));
`;

/** What another process reads there. */
function readElsewhere(file: string): string {
  const url = new URL('../../../../../src/wings/calls/functions/near-memory.ts', import.meta.url)
    .href;
  const args = ['--input-type=module', '-e', PROGRAM, url, file];
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
  assert.equal(ours.take(value.file, VALUE.length), null);
  assert.notEqual(ours.host, null, 'whose process is gone was no lie');
  assert.equal(ours.open(value.file, VALUE.length), null);
  assert.equal(ours.host, null);
  assert.equal(ours.isOpen(process.pid), true);
  assert.equal(ours.isOpen(2 ** 30), false);
});
