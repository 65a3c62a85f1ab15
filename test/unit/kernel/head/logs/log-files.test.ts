// Captured output on disk: pieces, repetitions, limits, and names that try to be elsewhere.

import assert from 'node:assert/strict';
import { promises } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { LogFiles } from '../../../../../src/kernel/head/logs/log-files.ts';
import { SilentEnds } from '../../../../../src/kernel/head/logs/silent-ends.ts';
import type { EpochId, JobId } from '../../../../../src/kernel/model/ids.ts';
import type { LogName } from '../../../../../src/kernel/wire/messages.ts';
import { eventually, KeptLog } from '../http/fixture.ts';

const FILE_BYTES_MAX = 100;

async function make(
  t: TestContext,
  options: {
    total?: number;
    fileBytesMax?: number;
    isDone?: (id: number) => boolean;
    ownerOf?: (id: number) => string;
    /** Goes on before owners are told. */
    meanwhile?: () => Promise<void>;
  } = {},
) {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-logs-'));
  const opened: LogFiles[] = [];
  t.after(async () => {
    // What is open counts and notes sizes on its own time, in the directory that goes.
    for (const files of opened) await files.close();
    await rm(directory, { recursive: true, force: true, maxRetries: 20 });
  });
  const log = new KeptLog();
  const newFiles = () =>
    new LogFiles({
      directory,
      fileBytesMax: options.fileBytesMax ?? FILE_BYTES_MAX,
      totalBytesMax: options.total ?? 1_000_000,
      jobs: {
        isDone: options.isDone ?? (() => true),
        ownersOf: async (ids) => {
          await options.meanwhile?.();
          return new Map(ids.map((id) => [id, options.ownerOf?.(id) ?? 'ann']));
        },
      },
      log,
    });
  const open = async () => {
    const files = newFiles();
    opened.push(files);
    await files.prepare();
    files.begin();
    return files;
  };
  return { directory, log, open, prepare: () => newFiles().prepare() };
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

test('of a file over the limit beginning and end are kept, and the cut is told between them', async (t) => {
  const logs = await make(t);
  const files = await logs.open();
  const last = { ...piece('b'.repeat(50), 50, true), dropped: 1234, tail: Buffer.from('the end') };
  await files.append(nameOf('9#1'), piece('a'.repeat(50), 0));
  await files.append(nameOf('9#1'), last);
  await files.append(nameOf('9#1'), last);
  const begin = 'a'.repeat(50) + 'b'.repeat(50);
  const check = async (of: LogFiles) => {
    const { size, dropped } = await of.status(placeOf(9));
    const rest = Buffer.from(await of.read(placeOf(9), 100, 1000)).toString();
    assert.equal(await textOf(of, 9), begin);
    assert.match(rest, /^\n\[weft: 1234 bytes .* head\.log_limit \(100\).*--output.*\]\nthe end$/);
    assert.deepEqual([size, dropped], [100 + rest.length, 1234]);
  };
  await check(files);
  await check(await logs.open());
});

test('pieces are joined, repetitions are written once, and a gap is asked for again', async (t) => {
  const files = await (await make(t)).open();
  const name = nameOf('7#1');
  assert.deepEqual(await files.append(name, piece('abc', 0)), { offset: 3, end: false });
  assert.deepEqual(await files.append(name, piece('xyz', 9)), { offset: 3, end: false });
  assert.deepEqual(await files.append(name, piece('bcdef', 1)), { offset: 6, end: false });
  assert.deepEqual(await files.append(name, piece('abc', 0)), { offset: 6, end: false });
  assert.equal(await textOf(files, 7), 'abcdef');
  assert.partialDeepStrictEqual(await files.status(placeOf(7)), {
    size: 6,
    dropped: 0,
    ended: false,
  });
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
  assert.partialDeepStrictEqual(status, { size: FILE_BYTES_MAX, dropped: 20, ended: false });
  const upTo = await second.append(nameOf('7#1'), piece('yyyyy', FILE_BYTES_MAX + 20, true));
  assert.deepEqual(upTo, { offset: FILE_BYTES_MAX + 25, end: true });
  const after = await second.status(placeOf(7));
  assert.deepEqual([after.dropped, after.ended], [25, true]);
  const cut = Buffer.from(await second.read(placeOf(7), FILE_BYTES_MAX, 1000)).toString();
  assert.match(cut, /25 bytes of output are missing here/);
  assert.equal(after.size, FILE_BYTES_MAX + cut.length);
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

test('room is made for output that comes while what is there is counted', async (t) => {
  const counts = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { directory, open } = await make(t, {
    total: 250,
    meanwhile: () => {
      asked.resolve();
      return counts.promise;
    },
  });
  // What an earlier head has left, which it did not count.
  await mkdir(path.join(directory, '0', '1'), { recursive: true });
  await writeFile(path.join(directory, '0', '1', '-.1.0.0.out'), 'x'.repeat(90));
  const files = await open();
  await asked.promise;
  for (const id of [2, 3, 4]) await files.append(nameOf(`${id}#1`), piece('x'.repeat(90), 0));
  counts.resolve();
  await eventually(() => files.wasRemoved(1));
});

test('of a process that wrote nothing one word is enough, and readers hear of it', async (t) => {
  const files = await (await make(t)).open();
  const { epochId, nodeRank, rank } = nameOf('7#1');
  const process = { epochId, nodeRank, rank };
  let changes = 0;
  files.watch(placeOf(7), () => {
    changes += 1;
  });
  assert.equal(files.isSilent(placeOf(7)), false);
  assert.equal(files.endSilently(process), true);
  assert.deepEqual([files.isSilent(placeOf(7)), changes], [true, 1]);
  assert.equal(files.isSilent({ ...placeOf(7), stream: 'stderr' }), true);
  assert.partialDeepStrictEqual(await files.status(placeOf(7)), { size: 0, ended: true });
  for (const other of [placeOf(8), { ...placeOf(7), epoch: 2 }, { ...placeOf(7), rank: 1 }]) {
    assert.equal(files.isSilent(other), false);
  }
  assert.equal(files.endSilently({ ...process, rank: 1 }), false, 'one of several processes');
  assert.equal(files.endSilently({ ...process, epochId: '../7#1' as EpochId }), false);
  // Whatever a node says later counts.
  await files.append(nameOf('7#1'), piece('abc', 0));
  assert.equal(files.isSilent(placeOf(7)), false);
  assert.equal(files.endSilently(process), false, 'something is known of it');
  assert.equal(await textOf(files, 7), 'abc');
});

test('a bounded number of silent ends is remembered, the last ones', () => {
  const silent = new SilentEnds(2);
  const starts = [1, 2, 3, 4, 5].map((index) => ({
    ...placeOf(7),
    place: { jobId: 7 as JobId, index },
  }));
  for (const start of starts) assert.equal(silent.add(start), true);
  assert.deepEqual(
    starts.map((start) => silent.has(start)),
    [false, false, true, true, true],
  );
});

test('[W9] what a user leaves makes no output go of who keeps no more than a share', async (t) => {
  // Job 1 runs, and its user keeps more than a share; 2 is of somebody with little.
  const owners = ['', 'ann', 'bob', 'ann', 'ann'];
  const { open } = await make(t, {
    total: 300,
    isDone: (id) => id !== 1,
    ownerOf: (id) => owners[id] ?? '',
  });
  const files = await open();
  for (const id of [1, 2, 3, 4]) {
    await files.append(nameOf(`${id}#1`), piece('x'.repeat(id === 2 ? 40 : 90), 0, true));
  }
  await eventually(() => files.wasRemoved(3));
  await files.close();
  const removed = await Promise.all([1, 2, 3, 4].map((id) => files.wasRemoved(id)));
  assert.deepEqual(removed, [false, false, true, false]);
  assert.equal((await textOf(files, 2)).length, 40);
});

test('[W9] what unfinished jobs keep beyond the total makes nothing of others go', async (t) => {
  const owners = ['', 'ann', 'bob', 'ann'];
  const { open, log } = await make(t, {
    total: 150,
    isDone: (id) => id === 2,
    ownerOf: (id) => owners[id] ?? '',
  });
  const files = await open();
  for (const [id, size] of [
    [2, 40],
    [1, 90],
    [3, 90],
  ] as const) {
    await files.append(nameOf(`${id}#1`), piece('x'.repeat(size), 0));
  }
  await eventually(() => log.lines.some(({ message }) => /unfinished jobs/.test(message)));
  assert.deepEqual([await files.wasRemoved(1), await files.wasRemoved(2)], [false, false]);
});

test('[W4] only a file whose end piece is kept is said to be complete', async (t) => {
  const files = await (await make(t)).open();
  const name = nameOf('7#1');
  assert.deepEqual(await files.append(name, piece('', 3, true)), { offset: 0, end: false });
  assert.deepEqual(await files.append(name, piece('abc', 0)), { offset: 3, end: false });
  assert.deepEqual(await files.append(name, piece('', 3, true)), { offset: 3, end: true });
  assert.deepEqual(await files.append(name, piece('abc', 0)), { offset: 3, end: true });
});

/** Names below the directory but those of the note of how much there is, whose time is its own. */
async function outputsIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => !/^total(\.new)?$/.test(name));
}

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
  assert.deepEqual(await outputsIn(directory), []);
});

