// Which archived tasks go.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import {
  ArchivePlaces,
  manifestIn,
  summaryIn,
} from '../../../../../src/kernel/head/archive/archive-places.ts';
import {
  type KeptTask,
  keptTasks,
  planRetention,
  type Wanted,
} from '../../../../../src/kernel/head/archive/retention.ts';

interface Case {
  readonly bytesMax?: number;
  readonly ageMs?: number;
  readonly now?: number;
  readonly wanted?: readonly Wanted[];
}

type Kept = readonly (readonly [owner: string, bytes: number])[];

/** Each is stored one millisecond after the one before it; says which of them go. */
function goesOf(all: Kept, given: Case = {}): number[] {
  const kept = all.map(([owner, bytes], storedAt): KeptTask => {
    const shelf = { jobId: storedAt, index: 0, isArray: false };
    return { shelf, folder: '', owner, bytes, storedAt };
  });
  const rule = { bytesMax: 100, ageMs: 1000, now: 500, ...given };
  return planRetention(kept, rule).map(({ shelf }) => shelf.jobId);
}

function goes(sizes: readonly number[], given: Case = {}): number {
  const all = goesOf(
    sizes.map((bytes) => ['alice', bytes]),
    given,
  );
  assert.deepEqual(
    all,
    all.map((_, at) => at),
    'the oldest',
  );
  return all.length;
}

test('what is too much goes with a little more, so that the next ones need no look', () => {
  assert.equal(goes(new Array(100).fill(1)), 0);
  assert.equal(goes(new Array(101).fill(1)), 6);
});

test('what has room does not go for that little more when it is more than that', () => {
  assert.equal(goes([1, 100]), 1);
  assert.equal(goes([40, 40, 40]), 1);
});

test('what is too old goes, with room or without', () => {
  assert.equal(goes([1, 1, 1], { now: 1001 }), 2);
});

test('[F8] what a user leaves takes nothing from who keeps no more than an equal share', () => {
  const alice: Kept = [
    ['alice', 20],
    ['alice', 20],
  ];
  const bob: Kept = new Array(9).fill(['bob', 10]);
  assert.deepEqual(goesOf([...alice, ...bob]), [2, 3, 4], 'though hers are older');
  const both: Kept = [...alice, ['alice', 40], ...bob.slice(0, 4)];
  assert.deepEqual(goesOf(both), [0], 'she keeps the most');
});

test('[F13] room that a user needs comes of what the same user keeps, the oldest first', () => {
  const all: Kept = [
    ['alice', 20],
    ['bob', 20],
    ['bob', 20],
  ];
  assert.deepEqual(goesOf(all, { wanted: [{ owner: 'bob', bytes: 5 }] }), [1]);
  assert.deepEqual(goesOf(all, { wanted: [{ owner: 'bob', bytes: 50 }] }), [1, 2]);
  assert.deepEqual(goesOf(all, { wanted: [{ owner: 'carol', bytes: 50 }] }), []);
});

test("[F8] what a disk has spoilt is nobody's, and keeps nothing else from going", async (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weft-retention-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const places = new ArchivePlaces(root);
  const store = (jobId: number, summary: string, manifest: string): void => {
    const folder = places.task({ jobId, index: 0, isArray: false });
    for (const file of [summaryIn(folder), manifestIn(folder)]) {
      mkdirSync(path.dirname(file), { recursive: true });
    }
    writeFileSync(summaryIn(folder), summary);
    writeFileSync(manifestIn(folder), manifest);
  };
  mkdirSync(places.batches, { recursive: true });
  store(1, '{"bytes": 5, "storedAt": 1}', '{"owner": "al');
  store(2, '{"bytes": 6, "sto', '{"owner": "alice"}');
  store(3, '{"bytes": 7, "storedAt": 3}', '{"owner": "alice"}');
  const kept: KeptTask[] = [];
  for await (const one of keptTasks(places)) kept.push(one);
  const found = kept.map(({ shelf, owner, bytes }) => [shelf.jobId, owner, bytes]).sort();
  assert.deepEqual(found, [
    [1, '', 5],
    [2, '', 0],
    [3, 'alice', 7],
  ]);
});
