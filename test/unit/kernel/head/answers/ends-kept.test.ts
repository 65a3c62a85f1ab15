// How tasks without a start ended, of jobs that only the history has.

import assert from 'node:assert/strict';
import { IntervalSet } from '../../../../../src/kernel/base/interval-set.ts';
import {
  endsOf,
  endWithoutRow,
  recordOfRow,
  rowOf,
  taskOutcomeOf,
} from '../../../../../src/kernel/head/answers/job-record.ts';
import type { Job } from '../../../../../src/kernel/machine/jobs/facts.ts';
import type { OutcomeKind } from '../../../../../src/kernel/model/job.ts';
import { scenario, type TestHead } from '../../../../support/controller.ts';

type Ended = readonly (readonly [OutcomeKind, IntervalSet])[];

/** The record of an array that has left memory, all of whose tasks ended so. */
function leftWith(head: TestHead, size: number, ended: Ended) {
  const id = head.submit({ array: { indices: `0-${size - 1}` } });
  const done = { ended: new Map(ended), outcome: { kind: 'failed' }, endedAt: 1 } as const;
  return recordOfRow(rowOf({ ...head.job(id), ...done } as Job));
}

scenario('[D14] each task that never started keeps its own end, of whichever ways', (head) => {
  head.connect('n1', { cpus: 1 });
  const record = leftWith(head, 10, [
    ['failed', IntervalSet.of([[0, 0]])],
    [
      'build_failed',
      IntervalSet.of([
        [1, 2],
        [9, 9],
      ]),
    ],
    ['cancelled', IntervalSet.of([[3, 8]])],
  ]);
  const ends = [1, 2, 9, 3, 8].map((index) => taskOutcomeOf(record, index));
  const [built, cancelled] = ['build_failed', 'cancelled'];
  assert.deepEqual(ends, [built, built, built, cancelled, cancelled]);
  assert.equal(endWithoutRow(record, new Map([['failed', 1]])), 'cancelled');
});

scenario('[D14] one way in which tasks that wait have ended needs no indices', (head) => {
  head.connect('n1', { cpus: 1 });
  const one = leftWith(head, 3, [
    ['completed', IntervalSet.of([[0, 0]])],
    ['cancelled', IntervalSet.of([[1, 2]])],
  ]);
  assert.equal(endsOf(one).size, 0);
  assert.equal(taskOutcomeOf(one, 1), 'cancelled');
  // Too many to be kept: as most of them.
  const size = 60_000;
  const every = (from: number) =>
    IntervalSet.of(Array.from({ length: size / 3 }, (_, at) => [3 * at + from, 3 * at + from]));
  const all = leftWith(head, size, [
    ['build_failed', every(0)],
    [
      'cancelled',
      IntervalSet.of([...every(1), ...every(2)].map((index) => [index, index] as const)),
    ],
  ]);
  assert.equal(endsOf(all).size, 0);
  assert.equal(taskOutcomeOf(all, 0), 'cancelled');
});
