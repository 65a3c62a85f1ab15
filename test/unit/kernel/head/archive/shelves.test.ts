// Tasks of a job read with their manifests, as many as one answer may have.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { TaskArchive } from '../../../../../src/kernel/files/job-manifest.ts';
import {
  ArchivePlaces,
  manifestIn,
} from '../../../../../src/kernel/head/archive/archive-places.ts';
import {
  listShelves,
  readAmount,
  readPage,
} from '../../../../../src/kernel/head/archive/shelves.ts';

test('a page ends where its files are too many, never before its first task, and skips what has gone', async (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weft-shelves-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const places = new ArchivePlaces(root);
  const page = [0, 1, 2, 3].map((index) => ({ index, files: 4000 }) as TaskArchive);
  const large = { index: 4, files: 90_000 } as TaskArchive;
  for (const { index } of [page[0], page[2], page[3], large] as TaskArchive[]) {
    const folder = places.task({ jobId: 7, index: index ?? 0, isArray: true });
    mkdirSync(path.dirname(manifestIn(folder)), { recursive: true });
    writeFileSync(manifestIn(folder), JSON.stringify({ jobId: 7, index }));
  }
  const read = async (some: readonly TaskArchive[]) => {
    const { tasks, manifests, count } = await readPage(places, 7, some);
    assert.deepEqual(
      manifests.map(({ index }) => index),
      tasks.map(({ index }) => index),
    );
    return [tasks.map(({ index }) => index), count];
  };
  assert.deepEqual(await read(page), [[0], 2]);
  assert.deepEqual(await read(page.slice(2)), [[2, 3], 2]);
  assert.deepEqual(await read(page.slice(1, 2)), [[], 1]);
  assert.deepEqual(await read([large, ...page]), [[4], 1]);
});

test('[F14] a task whose manifest is damaged is alone on its page, without one', async (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weft-shelves-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const places = new ArchivePlaces(root);
  const page = [0, 1, 2].map((index) => ({ index, files: 1 }) as TaskArchive);
  for (const { index } of page) {
    const folder = places.task({ jobId: 7, index: index ?? 0, isArray: true });
    mkdirSync(path.dirname(manifestIn(folder)), { recursive: true });
    writeFileSync(manifestIn(folder), index === 1 ? '{"jobId": 7, "ind' : `{"index": ${index}}`);
  }
  const read = async (some: readonly TaskArchive[]) => {
    const { tasks, manifests, count } = await readPage(places, 7, some);
    return [tasks.map(({ index }) => index), manifests.length, count];
  };
  assert.deepEqual(await read(page), [[0], 1, 1]);
  assert.deepEqual(await read(page.slice(1)), [[1], 0, 1]);
  assert.deepEqual(await read(page.slice(2)), [[2], 1, 1]);
});

test('[F14] a task with few files has no summary of its own, and a damaged one hides no other', async (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weft-shelves-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const places = new ArchivePlaces(root);
  const whole = { jobId: 7, owner: 'alice', epoch: 1, outcome: 'completed', files: 1, bytes: 5 };
  const manifest = { ...whole, leftOut: 0, storedAt: 9, isPartial: false, entries: [], name: 'x' };
  const folderOf = (index: number) => places.task({ jobId: 7, index, isArray: true });
  for (const index of [0, 1, 2]) {
    const file = manifestIn(folderOf(index));
    mkdirSync(path.dirname(file), { recursive: true });
    const text = JSON.stringify({ ...manifest, index });
    writeFileSync(file, index === 1 ? text.slice(0, 20) : text);
  }
  const tasks = await listShelves(places, 7, { from: 0, limit: 10 });
  assert.deepEqual(
    tasks.map(({ index, bytes, isPartial }) => [index, bytes, isPartial]),
    [
      [0, 5, false],
      [1, 0, true],
      [2, 5, false],
    ],
  );
  assert.equal((await readAmount(folderOf(0)))?.owner, 'alice');
  assert.equal((await readAmount(folderOf(1)))?.owner, '');
  assert.equal(await readAmount(folderOf(3)), null);
});
