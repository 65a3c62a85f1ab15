// The node's cache: what is asked for is there, as it should be, however it was before.

import assert from 'node:assert/strict';
import { createHash, pbkdf2 } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import type { Clock } from '../../../../src/kernel/ports/clock.ts';
import { type Missing, NodeCache } from '../../../../src/kernel/staging/node-cache.ts';
import { asideOf } from '../../../../src/kernel/transfer/arriving.ts';

const KIB = 1024;
const pbkdf2Async = promisify(pbkdf2);
const NEVER = new AbortController().signal;

function content(text: string) {
  const hash = createHash('sha256').update(text).digest('hex') as BlobHash;
  return { text, hash, size: text.length };
}

const [A, B, C] = ['a', 'b', 'c'].map((sign) => content(sign.repeat(4096))) as [
  ReturnType<typeof content>,
  ReturnType<typeof content>,
  ReturnType<typeof content>,
];

class Bench {
  readonly directory: string;
  readonly fetched: string[] = [];
  readonly warnings: string[] = [];
  time = Date.now();
  cache: NodeCache;
  bootId = 'boot-1';
  bytesMax = 64 * KIB;

  constructor(t: TestContext) {
    this.directory = mkdtempSync(path.join(tmpdir(), 'weft-cache-'));
    t.after(() => rmSync(this.directory, { recursive: true, force: true }));
    this.cache = this.#make();
  }

  /** Another agent finds what is there. */
  restart(): void {
    this.cache = this.#make();
  }

  async hold(...contents: (typeof A)[]) {
    const byHash = new Map(contents.map((one) => [one.hash, one]));
    return this.cache.hold(
      contents,
      async (missing) => {
        for (const { hash, path: file } of missing) {
          this.fetched.push(hash);
          writeFileSync(file, byHash.get(hash)?.text ?? '');
        }
      },
      NEVER,
    );
  }

  /** Held and let go a second later; what was fetched for it. */
  async use(...contents: (typeof A)[]): Promise<string[]> {
    this.fetched.length = 0;
    const held = await this.hold(...contents);
    for (const { hash, text } of contents) {
      assert.equal(readFileSync(held.pathOf(hash), 'utf8'), text);
    }
    this.time += 1000;
    held.release();
    await new Promise(setImmediate);
    return [...this.fetched];
  }

  fileOf({ hash }: typeof A): string {
    return path.join(this.directory, 'sha256', hash.slice(0, 2), hash.slice(2));
  }

  #make(): NodeCache {
    const { directory, bytesMax, bootId } = this;
    const clock = { now: () => this.time } as Clock;
    const warn = (_: object, message: string): void => void this.warnings.push(message);
    const log = { debug: warn, info: warn, warn, error: warn };
    return new NodeCache({ directory, bytesMax, smallBytesMax: 0, bootId, clock, log });
  }
}

test('what one task has fetched the next one finds, and so does another agent', async (t) => {
  const bench = new Bench(t);
  assert.deepEqual(await bench.use(A, B), [A.hash, B.hash]);
  assert.deepEqual(await bench.use(A), []);
  bench.restart();
  assert.deepEqual(await bench.use(A, B, C), [C.hash]);
  assert.equal(bench.cache.bytes, 3 * 4096);
});

test('tasks that need the same at the same time fetch it once', async (t) => {
  const bench = new Bench(t);
  let answer = (): void => undefined;
  const asked: Missing[] = [];
  const slow = (missing: readonly Missing[]): Promise<void> => {
    asked.push(...missing);
    return new Promise((resolve) => {
      answer = () => {
        for (const { path: file } of missing) writeFileSync(file, A.text);
        resolve();
      };
    });
  };
  const first = bench.cache.hold([A], slow, NEVER);
  while (asked.length === 0) await new Promise(setImmediate);
  const second = bench.hold(A, B);
  while (bench.fetched.length === 0) await new Promise(setImmediate);
  answer();
  for (const held of [await first, await second]) held.release();
  assert.deepEqual(bench.fetched, [B.hash]);
});

test('what another task could not fetch is fetched in its own name', async (t) => {
  const bench = new Bench(t);
  let fail: (() => void) | null = null;
  const failing = bench.cache.hold(
    [A],
    () =>
      new Promise((_, reject) => {
        fail = () => reject(new Error('its task has ended'));
      }),
    NEVER,
  );
  while (fail === null) await new Promise(setImmediate);
  const second = bench.hold(A);
  await new Promise(setImmediate);
  (fail as () => void)();
  await assert.rejects(failing, /its task has ended/);
  (await second).release();
  assert.deepEqual(bench.fetched, [A.hash]);
});

test('[F11] what is damaged is fetched again, whatever is wrong with it', async (t) => {
  const bench = new Bench(t);
  await bench.use(A);
  appendFileSync(bench.fileOf(A), 'x');
  assert.deepEqual(await bench.use(A), [A.hash]);
  writeFileSync(bench.fileOf(A), 'z'.repeat(4096));
  assert.deepEqual(await bench.use(A), [A.hash], 'as long as it was');
  rmSync(bench.fileOf(A));
  assert.deepEqual(await bench.use(A), [A.hash]);
  assert.equal(bench.warnings.filter((one) => /damaged/.test(one)).length, 2);
});

