// Bytes of a download gathered on their way to a file: all of them, in order, and a full disk is
// told.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { GatheredWrites } from '../../../../src/kernel/transfer/gathered-writes.ts';

test('pieces of any size are all there, also where the system takes less at a time', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-writes-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const name = path.join(directory, 'file');
  const file = await open(name, 'w+');
  t.after(() => file.close());
  const pieces = [1, 300_000, 5, 9_000_000, 0, 3].map((size) => randomBytes(size));
  const all = Buffer.concat(pieces);
  const shortening = async (some: readonly Uint8Array[], at: number) => {
    const bytes = Buffer.concat(some).subarray(0, 500_000);
    return { ...(await file.write(bytes, 0, bytes.length, at)), buffers: some };
  };
  for (const writev of [file.writev.bind(file), shortening]) {
    await file.truncate(0);
    const writes = new GatheredWrites({ writev } as unknown as FileHandle, 2);
    for (const piece of pieces) await writes.write(piece);
    await writes.end();
    assert.ok(readFileSync(name).subarray(2).equals(all));
  }
});

test('a write that fails is told, at the latest at the end, and no later one is tried', async () => {
  let count = 0;
  const writev = () => {
    count += 1;
    return Promise.reject(new Error('disk full'));
  };
  const writes = new GatheredWrites({ writev } as unknown as FileHandle, 0);
  await writes.write(randomBytes(2_000_000));
  await assert.rejects(writes.write(randomBytes(8_000_000)), /disk full/);
  await assert.rejects(writes.end(), /disk full/);
  assert.equal(count, 1);
});
