// What a question about one task may cost, and what it says of a task that stands too far behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOOKS_PER_TASK, TURN_LOOKS_MAX } from '../../../../src/kernel/model/limits.ts';
import { type Prospect, prospectOf } from '../../../../src/kernel/scheduler/answers/prospect.ts';
import { turnOf } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import { lineRules, type Snapshot } from '../../../../src/kernel/scheduler/cycle/snapshot.ts';
import { candidateOf } from '../../../../src/kernel/scheduler/line/line.ts';
import { busyPool, tiers } from '../../../support/preemption.ts';
import { entries, type JobWords, type NodeWords, snapshot } from '../../../support/snapshots.ts';

/** 50 full nodes, each with another amount left. */
const NODES: readonly NodeWords[] = Array.from({ length: 50 }, (_, at) => {
  return { name: `n${at}`, cpus: 8, memory: 1000, used: { cpus: 8, memory: at }, until: 5000 };
});
/** Different shapes, one for each task; only the last one fits, on the last node. */
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
    assert.ok('seen' in turnOf(shot, target, 0), policy);
    assert.ok(shot.pool.looks <= looksMax + 100, policy);
    assert.ok('board' in turnOf({ ...shot, looksMax: Infinity }, target, 0), policy);
  }
});

test('[J23] of a task that too many go before nothing is said that was not worked out', () => {
  const shot = snapshot([...NODES, FREE], JOBS);
  assert.equal(prospectOfLast(shot).startsNow, true);
  const cut = prospectOfLast({ ...shot, looksMax: 100 * LOOKS_PER_TASK });
  assert.deepEqual([cut.startsNow, cut.behind, cut.smaller], [false, null, []]);
  assert.ok((cut.forecast?.unplannedAfter ?? 0) > 0);
});

const HOUR = 3_600_000;
const WIDE: JobWords = { cpus: 4, nodes: 2, time: HOUR };

/** Two nodes of 4 cpus, on which nobody can make room for the first three jobs: who runs stays. */
function afterSearches(job: JobWords, looksMax: number): Prospect {
  const jobs = [
    { ...WIDE, partition: 'tier2' },
    { ...WIDE, memory: 1, partition: 'tier1' },
    { ...WIDE, memory: 2, partition: 'tier1' },
    { ...job, partition: 'tier0' },
  ];
  const { partitions, ...rules } = tiers(['suspend', 'off', 'off']);
  const easy = Object.entries(partitions).map(([name, one]) => [name, { ...one, policy: 'easy' }]);
  const stays = { id: 50, on: ['n1'], cpus: 2, tier: 2, walltime: 10 * HOUR };
  const shot = {
    ...snapshot([], jobs),
    scheduling: { ...rules, partitions: Object.fromEntries(easy) },
    pool: busyPool(['n1', 'n2'], { cpus: 4, memory: 4 }, [stays]),
    looksMax,
  };
  const prospect = prospectOf(() => shot, lastOf(jobs), 0);
  assert.ok(prospect !== null);
  return prospect;
}

test('[J23] searches for room before a task do not keep it from being told what it can expect', () => {
  const fitting = afterSearches({ cpus: 1, time: HOUR }, TURN_LOOKS_MAX);
  assert.deepEqual([fitting.startsNow, fitting.forecast?.at], [true, 0]);
  const waiting = afterSearches({ cpus: 2, time: 20 * HOUR }, TURN_LOOKS_MAX);
  assert.deepEqual(waiting.behind, { kind: 'promise', jobId: 1, at: 10 * HOUR });
  assert.deepEqual(waiting.smaller, [[{ what: 'walltime', to: 36_000_000, from: 72_000_000 }]]);
});

test('[J23] a search for room counts all that runs, so that few of them are made for one question', () => {
  const names = Array.from({ length: 10 }, (_, at) => `n${at}`);
  const runs = names.flatMap((name, at) =>
    Array.from({ length: 50 }, (_, more) => {
      // One of them stays, so that a node is of no use.
      return { id: 100 * (1 + at) + more, on: [name], cpus: 1, tier: more === 0 ? 1 : 0 };
    }),
  );
  const jobs = [1, 2, 3].map((memory) => ({ cpus: 60, memory, nodes: 5, partition: 'tier1' }));
  const shot = {
    ...snapshot([], jobs),
    pool: busyPool(names, { cpus: 60, memory: 9 }, runs),
    scheduling: tiers(['requeue', 'off']),
    looksMax: 400,
  };
  const target = candidateOf(
    lastOf([...jobs, { cpus: 1, partition: 'tier0' }]).entry,
    0,
    lineRules(shot),
  );
  assert.ok(target !== null);
  assert.deepEqual(turnOf(shot, target, 0), { seen: 1 });
});

test('[J23] where searches take all the looks, the forecast knows of that', () => {
  const cut = afterSearches({ cpus: 1, time: HOUR }, 2 * LOOKS_PER_TASK);
  assert.deepEqual([cut.startsNow, cut.forecast?.unplannedAfter], [false, 1]);
});