test('after a restart of the machine, or where only its time is wrong, it is looked at, not fetched', async (t) => {
  const bench = new Bench(t);
  await bench.use(A, B);
  bench.bootId = 'boot-2';
  bench.restart();
  assert.deepEqual(await bench.use(A), []);
  writeFileSync(bench.fileOf(B), 'z'.repeat(4096));
  assert.deepEqual(await bench.use(B), [B.hash], 'what the disk has lost');
  await utimes(bench.fileOf(A), 5, 5);
  assert.deepEqual(await bench.use(A), []);
});

test('above its quota what was used longest ago goes, and never what is in use', async (t) => {
  const bench = new Bench(t);
  bench.bytesMax = 8 * KIB;
  bench.restart();
  await bench.use(A);
  await bench.use(B);
  await bench.use(A);
  const held = await bench.hold(A);
  assert.deepEqual(await bench.use(C), [C.hash]);
  assert.deepEqual(
    [A, B, C].map((one) => existsSync(bench.fileOf(one))),
    [true, false, true],
  );
  assert.deepEqual(await bench.use(B, C), [B.hash], 'more than there is room for');
  assert.ok(existsSync(bench.fileOf(A)));
  held.release();
  await bench.use(C);
  assert.ok(bench.cache.bytes <= 8 * KIB);
});

test('the order of use outlives the agent', async (t) => {
  const bench = new Bench(t);
  await bench.use(A);
  bench.time += 3_600_000;
  await bench.use(B);
  bench.time += 3_600_000;
  const usedAt = bench.time;
  await bench.use(A);
  // It is noted after its task has begun.
  while (statSync(bench.fileOf(A)).atimeMs < usedAt) await new Promise(setImmediate);
  bench.bytesMax = 8 * KIB;
  bench.restart();
  await bench.use(C);
  assert.deepEqual(
    [A, B, C].map((one) => existsSync(bench.fileOf(one))),
    [true, false, true],
  );
});

test('whoever does not want it any more does not wait for another', async (t) => {
  const bench = new Bench(t);
  const controller = new AbortController();
  let hasAsked = false;
  const never = (): Promise<void> => {
    hasAsked = true;
    return new Promise(() => undefined);
  };
  void bench.cache.hold([A], never, NEVER);
  while (!hasAsked) await new Promise(setImmediate);
  const waiting = bench.cache.hold([A], never, controller.signal);
  controller.abort(new Error('the task has ended'));
  await assert.rejects(waiting, /the task has ended/);
});

test('a cache that could not be read is read again for the next task', async (t) => {
  const bench = new Bench(t);
  const folder = path.join(bench.directory, 'sha256');
  writeFileSync(folder, 'a file where the folder should be');
  await assert.rejects(bench.hold(A));
  rmSync(folder);
  (await bench.hold(A)).release();
  assert.deepEqual(bench.fetched.length, 1);
});

test('what is not in the books any more is not on the disk either', async (t) => {
  const bench = new Bench(t);
  await bench.use(A);
  // So that nothing that is left to the pool of threads is done at once.
  const busy = Array.from({ length: 32 }, () => pbkdf2Async('x', 'y', 50_000, 32, 'sha256'));
  const clearing = bench.cache.clear();
  const [booked, isThere] = [bench.cache.bytes, existsSync(bench.fileOf(A))];
  await Promise.all([...busy, clearing]);
  assert.deepEqual([booked, isThere], [0, false]);
});

test('[F11] a full disk keeps no part of what came in vain, but of what is wanted or coming still', async (t) => {
  const bench = new Bench(t);
  const partOf = (one: typeof A): string => asideOf({ path: bench.fileOf(one), hash: one.hash });
  const failing = (one: typeof A) =>
    bench.cache.hold(
      [one],
      async ([missing]) => {
        writeFileSync(asideOf(missing as Missing), 'the beginning');
        throw new Error('the disk is full');
      },
      NEVER,
    );
  await assert.rejects(failing(A));
  await assert.rejects(failing(B));
  const come = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const coming = bench.cache.hold(
    [C],
    async ([missing]) => {
      const { path: file } = missing as Missing;
      writeFileSync(asideOf({ path: file, hash: C.hash }), C.text);
      begun.resolve();
      await come.promise;
      renameSync(partOf(C), file);
    },
    NEVER,
  );
  await begun.promise;
  const there = () => [A, B, C].map((one) => existsSync(partOf(one)));
  await bench.cache.clear(new Set([A.hash]));
  assert.deepEqual(there(), [true, false, true]);
  await bench.cache.clear();
  assert.deepEqual(there(), [false, false, true]);
  come.resolve();
  (await coming).release();
});
