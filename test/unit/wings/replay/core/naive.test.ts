// The scheduler beside one that is written for clarity: the same start for every job.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  PLANNING_POLICIES,
  type PlanningPolicy,
} from '../../../../../src/kernel/model/scheduling.ts';
import { type ReplayJob, workloadOf } from '../../../../../src/wings/replay/core/machine.ts';
import { parseSwf } from '../../../../../src/wings/replay/core/swf.ts';
import { naiveStarts } from '../../../../support/naive.ts';
import { pool, replayBy, workload } from '../../../../support/workloads.ts';

const TRACES = [
  { file: 'sdsc-sp2-1998.swf', processors: 128 },
  { file: 'lublin-256.swf', processors: 256 },
];

function assertSame(jobs: readonly ReplayJob[], processors: number, policy: PlanningPolicy): void {
  const { runs } = replayBy(policy, jobs, pool(processors));
  const naive = naiveStarts(
    jobs.map((job) => ({
      submit: job.submittedAt,
      run: job.runMs,
      estimate: job.walltimeMs ?? Infinity,
      size: job.processors,
    })),
    processors,
    policy,
  );
  assert.deepEqual(
    runs.map((run) => run.startedAt),
    naive,
  );
}

for (const { file, processors } of TRACES) {
  const text = readFileSync(
    path.join(import.meta.dirname, '../../../../fixtures/traces', file),
    'utf8',
  );
  const { jobs } = workloadOf(parseSwf(text).jobs, pool(processors));
  for (const policy of PLANNING_POLICIES) {
    test(`each job of ${file} starts when the naive ${policy} says`, () => {
      assert.ok(jobs.length > 1000);
      assertSame(jobs, processors, policy);
    });
  }
}

const SIZE_MAX = 8;
const job = fc
  .record({
    submit: fc.nat(60),
    size: fc.integer({ min: 1, max: SIZE_MAX }),
    estimate: fc.integer({ min: 1, max: 20 }),
    part: fc.constantFrom(0.2, 0.7, 1),
  })
  .map(({ submit, size, estimate, part }) => ({
    id: '',
    submit,
    size,
    estimate,
    run: Math.ceil(estimate * part),
  }));
const jobs = fc.array(job, { maxLength: 40, size: 'max' });

for (const policy of PLANNING_POLICIES) {
  test(`each job of any small workload starts when the naive ${policy} says`, () => {
    fc.assert(
      fc.property(jobs, (words) => {
        assertSame(workload(words, pool(SIZE_MAX)), SIZE_MAX, policy);
      }),
      { numRuns: 300 },
    );
  });
}
