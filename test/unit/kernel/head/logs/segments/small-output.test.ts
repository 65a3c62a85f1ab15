// Small outputs of an array's tasks: in one file of their job, found again, and read like others.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { LogFiles } from '../../../../../../src/kernel/head/logs/log-files.ts';
import type { EpochId, JobId } from '../../../../../../src/kernel/model/ids.ts';
import type { LogName } from '../../../../../../src/kernel/wire/messages.ts';
import { eventually, KeptLog } from '../../http/fixture.ts';

const HEAD_BYTES = 28;

async function make(t: TestContext, { total = 1_000_000, fileBytesMax = 100_000 } = {}) {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-segments-'));
  const opened: LogFiles[] = [];
  t.after(async () => {
    for (const files of opened) await files.close();
    await rm(directory, { recursive: true, force: true, maxRetries: 20 });
  });
  const log = new KeptLog();
  const open = async () => {
    const jobs = { isDone: (id: number) => id < 9, ownersOf: async () => new Map() };
    const files = new LogFiles({ directory, fileBytesMax, totalBytesMax: total, jobs, log });
    opened.push(files);
    await files.prepare();
    files.begin();
    return files;
  };
  return { directory, folder: path.join(directory, '0', '7'), log, open };
}

function nameOf(index: number, stream: 'stdout' | 'stderr' = 'stdout'): LogName {
  return { epochId: `7[${index}]#1` as EpochId, nodeRank: 0, rank: 0, stream };
}

function placeOf(index: number, stream: 'stdout' | 'stderr' = 'stdout') {
  const place = { jobId: 7 as JobId, index };
  return { place, epoch: 1, nodeRank: 0, rank: 0, stream };
}

function whole(text: string) {
  return { offset: 0, bytes: Buffer.from(text), end: true, dropped: 0 };
}

async function textOf(files: LogFiles, index: number, from = 0, length = 1000): Promise<string> {
  return Buffer.from(await files.read(placeOf(index), from, length)).toString();
}

test('[W10] small outputs of an array share one file, and cost few bytes beside their own', async (t) => {
  const { folder, open } = await make(t);
  const files = await open();
  const indices = Array.from({ length: 500 }, (_, index) => index);
  await Promise.all(indices.map((index) => files.append(nameOf(index), whole(`line ${index}\n`))));
  assert.deepEqual(await readdir(folder), ['segment']);
  const bytes = indices.reduce((sum, index) => sum + `line ${index}\n`.length + HEAD_BYTES, 0);
  assert.equal((await stat(path.join(folder, 'segment'))).size, bytes);
  for (const head of [files, await open()]) {
    assert.equal(await textOf(head, 499), 'line 499\n');
    assert.equal(await textOf(head, 42, 5, 2), '42');
    assert.equal(await textOf(head, 42, 8), '');
    assert.equal(await textOf(head, 500), '');
    const { size, ended, isOpen } = await head.status(placeOf(42));
    assert.deepEqual({ size, ended, isOpen }, { size: 8, ended: true, isOpen: false });
  }
});

test('[W10] after a kill the half-written end is cut off, and what is sent again is kept once', async (t) => {
  const { folder, log, open } = await make(t);
  const files = await open();
  await files.append(nameOf(1), whole('one'));
  await files.append(nameOf(2), whole('two'));
  const segment = path.join(folder, 'segment');
  const [{ size }, content] = [await stat(segment), await readFile(segment)];
  await appendFile(segment, content.subarray(0, HEAD_BYTES + 1));
  const next = await open();
  assert.deepEqual(await next.append(nameOf(2), whole('two')), { offset: 3, end: true });
  assert.equal((await stat(segment)).size, size);
  assert.ok(log.lines.some((line) => JSON.stringify(line).includes('half-written')));
  await next.append(nameOf(3), whole('three'));
  const last = await open();
  assert.deepEqual(
    [await textOf(last, 1), await textOf(last, 2), await textOf(last, 3)],
    ['one', 'two', 'three'],
  );
});

test('[W10] output that comes in pieces is a file until its end, and then a part of the segment', async (t) => {
  const { folder, open } = await make(t);
  const files = await open();
  const piece = { bytes: Buffer.from('abc'), end: false, dropped: 0 };
  await files.append(nameOf(1), { ...piece, offset: 0 });
  assert.deepEqual(await readdir(folder), ['1.1.0.0.out']);
  assert.equal(await textOf(files, 1), 'abc');
  await files.append(nameOf(1), { ...piece, offset: 3, end: true });
  assert.deepEqual(await readdir(folder), ['segment']);
  assert.equal(await textOf(files, 1), 'abcabc');
  const next = await open();
  assert.equal(await textOf(next, 1), 'abcabc');
  // As a head leaves it that is killed in between.
  await writeFile(path.join(folder, '1.1.0.0.out'), 'abcabc');
  const again = await next.append(nameOf(1), { ...piece, offset: 3, end: true });
  assert.deepEqual([again, await readdir(folder)], [{ offset: 6, end: true }, ['segment']]);
});

