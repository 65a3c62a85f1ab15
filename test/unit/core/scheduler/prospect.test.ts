// What a question about one task may cost, and what it says of a task that stands too far behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOOKS_PER_TASK } from '../../../../src/core/model/limits.ts';
import { candidateOf } from '../../../../src/core/scheduler/line.ts';
import { turnOf } from '../../../../src/core/scheduler/plan.ts';
import { type Prospect, prospectOf } from '../../../../src/core/scheduler/prospect.ts';
import { lineRules, type Snapshot } from '../../../../src/core/scheduler/snapshot.ts';
import { entries, type JobWords, type NodeWords, snapshot } from '../../../support/snapshots.ts';

/** 50 full nodes, each with another amount left. */
const NODES: readonly NodeWords[] = Array.from({ length: 50 }, (_, at) => {
  return { name: `n${at}`, cpus: 8, memory: 1000, used: { cpus: 8, memory: at }, until: 5000 };
});
/** As many shapes as tasks; only the last one fits, on the last node. */
const JOBS: readonly JobWords[] = [
  ...Array.from({ length: 800 }, (_, at) => ({ cpus: 2, memory: 1 + at, time: 100 })),
  { cpus: 1, memory: 1, time: 1 },
];
const FREE: NodeWords = { name: 'n50', cpus: 1, memory: 1 };

function lastOf(jobs: readonly JobWords[]) {
  const entry = entries(jobs).at(-1);
  assert.ok(entry !== undefined);
  return { entry, index: 0 };
}

function prospectOfLast(shot: Snapshot): Prospect {
  const prospect = prospectOf(() => shot, lastOf(JOBS), 0);
  assert.ok(prospect !== null);
  return prospect;
}

test('[J23] the line up to a task is walked as far as the looks go, under every policy', () => {
  const looksMax = 5000;
  for (const policy of ['first_fit', 'easy', 'conservative'] as const) {
    const shot = { ...snapshot([...NODES, FREE], JOBS, { policy }), looksMax };
    const { entry, index } = lastOf(JOBS);
    const target = candidateOf(entry, index, lineRules(shot));
    assert.ok(target !== null);
    assert.equal(turnOf(shot, target, 0), null, policy);
    assert.ok(shot.pool.looks <= looksMax + 100, policy);
    assert.ok(turnOf({ ...shot, looksMax: Infinity }, target, 0) !== null, policy);
  }
});

test('[J23] of a task that too many go before nothing is said that was not worked out', () => {
  const shot = snapshot([...NODES, FREE], JOBS);
  assert.equal(prospectOfLast(shot).startsNow, true);
  const cut = prospectOfLast({ ...shot, looksMax: 100 * LOOKS_PER_TASK });
  assert.deepEqual([cut.startsNow, cut.behind, cut.smaller], [false, null, []]);
  assert.ok((cut.forecast?.unplannedAfter ?? 0) > 0);
});