test('a process without output costs no file', async (t) => {
  const { directory, open } = await make(t);
  const files = await open();
  await files.append(nameOf('7#1'), piece('', 0, true));
  assert.partialDeepStrictEqual(await files.status(placeOf(7)), {
    size: 0,
    dropped: 0,
    ended: true,
  });
  assert.deepEqual(await outputsIn(directory), []);
});

/** Counts calls that look at files, as long as the test runs. */
function countLooks(t: TestContext): { count: number } {
  const looks = { count: 0 };
  for (const name of ['stat', 'lstat', 'open', 'opendir', 'readdir', 'readFile'] as const) {
    const real = promises[name] as (...args: unknown[]) => Promise<unknown>;
    t.mock.method(promises, name, (...args: unknown[]) => {
      looks.count += 1;
      return real.apply(promises, args);
    });
  }
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return looks;
}

/** `count` jobs with a byte of output each, kept by a head that was stopped, or killed. */
async function keptBy(t: TestContext, { count, how }: { count: number; how: 'stop' | 'kill' }) {
  const made = await make(t, { total: 100 });
  const { directory } = made;
  for (let id = 1; id <= count; id += 1) {
    await mkdir(path.join(directory, '0', String(id)), { recursive: true });
    await writeFile(path.join(directory, '0', String(id), '-.1.0.0.out'), 'x');
  }
  await writeFile(
    path.join(directory, 'total'),
    JSON.stringify({ bytes: count, open: how === 'kill' }),
  );
  return made;
}

