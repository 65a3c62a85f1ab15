// Bytes gathered on their way to a file: all of them there in order, whoever is slower, and none
// after somebody else has taken the file over.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { FileWriter } from '../../../../../src/kernel/head/blobs/file-writer.ts';

async function bench(t: TestContext) {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-writer-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const name = path.join(directory, 'file');
  const file = await open(name, 'w+');
  t.after(() => file.close());
  const state = { written: 0, mayWrite: true };
  const writer = (handle: FileHandle = file) =>
    new FileWriter({
      file: handle,
      at: 0,
      written: (bytes) => {
        state.written += bytes;
      },
      mayWrite: () => state.mayWrite,
    });
  return { file, state, writer, content: () => readFileSync(name) };
}

/** A system that takes only so many bytes at a time. */
function shortening(file: FileHandle, most: number): FileHandle {
  const writev = async (all: readonly Uint8Array[], at: number) => {
    const bytes = Buffer.concat(all).subarray(0, most);
    return { ...(await file.write(bytes, 0, bytes.length, at)), buffers: all };
  };
  return { writev, datasync: () => file.datasync() } as unknown as FileHandle;
}

test('pieces of any size are all there, in order, also where the system takes less at a time', async (t) => {
  const { file, writer, content, state } = await bench(t);
  const pieces = [1, 300_000, 5, 70_000, 2_000_000, 0, 3].map((size) => randomBytes(size));
  const all = Buffer.concat(pieces);
  for (const handle of [file, shortening(file, 1000), shortening(file, 1_000_000)]) {
    state.written = 0;
    await file.truncate(0);
    const made = writer(handle);
    for (const piece of pieces) await made.write(piece);
    await made.end();
    assert.ok(content().equals(all));
    assert.equal(state.written, all.length);
  }
});

test('a few bytes are on the disk without more of them', async (t) => {
  const { writer, content } = await bench(t);
  const made = writer();
  await made.write(Buffer.from('few'));
  while (content().length < 3) await new Promise(setImmediate);
  await made.idle;
  await made.write(Buffer.from(' more'));
  await made.end();
  assert.equal(content().toString(), 'few more');
});

test('nothing is written once somebody else has taken over', async (t) => {
  const { writer, content, state } = await bench(t);
  const made = writer();
  await made.write(Buffer.from('mine'));
  await made.end();
  await made.write(Buffer.from(' late'));
  state.mayWrite = false;
  await made.end();
  assert.equal(content().toString(), 'mine');
});

test('a write that fails is told to whoever ends', async (t) => {
  const { writer } = await bench(t);
  const full = { writev: () => Promise.reject(new Error('ENOSPC')) } as unknown as FileHandle;
  const made = writer(full);
  await made.write(Buffer.alloc(300_000));
  await made.idle;
  await assert.rejects(made.end(), /ENOSPC/);
});
