// The figures of a schedule small enough for a pencil.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measure } from '../../../../../src/wings/replay/core/measures.ts';
import { seriesOf } from '../../../../../src/wings/replay/core/series.ts';
import { pool, replayBy, workload } from '../../../../support/workloads.ts';

test('waits, slowdown with its bound of 10 s, utilisation and makespan', () => {
  // A 0-20 on all four; B (1 s) waits 19 s; C (40 s) waits 18 s, both from 20.
  const jobs = workload(
    [
      { id: 'A', submit: 0, size: 4, run: 20 },
      { id: 'B', submit: 1, size: 2, run: 1 },
      { id: 'C', submit: 2, size: 2, run: 40 },
    ],
    pool(4),
  );
  const { runs, planCycles } = replayBy('fifo', jobs, pool(4));
  assert.equal(planCycles, 6, 'three arrivals, three ends, all at different instants');
  assert.deepEqual(measure(runs, 4), {
    meanWaitS: 37 / 3,
    p95WaitS: 19,
    meanBoundedSlowdown: (1 + 20 / 10 + 58 / 40) / 3,
    utilisation: (4 * 20 + 2 * 1 + 2 * 40) / (4 * 60),
    makespanS: 60,
  });
});

test('95 of 100 waits are within p95, and that wait is one that happened', () => {
  // One processor, 100 jobs of a second at once: they wait 0, 1, … 99 seconds.
  const words = Array.from({ length: 100 }, () => ({ id: '', submit: 7, size: 1, run: 1 }));
  const { runs, planCycles } = replayBy('fifo', workload(words, pool(1)), pool(1));
  assert.equal(measure(runs, 1).p95WaitS, 94);
  assert.equal(planCycles, 101, 'one plan at each instant');
});

test('slices of time share out what ran and what waited', () => {
  // A on all four from 0 to 20; B waits from 5 and runs on two from 20 to 30.
  const jobs = workload(
    [
      { id: 'A', submit: 0, size: 4, run: 20 },
      { id: 'B', submit: 5, size: 2, run: 10 },
    ],
    pool(4),
  );
  const { from, until, slices } = seriesOf(replayBy('fifo', jobs, pool(4)).runs, 4, 3);
  assert.deepEqual([from, until], [0, 30_000]);
  assert.deepEqual(slices, [
    { used: 1, waiting: 0.5 },
    { used: 1, waiting: 1 },
    { used: 0.5, waiting: 0 },
  ]);
});
