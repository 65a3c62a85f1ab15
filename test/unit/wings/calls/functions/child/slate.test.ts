// What a child has written down of its calls: read as it was written, as far as that is whole.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TO_SUPERVISOR } from '../../../../../../src/wings/calls/functions/child/frames.ts';
import { Results } from '../../../../../../src/wings/calls/functions/child/results.ts';
import {
  readSlate,
  SLATE_BYTES,
  SlateWriter,
} from '../../../../../../src/wings/calls/functions/child/slate.ts';

/** A slate in memory, and who writes on it. */
function slate() {
  const bytes = Buffer.alloc(SLATE_BYTES);
  const note = (entry: Uint8Array, at: number) => bytes.set(entry, at);
  const read = (from = bytes) =>
    readSlate(from).map(({ kind, a, bytes: body }) => [kind, a, `${body}`]);
  return { bytes, note, read, writer: new SlateWriter(note) };
}

const { result, starting, thrown } = TO_SUPERVISOR;
const end = (a: number, text: string) => [{ kind: result, a }, Buffer.from(text)] as const;
/** What stands there of the beginning of a call at the moment 0. */
const begun = (a: number) => [starting, a, '\0'.repeat(8)];

test('[C23] ends and beginnings stand there in order once a call begins', () => {
  const { read, writer } = slate();
  writer.add(...end(1, 'one'));
  assert.deepEqual(read(), []);
  writer.begin(2, 0);
  writer.add({ kind: thrown, a: 2 }, Buffer.from('t'), Buffer.from('wo'));
  writer.begin(3, 0);
  assert.deepEqual(read(), [[result, 1, 'one'], begun(2), [thrown, 2, 'two'], begun(3)]);
});

test('[C23] an entry that was being written, at whichever byte, counts as not written', () => {
  const { bytes, writer } = slate();
  writer.add(...end(1, 'an older and longer result'));
  writer.begin(2, 0);
  writer.add(...end(2, 'more'));
  writer.begin(3, 0);
  writer.clear();
  const before = Buffer.from(bytes);
  const old = readSlate(bytes).length;
  writer.add(...end(4, 'new'));
  writer.begin(5, 0);
  const changed = bytes.findLastIndex((byte, at) => byte !== before[at]) + 1;
  for (let cut = 0; cut < changed; cut += 1) {
    const torn = Buffer.from(before);
    bytes.copy(torn, 0, 0, cut);
    const runs = readSlate(torn).map(({ a }) => a);
    assert.ok(runs.length === 0 || runs.length === old, `${runs} after ${cut} bytes`);
    assert.ok(!runs.includes(4) && !runs.includes(5), `${runs} after ${cut} bytes`);
  }
  assert.deepEqual(
    readSlate(bytes).map(({ a }) => a),
    [4, 5],
  );
});

test('[C23] what is no such entry, or has no whole frames, is passed over', () => {
  const { bytes, writer } = slate();
  assert.deepEqual(readSlate(Buffer.alloc(0)), []);
  assert.deepEqual(readSlate(Buffer.alloc(SLATE_BYTES, 0xff)), []);
  writer.begin(1, 0);
  bytes[8] = 200;
  assert.deepEqual(readSlate(bytes), []);
});

test('[C23] what has no room is not added, and a beginning always has some', () => {
  const { read, writer } = slate();
  assert.equal(writer.add(...end(1, 'x'.repeat(SLATE_BYTES))), false);
  let run = 1;
  while (writer.add(...end(run, 'x'.repeat(100)))) {
    run += 1;
    writer.begin(run, 0);
  }
  writer.begin(run + 1, 0);
  assert.deepEqual(read().at(-1), begun(run + 1));
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
const FOR_PYTHON = { skip: hasPython ? false : 'no python3 here' };

test('[C23] what a process of Python writes there is read as well', FOR_PYTHON, (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-slate-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'slate');
  writeFileSync(file, Buffer.alloc(SLATE_BYTES, 7));
  const fd = openSync(file, 'r+');
  t.after(() => closeSync(fd));
  const program = `
import os
from weft import _child
results = _child._Results()
results.write = lambda parts: print(len(parts))
for run in (1, 2, 3):
    results.begin(run, 1, run / 10)
    results.add_end(_child._RESULT, run, b"span", b"of ", str(run).encode())
results.begin(4, 2, 0.4)
results.add_end(_child._RESULT, 4, b"x" * ${SLATE_BYTES})
results.begin(5, 2, 0.5)
results.add_end(_child._THROWN, 5, b"five")
results.begin(6, 2, 0.6)
`;
  const source = fileURLToPath(new URL('../../../../../../python/src', import.meta.url));
  const text = execFileSync('python3', ['-c', program], {
    env: { ...process.env, PYTHONPATH: source },
    stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'ignore', fd],
    encoding: 'utf8',
  });
  assert.equal(text, '12\n2\n', 'three ends at once, then the large one');
  const frames = readSlate(readFileSync(file));
  assert.deepEqual(
    frames.map(({ kind, a }) => [kind, a]),
    [
      [starting, 5],
      [thrown, 5],
      [starting, 6],
    ],
  );
  assert.equal(frames[2]?.bytes.readDoubleLE(), 0.6);
});

test('[C23] ends of short calls of one function go together, all others at once', () => {
  const { note, read } = slate();
  let sent = 0;
  const results = new Results({
    send: () => {
      sent += 1;
    },
    note,
  });
  const call = (run: number, asset: number, from: number) => {
    results.begin({ run, asset, at: from });
    results.addEnd(...end(run, 'done'));
  };
  for (const run of [1, 2, 3]) call(run, 1, run / 10);
  assert.equal(sent, 0);
  assert.deepEqual(
    read().map(([, run]) => run),
    [1, 1, 2, 2, 3],
  );
  call(4, 2, 0.4);
  assert.equal(sent, 1, 'before another function begins');
  call(5, 2, 1);
  assert.equal(sent, 2, 'behind a call that took long');
  results.add({ kind: TO_SUPERVISOR.progress, a: 5 });
  call(6, 2, 1.1);
  assert.equal(sent, 3, 'behind what does not wait');
  for (let run = 7; run < 15; run += 1) call(run, 2, 1.1 + run / 100);
  assert.equal(sent, 4, 'when there are many');
  results.addEnd(...end(15, 'x'.repeat(SLATE_BYTES)));
  call(16, 2, 1.3);
  assert.equal(sent, 5, 'when one is large');
  results.flush();
  results.flush();
  assert.equal(sent, 6);
});
