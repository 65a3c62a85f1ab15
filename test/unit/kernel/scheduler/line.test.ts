// The line of waiting tasks against the plainest one that does the same: all of them, sorted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_WEIGHTS, plainQos } from '../../../../src/kernel/model/scheduling.ts';
import { lineRules } from '../../../../src/kernel/scheduler/cycle/snapshot.ts';
import {
  type Candidate,
  candidateOf,
  isBefore,
  isBeforeMark,
  Line,
} from '../../../../src/kernel/scheduler/line/line.ts';
import type { QueueEntry } from '../../../../src/kernel/scheduler/line/queue.ts';
import { entries, type JobWords, snapshot } from '../../../support/snapshots.ts';

const job: fc.Arbitrary<JobWords> = fc.record({
  cpus: fc.integer({ min: 1, max: 3 }),
  nodes: fc.integer({ min: 1, max: 3 }),
  nice: fc.integer({ min: -1, max: 1 }),
  submittedAt: fc.nat(3),
  owner: fc.constantFrom('ann', 'bob'),
  qos: fc.constantFrom('high', 'normal'),
});
const jobs = fc.array(job, { maxLength: 30, size: 'max' });

const qualities = { high: { ...plainQos('high'), priority: 1 } };

/** Some of the jobs have left the queue again. */
function lineOf(wanted: readonly JobWords[], gone: readonly number[], size: number) {
  const made = snapshot([], []);
  const scheduling = {
    ...made.scheduling,
    weights: { ...DEFAULT_WEIGHTS, size },
    qualities,
  };
  const rules = lineRules({ ...made, scheduling });
  const { queue } = made;
  queue.weigh(scheduling.weights);
  const all = entries(wanted);
  for (const entry of all) queue.add(entry);
  const left = new Set(gone.map((at) => all[at]));
  for (const entry of left) if (entry !== undefined) queue.remove(entry);
  const stay = all.filter((entry) => !left.has(entry));
  const places = stay.map((entry) => candidateOf(entry, 0, rules) as Candidate);
  const sorted = places.sort((a, b) => (isBefore(a, b) ? -1 : 1));
  return { line: new Line(queue.bands, rules), sorted, queue, rules };
}

function rest(line: Line): number[] {
  const ids: number[] = [];
  for (let next = line.first; next !== undefined; next = line.first) {
    ids.push(next.entry.jobId);
    line.skipEntry();
  }
  return ids;
}

const ids = (places: readonly { entry: QueueEntry }[]): number[] =>
  places.map(({ entry }) => entry.jobId);

test('the line is all that waits in order, whatever came and went before', () => {
  fc.assert(
    fc.property(jobs, fc.array(fc.nat(29)), fc.nat(1), (wanted, gone, size) => {
      const { line, sorted } = lineOf(wanted, gone, size);
      assert.deepEqual(rest(line), ids(sorted));
    }),
    { numRuns: 1000 },
  );
});

test('from a mark on the line has the groups that begin there, and of split ones the rest', () => {
  fc.assert(
    fc.property(jobs, fc.nat(29), fc.nat(29), (wanted, done, at) => {
      const { line, sorted, queue } = lineOf(wanted, [], 0);
      const place = sorted[at];
      if (place === undefined || done > at) return;
      const mark = { ...place, jobId: place.entry.jobId };
      for (let count = 0; count < done; count += 1) line.skipEntry();
      line.skipTo(mark, queue.groups.values());
      assert.deepEqual(rest(line), ids(sorted.slice(at)), 'all groups are split');
      const again = lineOf(wanted, [], 0);
      again.line.skipTo(mark, []);
      const begun = new Set<string>();
      for (const one of sorted) {
        if (isBeforeMark(one, mark)) begun.add(keyOf(one));
      }
      const wholly = sorted.filter((one) => !begun.has(keyOf(one)));
      assert.deepEqual(rest(again.line), ids(wholly));
    }),
    { numRuns: 1000 },
  );
});

function keyOf({ group: { key, owner, qos } }: Candidate): string {
  return `${key} ${owner} ${qos}`;
}
