// Captured output on disk: pieces, repetitions, limits, and names that try to be elsewhere.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EpochId, JobId } from '../../../../src/core/model/ids.ts';
import { LogFiles } from '../../../../src/head/logs/log-files.ts';
import type { LogName } from '../../../../src/wire/messages.ts';
import { eventually, KeptLog } from '../http/fixture.ts';

const FILE_BYTES_MAX = 100;

async function make(
  t: TestContext,
  options: { total?: number; isDone?: (id: number) => boolean } = {},
) {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-logs-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const log = new KeptLog();
  const open = async () => {
    const files = new LogFiles({
      directory,
      fileBytesMax: FILE_BYTES_MAX,
      totalBytesMax: options.total ?? 1_000_000,
      isDone: options.isDone ?? (() => true),
      log,
    });
    await files.prepare();
    return files;
  };
  return { directory, log, open };
}

function nameOf(epochId: string): LogName {
  return { epochId: epochId as EpochId, nodeRank: 0, rank: 0, stream: 'stdout' };
}

function placeOf(jobId: number) {
  const place = { jobId: jobId as JobId, index: null };
  return { place, epoch: 1, nodeRank: 0, rank: 0, stream: 'stdout' as const };
}

function piece(text: string, offset: number, end = false) {
  return { offset, bytes: Buffer.from(text), end, dropped: 0 };
}

async function textOf(files: LogFiles, jobId: number): Promise<string> {
  return Buffer.from(await files.read(placeOf(jobId), 0, 1000)).toString();
}

test('pieces are joined, repetitions are written once, and a gap is asked for again', async (t) => {
  const files = await (await make(t)).open();
  const name = nameOf('7#1');
  assert.deepEqual(await files.append(name, piece('abc', 0)), { offset: 3, end: false });
  assert.deepEqual(await files.append(name, piece('xyz', 9)), { offset: 3, end: false });
  assert.deepEqual(await files.append(name, piece('bcdef', 1)), { offset: 6, end: false });
  assert.deepEqual(await files.append(name, piece('abc', 0)), { offset: 6, end: false });
  assert.equal(await textOf(files, 7), 'abcdef');
  assert.deepEqual(await files.status(placeOf(7)), { size: 6, dropped: 0, ended: false });
});

test('pieces sent at once are written in the order in which they came', async (t) => {
  const files = await (await make(t)).open();
  const letters = [...'abcdefghij'];
  const sizes = await Promise.all(
    letters.map((letter, at) => files.append(nameOf('7#1'), piece(letter, at))),
  );
  assert.deepEqual(
    sizes,
    letters.map((_, at) => ({ offset: at + 1, end: false })),
  );
  assert.equal(await textOf(files, 7), 'abcdefghij');
});

test('a restarted head goes on where the file ends, and remembers what was left out', async (t) => {
  const { open } = await make(t);
  const first = await open();
  await first.append(nameOf('7#1'), piece('x'.repeat(FILE_BYTES_MAX + 20), 0));
  const second = await open();
  const status = await second.status(placeOf(7));
  assert.deepEqual(status, { size: FILE_BYTES_MAX, dropped: 20, ended: false });
  const upTo = await second.append(nameOf('7#1'), piece('yyyyy', FILE_BYTES_MAX + 20, true));
  assert.deepEqual(upTo, { offset: FILE_BYTES_MAX + 25, end: true });
  const after = await second.status(placeOf(7));
  assert.deepEqual(after, { size: FILE_BYTES_MAX, dropped: 25, ended: true });
});

test('beyond the total the output of the oldest done jobs goes, and that is said', async (t) => {
  const { open, log } = await make(t, { total: 250, isDone: (id) => id !== 1 });
  const files = await open();
  for (const id of [1, 2, 3]) await files.append(nameOf(`${id}#1`), piece('x'.repeat(90), 0));
  await eventually(() => files.wasRemoved(2));
  assert.deepEqual([await files.wasRemoved(1), await files.wasRemoved(3)], [false, false]);
  assert.equal((await textOf(files, 1)).length, 90);
  await eventually(() => log.lines.some(({ fields }) => fields['job'] === 2));
  assert.equal((await files.status(placeOf(2))).size, 0, 'nothing is said to be there still');
});

test('[W4] only a file whose end piece is kept is said to be complete', async (t) => {
  const files = await (await make(t)).open();
  const name = nameOf('7#1');
  assert.deepEqual(await files.append(name, piece('', 3, true)), { offset: 0, end: false });
  assert.deepEqual(await files.append(name, piece('abc', 0)), { offset: 3, end: false });
  assert.deepEqual(await files.append(name, piece('', 3, true)), { offset: 3, end: true });
  assert.deepEqual(await files.append(name, piece('abc', 0)), { offset: 3, end: true });
});

test('no name leads out of the directory', async (t) => {
  const { directory, open } = await make(t);
  const files = await open();
  const names: LogName[] = [
    nameOf('../../etc/passwd#1'),
    nameOf('7/../8#1'),
    nameOf('7#0'),
    nameOf('7#1/..'),
    { ...nameOf('7#1'), rank: '../x' as never },
    { ...nameOf('7#1'), nodeRank: -1 },
    { ...nameOf('7#1'), stream: '../stdout' as never },
  ];
  for (const name of names) await assert.rejects(files.append(name, piece('x', 0)));
  assert.deepEqual(await readdir(directory), []);
});

test('a process without output costs no file', async (t) => {
  const { directory, open } = await make(t);
  const files = await open();
  await files.append(nameOf('7#1'), piece('', 0, true));
  assert.deepEqual(await files.status(placeOf(7)), { size: 0, dropped: 0, ended: true });
  assert.deepEqual(await readdir(directory), []);
});
