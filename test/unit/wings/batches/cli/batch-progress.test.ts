// How far a batch is, in words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countWords } from '../../../../../src/kernel/cli/progress/words.ts';
import { countedJobs } from '../../../../../src/wings/batches/cli/cluster/batch-progress.ts';

test('a batch counts its jobs', () => {
  const batch = { title: 'lab/heat', jobCount: 6, open: { running: 1, pending: 2 } };
  const counted = countedJobs({ ...batch, ended: { completed: 2, build_failed: 1 } });
  assert.equal(
    countWords(counted, null),
    'lab/heat: 2 of 6 jobs done, 1 failed; 1 running, 2 pending',
  );
});
