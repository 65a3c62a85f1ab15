// Builds of solvers that a node keeps: what goes, what stays, and that nothing outside is touched.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import { systemFiles } from '../../../../../src/kernel/os/files.ts';
import { buildsToRemove } from '../../../../../src/wings/batches/core/build-retention.ts';
import { BuildKeeper } from '../../../../../src/wings/batches/staging/build-keeper.ts';
import { KeptLog } from '../../../kernel/head/http/fixture.ts';

const HOUR = 3_600_000;

function goes(
  sizes: Readonly<Record<string, readonly [bytes: number, usedAt: number]>>,
  inUse: readonly string[] = [],
): string[] {
  const kept = Object.entries(sizes).map(([key, [bytes, usedAt]]) => {
    return { key, folder: key, bytes, usedAt };
  });
  const rule = { now: 1000, ageMs: 900, bytesMax: 100, inUse: new Set(inUse) };
  return buildsToRemove(kept, rule).map(({ key }) => key);
}

test('old builds go, then those used longest ago until there is room, and none in use', () => {
  assert.deepEqual(goes({ a: [50, 500], b: [50, 400] }), []);
  assert.deepEqual(goes({ a: [1, 100], b: [1, 101] }), ['a']);
  assert.deepEqual(goes({ a: [50, 500], b: [40, 400], c: [30, 600] }), ['b']);
  assert.deepEqual(goes({ a: [50, 500], b: [40, 400], c: [30, 600] }, ['b']), ['a']);
  assert.deepEqual(goes({ a: [500, 1] }, ['a']), []);
});

function prepare(t: TestContext) {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-builds-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const now = Date.now();
  /** Used so many hours ago. */
  const add = (uid: string, key: string, hours: number, bytes = 10): void => {
    const folder = path.join(directory, uid, key);
    mkdirSync(path.join(folder, 'products'), { recursive: true });
    writeFileSync(path.join(folder, 'products/solver'), 'x'.repeat(bytes));
    writeFileSync(path.join(folder, 'done'), '');
    for (const one of [path.join(folder, 'done'), folder]) {
      utimesSync(one, (now - hours * HOUR) / 1000, (now - hours * HOUR) / 1000);
    }
  };
  const log = new KeptLog();
  const keeperOf = (more: { bytesMax?: number; inUse?: () => ReadonlySet<string> } = {}) => {
    const options = { bytesMax: 2 ** 40, inUse: () => new Set<string>(), ...more };
    return new BuildKeeper({
      directory,
      ageMs: 24 * HOUR,
      files: systemFiles,
      clock: systemClock,
      log,
      ...options,
    });
  };
  const left = (uid: string) => readdirSync(path.join(directory, uid)).sort();
  return { directory, add, keeperOf, left, log };
}

test('builds of all users go by age, also what a killed agent began; what a link leads to is left', async (t) => {
  const { directory, add, keeperOf, left, log } = prepare(t);
  add('1000', 'old', 25);
  add('1000', 'fresh', 23);
  add('1001', 'old', 30);
  const outside = path.join(directory, 'outside');
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'keep'), '');
  symlinkSync(outside, path.join(directory, '1001/link'));
  mkdirSync(path.join(directory, 'gone/1'), { recursive: true });
  await keeperOf().sweep();
  assert.deepEqual([left('1000'), left('1001')], [['fresh'], ['link']]);
  assert.ok(!existsSync(path.join(directory, 'gone')));
  assert.equal(log.lines.filter(({ message }) => message.includes('removed a build')).length, 2);
  await keeperOf({ bytesMax: 0 }).sweep();
  assert.deepEqual([left('1000'), left('1001')], [[], ['link']]);
  assert.deepEqual(readdirSync(outside), ['keep']);
});

test('the one used longest ago gives way first, and none that a task names, even just now', async (t) => {
  const { add, keeperOf, left } = prepare(t);
  const large = 2 ** 20;
  for (const [key, hours] of [
    ['a', 5],
    ['b', 4],
    ['c', 3],
    ['d', 2],
  ] as const) {
    add('1000', key, hours, large);
  }
  let looks = 0;
  // A task that names `b` comes while `a` goes.
  const inUse = () => {
    looks += 1;
    return new Set(looks === 1 ? [] : ['b']);
  };
  await keeperOf({ bytesMax: 2.5 * large, inUse }).sweep();
  assert.deepEqual(left('1000'), ['b', 'c', 'd']);
  assert.ok(looks > 2);
});