test('[W10] larger output, and what was left out of it, has files of its own as before', async (t) => {
  const { folder, open } = await make(t);
  const files = await open();
  await files.append(nameOf(1), whole('x'.repeat(16_385)));
  await files.append(nameOf(2), { ...whole('short'), dropped: 5 });
  await files.append(nameOf(3), whole('x'.repeat(16_384)));
  assert.deepEqual((await readdir(folder)).toSorted(), [
    '1.1.0.0.out',
    '2.1.0.0.out',
    '2.1.0.0.out.dropped',
    '2.1.0.0.out.tail',
    'segment',
  ]);
  assert.equal((await files.read(placeOf(1), 0, 20_000)).length, 16_385);
  assert.equal((await files.read(placeOf(3), 0, 20_000)).length, 16_384);
});

test('output with a second name goes on under both, in every order and after a restart', async (t) => {
  const { directory, folder, open } = await make(t);
  const files = await open();
  const to = (name: string) => path.join(directory, name);
  await files.append(nameOf(1), whole('early'));
  await files.linkTo(placeOf(1), to('early'));
  await files.linkTo(placeOf(2), to('late'));
  await files.linkTo(placeOf(3), to('later'));
  await files.append(nameOf(2), whole('late'));
  const next = await open();
  assert.equal((await next.status(placeOf(3))).size, 0);
  await next.append(nameOf(3), whole('later'));
  for (const name of ['early', 'late', 'later']) {
    assert.equal(await readFile(to(name), 'utf8'), name);
  }
  assert.equal(await textOf(next, 3), 'later');
  assert.ok((await readdir(folder)).includes('3.1.0.0.out'));
});

test('a reader that waits is told of small output, once it is there', async (t) => {
  const files = await (await make(t)).open();
  const changed = Promise.withResolvers<void>();
  const unwatch = files.watch(placeOf(1), () => changed.resolve());
  void files.append(nameOf(1), whole('now'));
  await changed.promise;
  unwatch();
  assert.equal(await textOf(files, 1), 'now');
});

test('[W9] a segment goes with its job to make room, and nothing of it is shown any more', async (t) => {
  const { folder, open } = await make(t, { total: 2000 });
  const files = await open();
  await files.append(nameOf(1), whole('x'.repeat(1500)));
  await files.append({ ...nameOf(1), epochId: '9[1]#1' as EpochId }, whole('y'.repeat(1500)));
  await eventually(async () => !(await readdir(path.dirname(folder))).includes('7'));
  assert.equal(await files.wasRemoved(7), true);
  assert.equal((await files.status(placeOf(1))).size, 0);
  assert.equal(await textOf(files, 1), '');
});

test('[W10] every start, node, rank and stream of a task has an output of its own', async (t) => {
  const { open } = await make(t);
  const files = await open();
  const starts = [1, 2, 65_535, 65_536, 131_073];
  const all = starts.flatMap((epoch) =>
    [0, 1].flatMap((nodeRank) =>
      [0, 1].flatMap((rank) =>
        (['stdout', 'stderr'] as const).map((stream) => ({ epoch, nodeRank, rank, stream })),
      ),
    ),
  );
  for (const index of [0, 1, 2]) {
    for (const { epoch, ...rest } of all) {
      const name = { epochId: `7[${index}]#${epoch}` as EpochId, ...rest };
      await files.append(name, whole(JSON.stringify(name)));
    }
  }
  for (const head of [files, await open()]) {
    for (const index of [0, 1, 2]) {
      for (const { epoch, ...rest } of all) {
        const log = { place: { jobId: 7 as JobId, index }, epoch, ...rest };
        const text = Buffer.from(await head.read(log, 0, 1000)).toString();
        assert.equal(text, JSON.stringify({ epochId: `7[${index}]#${epoch}`, ...rest }));
      }
    }
  }
});

test('[W10] on a full disk small output is refused, and is kept whole once there is room', {
  skip: process.getuid?.() !== 0 && 'only root can mount',
}, async (t) => {
  const { directory, open } = await make(t);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'weft', directory]);
  try {
    const files = await open();
    await files.append(nameOf(1), whole('one'));
    const filler = path.join(directory, 'filler');
    execFileSync('sh', ['-c', 'cat /dev/zero > "$1" 2>/dev/null || true', '_', filler]);
    const large = whole('x'.repeat(16_000));
    await assert.rejects(files.append(nameOf(2), large), /ENOSPC/);
    await assert.rejects(files.append(nameOf(2), large), /ENOSPC/);
    assert.equal(await textOf(files, 1), 'one');
    await rm(filler);
    assert.deepEqual(await files.append(nameOf(2), large), { offset: 16_000, end: true });
    const next = await open();
    assert.equal(await textOf(next, 1), 'one');
    assert.equal((await next.read(placeOf(2), 0, 20_000)).length, 16_000);
    for (const head of [files, next]) await head.close();
  } finally {
    execFileSync('umount', ['--lazy', directory]);
  }
});
