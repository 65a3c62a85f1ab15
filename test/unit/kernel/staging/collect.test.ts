// What is kept of a task: what its patterns choose, and only what is its user's to give.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { FileEntry } from '../../../../src/kernel/files/entry.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import { collectOutputs } from '../../../../src/kernel/staging/collect.ts';
import { openLocalFile } from '../../../../src/kernel/transfer/local-file.ts';

function sha256(text: string): BlobHash {
  return createHash('sha256').update(text).digest('hex') as BlobHash;
}

const NEVER = new AbortController().signal;

function openPaths(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    const file = `/proc/self/fd/${fd}`;
    return existsSync(file) ? [readlinkSync(file)] : [];
  });
}

class Bench {
  readonly directory: string;

  constructor(t: TestContext) {
    this.directory = mkdtempSync(path.join(tmpdir(), 'weft-collect-'));
    t.after(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  at(name: string): string {
    return path.join(this.directory, name);
  }

  write(name: string, text: string): void {
    mkdirSync(path.dirname(this.at(name)), { recursive: true });
    writeFileSync(this.at(name), text);
  }

  collect(
    outputs: readonly string[] | null,
    of: {
      bytesMax?: number;
      inputs?: FileEntry[];
      uid?: number;
      signal?: AbortSignal;
      isOfBatch?: boolean;
    } = {},
  ) {
    const { bytesMax = 1_000_000, inputs = [], uid = null, signal = NEVER, isOfBatch = false } = of;
    const wish = { outputs, bytesMax: outputs === null ? bytesMax : null };
    return collectOutputs({ directory: this.directory, uid, wish, isOfBatch, inputs, signal });
  }

  async names(...of: Parameters<Bench['collect']>): Promise<string[]> {
    const { entries } = await this.collect(...of);
    return entries.map((entry) => `${entry.path}${entry.kind === 'folder' ? '/' : ''}`);
  }
}

test('patterns choose in their order, and one that begins with ! takes away', async (t) => {
  const bench = new Bench(t);
  for (const name of ['result/a.txt', 'result/x/b.tmp', 'log', 'result/x/c.txt']) {
    bench.write(name, name);
  }
  assert.deepEqual(await bench.names(['result/**', '!**/*.tmp']), [
    'result/',
    'result/a.txt',
    'result/x/',
    'result/x/c.txt',
  ]);
  assert.deepEqual(await bench.names(['*.txt']), ['result/a.txt', 'result/x/c.txt']);
});

test('[B13] what a job of a batch has left elsewhere is counted, by the mark of its script', async (t) => {
  const bench = new Bench(t);
  const later = ['run.log', 'fields/x', 'distribute_save/kept', 'distribute_save/x.tmp'];
  for (const name of ['job.sh', ...later]) bench.write(name, name);
  const patterns = ['distribute_save/**', '!distribute_save/**/*.tmp'];
  const outside = async () => (await bench.collect(patterns, { isOfBatch: true })).outside;
  assert.equal(await outside(), undefined, 'a script of an earlier release says nothing');
  bench.write('_weft/begun', `${bench.at('job.sh')}\n${bench.at('distribute_save')}\n`);
  assert.deepEqual(await outside(), { files: 2, bytes: 15, names: ['fields/', 'run.log'] });
  assert.equal((await bench.collect(patterns)).outside, undefined);
  rmSync(bench.at('_weft/begun'));
  symlinkSync('/etc/passwd', bench.at('_weft/begun'));
  assert.equal(await outside(), undefined, 'no link is followed');
});

test('each content is there once to be sent, with its hash, size and permissions', async (t) => {
  const bench = new Bench(t);
  bench.write('a', 'same');
  bench.write('b', 'same');
  bench.write('c', '');
  chmodSync(bench.at('b'), 0o4750);
  const { entries, files } = await bench.collect(['**']);
  assert.deepEqual(
    entries.map(({ path: name, size, mode, sha256: hash }) => [name, size, mode, hash]),
    [
      ['a', 4, 0o644, sha256('same')],
      ['b', 4, 0o750, sha256('same')],
      ['c', 0, 0o644, sha256('')],
    ],
  );
  assert.equal(files.length, 2);
  for (const file of files) {
    const opened = openLocalFile(file);
    assert.equal(sha256(Buffer.from(opened.readWhole()).toString()), file.hash);
    opened.close();
  }
});

test('where nobody says what, inputs that are as they were are no output', async (t) => {
  const bench = new Bench(t);
  const inputs: FileEntry[] = ['in/same', 'in/other', 'grown'].map((name) => {
    bench.write(name, 'was');
    return { path: name, kind: 'file', size: 3, mode: 0o644, sha256: sha256('was') };
  });
  bench.write('in/other', 'now');
  bench.write('grown', 'longer');
  bench.write('new', 'x');
  assert.deepEqual(await bench.names(null, { inputs }), ['grown', 'in/other', 'new']);
  assert.ok((await bench.names(['**'], { inputs })).includes('in/same'), 'asked for, it is one');
});

test('where nobody says what, the smallest are kept up to the limit and the others are named', async (t) => {
  const bench = new Bench(t);
  bench.write('checkpoint', 'x'.repeat(1000));
  bench.write('log', 'x'.repeat(10));
  bench.write('result', 'x'.repeat(90));
  const { entries, leftOut } = await bench.collect(null, { bytesMax: 100 });
  assert.deepEqual(
    entries.map((entry) => entry.path),
    ['log', 'result'],
  );
  assert.deepEqual(
    leftOut.map((one) => one.path),
    ['checkpoint'],
  );
  assert.match(leftOut[0]?.why ?? '', /more than 100B? .*--out/);
});

test('[F12] pipes, links that leave, and names that are no text are left out and named', async (t) => {
  const bench = new Bench(t);
  execFileSync('mkfifo', [bench.at('pipe')]);
  symlinkSync('/etc/passwd', bench.at('out'));
  symlinkSync('../..', bench.at('up'));
  symlinkSync('file', bench.at('fine'));
  bench.write('file', 'x');
  writeFileSync(
    Buffer.concat([Buffer.from(`${bench.directory}/`), Buffer.from([0x66, 0xff])]),
    'x',
  );
  bench.write('_weft/manifest.json', '{}');
  const { entries, leftOut } = await bench.collect(['**']);
  assert.deepEqual(
    entries.map((entry) => entry.path),
    ['file', 'fine'],
  );
  assert.deepEqual(leftOut.map(({ path: name, why }) => [name, why.slice(0, 22)]).sort(), [
    ['f\ufffd', 'its name is not UTF-8'],
    ['out', 'it is a link that leav'],
    ['pipe', 'it is a device, pipe o'],
    ['up', 'it is a link that leav'],
  ]);
});

test('[F12] what belongs to somebody else is not given away', {
  skip: process.getuid?.() !== 0 && 'only root makes files of others',
}, async (t) => {
  const bench = new Bench(t);
  bench.write('mine', 'x');
  bench.write('root', 'secret');
  bench.write('folder/inside', 'secret');
  for (const name of ['', 'mine', 'folder/inside']) chownSync(bench.at(name), 4321, 4321);
  const { entries, leftOut } = await bench.collect(['**'], { uid: 4321 });
  assert.deepEqual(
    entries.map((entry) => entry.path),
    ['mine'],
  );
  assert.deepEqual(
    leftOut.map((one) => one.path),
    ['folder', 'root'],
  );
  chownSync(bench.directory, 0, 0);
  await assert.rejects(bench.collect(['**'], { uid: 4321 }), /belongs to uid 0/);
});

test('[F12] a file that is another one by now is not opened', async (t) => {
  const bench = new Bench(t);
  bench.write('a', 'first'.repeat(20_000));
  bench.write('b', 'small');
  const [file, small] = (await bench.collect(['**'])).files;
  assert.ok(file && small);
  rmSync(bench.at('b'));
  assert.equal(`${openLocalFile(small).readWhole()}`, 'small', 'it was read once and kept');
  appendFileSync(bench.at('a'), 'more');
  assert.throws(() => openLocalFile(file), /a changed while it was kept/);
  rmSync(bench.at('a'));
  symlinkSync('/dev/zero', bench.at('a'));
  assert.throws(() => openLocalFile(file), /a changed while it was kept/);
});

test('whoever does not want it any more waits for no file, however long it is', async (t) => {
  const bench = new Bench(t);
  bench.write('holes', '');
  truncateSync(bench.at('holes'), 1024 ** 3);
  const controller = new AbortController();
  const collecting = bench.collect(['**'], { signal: controller.signal });
  // While it is hashed, for then it is open.
  while (!openPaths().includes(bench.at('holes'))) await new Promise(setImmediate);
  controller.abort(new Error('the task has ended'));
  await assert.rejects(collecting, /the task has ended/);
  await assert.rejects(
    bench.collect(['none'], { signal: controller.signal }),
    /the task has ended/,
  );
});

test('what cannot be looked at is named, and the others are kept', async (t) => {
  const bench = new Bench(t);
  bench.write('fine', 'x');
  bench.write('locked/a', 'x');
  chmodSync(bench.directory, 0o755);
  // Its names can be read, and nothing else of what is in it.
  chmodSync(bench.at('locked'), 0o644);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  const collecting = bench.collect(['**']);
  const { entries, leftOut } = await collecting.finally(() => {
    if (isRoot) process.seteuid?.(0);
    chmodSync(bench.at('locked'), 0o755);
  });
  assert.deepEqual(
    entries.map((entry) => entry.path),
    ['fine', 'locked'],
  );
  assert.deepEqual(leftOut, [{ path: 'locked/a', why: 'its mode lets nobody read it' }]);
});

test('[F12] a file that nobody may read is named, and the others are kept', async (t) => {
  const bench = new Bench(t);
  for (const name of ['fine', 'locked', 'same']) bench.write(name, 'x');
  chmodSync(bench.directory, 0o755);
  for (const name of ['locked', 'same']) chmodSync(bench.at(name), 0);
  const sha256 = createHash('sha256').update('x').digest('hex') as BlobHash;
  const inputs: FileEntry[] = [{ path: 'same', kind: 'file', size: 1, mode: 0o644, sha256 }];
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  const said = [['**'], null].map((outputs) => bench.collect(outputs, { inputs }));
  const all = await Promise.all(said).finally(() => {
    if (isRoot) process.seteuid?.(0);
  });
  for (const { entries, files, leftOut } of all) {
    const why = 'its mode lets nobody read it';
    assert.deepEqual([entries.map((one) => one.path), files.length], [['fine'], 1]);
    assert.deepEqual(leftOut, [
      { path: 'locked', why },
      { path: 'same', why },
    ]);
  }
});