for (const how of ['stop', 'kill'] as const) {
  test(`a head looks at one file before it serves, however much output there is, after a ${how}`, async (t) => {
    const few = await keptBy(t, { count: 2, how });
    const many = await keptBy(t, { count: 90, how });
    const looks = countLooks(t);
    await few.prepare();
    assert.equal(looks.count, 1);
    await many.prepare();
    assert.equal(looks.count, 2);
  });
}

test('the total is known after a stop, and after a kill nothing is removed on a guess', async (t) => {
  const stopped = await keptBy(t, { count: 95, how: 'stop' });
  const files = await stopped.open();
  await files.append(nameOf('95#1'), piece('x'.repeat(10), 0));
  await eventually(async () => (await readdir(path.join(stopped.directory, '0'))).length <= 82);
  await files.close();
  const note = JSON.parse(await readFile(path.join(stopped.directory, 'total'), 'utf8'));
  assert.deepEqual([note.open, note.bytes >= 80 && note.bytes <= 91], [false, true]);

  // A step more is assumed, which is more than the limit: counted, it is not.
  const killed = await keptBy(t, { count: 95, how: 'kill' });
  const total = path.join(killed.directory, 'total');
  await writeFile(total, JSON.stringify({ bytes: 99, open: true }));
  const again = await killed.open();
  await eventually(async () => JSON.parse(await readFile(total, 'utf8')).bytes === 95);
  assert.equal(await again.wasRemoved(1), false);
});

