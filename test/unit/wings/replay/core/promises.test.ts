// What is promised is kept: seen over whole replays on nodes with cpus and memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Policy } from '../../../../../src/kernel/model/scheduling.ts';
import { replayBy, type WorkloadWords, workload } from '../../../../support/workloads.ts';

const MACHINE = { nodeCount: 4, cpusPerNode: 4, memoryBytesPerNode: 8 };

function workloads(parts: readonly number[]): fc.Arbitrary<WorkloadWords[]> {
  const job = fc
    .record({
      submit: fc.nat(60),
      size: fc.integer({ min: 1, max: 10 }),
      estimate: fc.integer({ min: 1, max: 20 }),
      memory: fc.integer({ min: 0, max: 5 }),
      part: fc.constantFrom(...parts),
    })
    .filter(({ size, memory }) => size * memory <= 16)
    .map(({ part, ...rest }) => ({ ...rest, id: '', run: Math.ceil(rest.estimate * part) }));
  return fc.array(job, { maxLength: 40, size: 'max' });
}

/** Every promise of the replay must be as early as the one before it; then, so must the start. */
function assertKept(policy: Policy, words: readonly WorkloadWords[]): number {
  const promises = new Map<number, number>();
  const jobs = workload(words, MACHINE);
  const { runs } = replayBy(policy, jobs, MACHINE, (now, promised) => {
    for (const { jobId, at } of promised) {
      assert.ok(at > now, 'a promise is for later');
      assert.ok(at <= (promises.get(jobId) ?? Infinity), `job ${jobId} is put off at ${now}`);
      promises.set(jobId, at);
    }
  });
  for (const [jobId, at] of promises) assert.ok((runs[jobId - 1]?.startedAt ?? Infinity) <= at);
  return promises.size;
}

test('[A13] under easy nothing that goes ahead puts off the first that waits', () => {
  let promised = 0;
  fc.assert(
    fc.property(workloads([0.2, 0.7, 1]), (words) => {
      promised += assertKept('easy', words);
    }),
    { numRuns: 400 },
  );
  assert.ok(promised > 1000, `only ${promised} jobs ever waited for a promise`);
});

test('[A14] under conservative with exact estimates no job starts later than first promised', () => {
  let promised = 0;
  fc.assert(
    fc.property(workloads([1]), (words) => {
      promised += assertKept('conservative', words);
    }),
    { numRuns: 400 },
  );
  assert.ok(promised > 1000, `only ${promised} jobs ever waited for a promise`);
});
