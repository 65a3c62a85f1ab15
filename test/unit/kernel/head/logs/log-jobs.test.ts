// Whose output it is, and whether it may go: of jobs in memory and of those that have left it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logJobsOf } from '../../../../../src/kernel/head/logs/log-jobs.ts';

type Known = NonNullable<ReturnType<Parameters<typeof logJobsOf>[0]>>;

test('[W9] the owner of output is known as long as the store has the job', async () => {
  const asked: (readonly number[])[] = [];
  const jobs = new Map([
    [5, { owner: 'ann', outcome: null }],
    [6, { owner: 'cat', outcome: { kind: 'completed' } }],
  ]);
  const store = {
    jobs: async ({ jobIds }: { jobIds: readonly number[] }) => {
      asked.push(jobIds);
      return [{ jobId: 3, owner: 'bob' }];
    },
  };
  const engine = { state: { jobs, nextJobId: 9 }, store } as unknown as Known;
  const { isDone, ownersOf } = logJobsOf(() => engine);
  assert.deepEqual([3, 5, 6, 9].map(isDone), [true, false, true, false]);
  assert.deepEqual(
    [...(await ownersOf([3, 4, 5, 6]))],
    [
      [5, 'ann'],
      [6, 'cat'],
      [3, 'bob'],
    ],
  );
  await ownersOf([5]);
  assert.deepEqual(asked, [[3, 4]], 'the store is asked for those that have left memory');
  const starting = logJobsOf(() => null);
  assert.deepEqual([starting.isDone(1), [...(await starting.ownersOf([1]))]], [false, []]);
});