test('output of a head that left no total is counted once the new one serves', async (t) => {
  const older = await keptBy(t, { count: 120, how: 'stop' });
  await rm(path.join(older.directory, 'total'));
  const files = await older.open();
  await eventually(() => files.wasRemoved(1));
  await eventually(async () => (await readdir(path.join(older.directory, '0'))).length <= 91);
  assert.equal(await files.wasRemoved(120), false);
});

test('a count that a stop cuts off is no total: the next head counts all of it', async (t) => {
  const made = await keptBy(t, { count: 50, how: 'stop' });
  const total = path.join(made.directory, 'total');
  const note = async () => JSON.parse(await readFile(total, 'utf8'));
  await rm(total);
  const first = await made.open();
  await first.append(nameOf('50#1'), piece('x'.repeat(10), 0));
  await first.close();
  assert.ok(!(await readdir(made.directory)).includes('total'), 'what came is not all there is');
  // After a kill too much is assumed: that it is a guess must outlast the next stop.
  await writeFile(total, JSON.stringify({ bytes: 99, open: true }));
  await (await made.open()).close();
  assert.equal((await note()).open, true);
  await rm(total);
  const last = await made.open();
  await eventually(async () => (await readdir(made.directory)).includes('total'));
  await last.close();
  const bytes = (await first.status(placeOf(50))).size + 49;
  assert.deepEqual(await note(), { bytes, open: false });
});

test('output has one more name, under which it goes on and stays; a cut end is there too', async (t) => {
  const { directory, open } = await make(t, { total: 150 });
  const files = await open();
  const to = (name: string) => path.join(directory, name);
  await files.linkTo(placeOf(1), to('early'));
  await files.append(nameOf('1#1'), piece('some words', 0, true));
  assert.equal(await readFile(to('early'), 'utf8'), 'some words');
  const cut = { offset: 0, bytes: Buffer.alloc(FILE_BYTES_MAX, 'x'), end: true, dropped: 7 };
  await files.append(nameOf('2#1'), { ...cut, tail: Buffer.from('the end') });
  await files.linkTo(placeOf(2), to('cut'));
  assert.match(await readFile(to('cut'), 'utf8'), /^x{100}\n\[weft: 7 bytes .*\]\nthe end$/s);
  await files.append(nameOf('3#1'), piece('y'.repeat(90), 0, true));
  await eventually(async () => await files.wasRemoved(1));
  assert.equal(await readFile(to('early'), 'utf8'), 'some words');
});

test('[W8] a head that starts again knows of large output whose end has not come', async (t) => {
  const logs = await make(t, { fileBytesMax: 4 * 1_048_576, total: 100 * 1_048_576 });
  const files = await logs.open();
  const large = 'a'.repeat(2 * 1_048_576);
  await files.append(nameOf('9#1'), piece(large, 0));
  await files.append(nameOf('8#1'), piece('small', 0));
  assert.equal((await files.status(placeOf(9))).isOpen, true);
  const next = await logs.open();
  assert.equal((await next.status(placeOf(9))).isOpen, true);
  assert.equal((await next.status(placeOf(8))).isOpen, false);
  await next.append(nameOf('9#1'), piece('the end', large.length, true));
  assert.equal((await next.status(placeOf(9))).ended, true);
  const last = await logs.open();
  assert.equal((await last.status(placeOf(9))).isOpen, false);
});
