// Small contents of the node's cache, in packs: what is read is what the hash says, whatever was
// left there.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import type { Clock } from '../../../../src/kernel/ports/clock.ts';
import { SmallCache } from '../../../../src/kernel/staging/small-cache.ts';

const FRAME = 40;

function content(text: string) {
  const bytes = Buffer.from(text);
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex') as BlobHash };
}

function world(t: TestContext, bytesMax = 1_048_576) {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-small-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const time = { now: Date.now() };
  const make = (): SmallCache => {
    const cache = new SmallCache({ directory, bytesMax, clock: { now: () => time.now } as Clock });
    cache.load();
    return cache;
  };
  const packs = () => readdirSync(directory).map((name) => path.join(directory, name));
  return { make, packs, time };
}

const add = (cache: SmallCache, ...contents: ReturnType<typeof content>[]): void => {
  for (const { hash, bytes } of contents) cache.add(hash, bytes);
};
const textOf = (cache: SmallCache, { hash }: ReturnType<typeof content>) =>
  cache.read(hash)?.toString() ?? null;
const [A, B, C] = ['a', 'b', ''].map((text) => content(text.repeat(1000))) as [
  ReturnType<typeof content>,
  ReturnType<typeof content>,
  ReturnType<typeof content>,
];

test('what was kept is read, and found by another agent', (t) => {
  const { make, packs } = world(t);
  const cache = make();
  add(cache, A, B, C, A);
  assert.equal(cache.bytes, 2000 + 3 * FRAME);
  const other = make();
  for (const one of [A, B, C]) {
    assert.equal(textOf(cache, one), one.bytes.toString());
    assert.equal(textOf(other, one), one.bytes.toString());
  }
  assert.equal(packs().length, 1);
  assert.equal(textOf(other, content('never')), null);
});

test('[F11] a damaged content is none, and what lies beside it is fetched again as well', (t) => {
  const { make, packs } = world(t);
  const cache = make();
  add(cache, A, B);
  const [file = ''] = packs();
  const bytes = readFileSync(file);
  bytes[FRAME + 5] = 0;
  writeFileSync(file, bytes);
  assert.equal(textOf(cache, A), null);
  assert.deepEqual([cache.has(A.hash), cache.has(B.hash), cache.bytes], [false, false, 0]);
  add(cache, A);
  assert.equal(textOf(cache, A), A.bytes.toString());
});

test('an agent that was killed in the middle of a write leaves what came before', (t) => {
  const { make, packs } = world(t);
  add(make(), A, B);
  const [file = ''] = packs();
  truncateSync(file, statSync(file).size - 1);
  const cache = make();
  assert.deepEqual([textOf(cache, A), cache.has(B.hash)], [A.bytes.toString(), false]);
  add(cache, B);
  assert.equal(textOf(cache, B), B.bytes.toString());
  appendFileSync(file, Buffer.alloc(500, 0xff));
  const other = make();
  assert.deepEqual([textOf(other, A), textOf(other, B)], [A.bytes.toString(), B.bytes.toString()]);
});

test('[F11] no more is kept than the quota, but for what tasks are about to use', (t) => {
  const { make, packs, time } = world(t, 8 * (1000 + FRAME));
  const cache = make();
  const many = Array.from({ length: 20 }, (_, at) => content(`${at}`.padEnd(1000, 'x')));
  const letGo = cache.hold(many.map(({ hash }) => hash));
  add(cache, ...many);
  assert.equal(packs().length, 20);
  cache.makeRoom(0);
  for (const one of many) assert.equal(textOf(cache, one), one.bytes.toString());
  letGo();
  assert.equal(cache.bytes, 8 * (1000 + FRAME));
  time.now += 3_600_000;
  const [first] = many.filter(({ hash }) => cache.has(hash)) as [(typeof many)[0]];
  cache.hold([first.hash])();
  cache.makeRoom(1000 + FRAME);
  assert.ok(cache.has(first.hash), 'used last');
  assert.equal(make().has(first.hash), true);
  cache.makeRoom(0);
  assert.deepEqual([cache.bytes, packs()], [0, []]);
});
