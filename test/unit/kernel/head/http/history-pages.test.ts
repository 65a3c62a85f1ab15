// The history of more than fits on one page: nothing is left out without a word.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryReply } from '../../../../../src/kernel/api/history.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import type { JobRow, TaskRow } from '../../../../../src/kernel/ports/history.ts';
import { jobRow, taskRow } from '../../store/support/rows.ts';
import { eventually, startAgent, startWorld, TRUE, type World } from './fixture.ts';

const DONE: Partial<JobRow> = {
  state: 'done',
  outcome: 'completed',
  startedAt: 1000,
  endedAt: 9_000_000,
};

function keep(world: World, job: JobRow, tasks: readonly Partial<TaskRow>[]): void {
  world.disk.jobs.set(job.jobId, job);
  keepTasks(world, job.jobId, tasks);
}

function keepTasks({ disk }: World, jobId: number, tasks: readonly Partial<TaskRow>[]): void {
  for (const [at, changes] of tasks.entries()) {
    disk.tasks.set(`${jobId}/${at}`, taskRow(jobId, changes));
  }
}

function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

test('the tasks of a large array come on several pages, each once, with the jobs around it', async (t) => {
  const world = await startWorld(t);
  keep(world, jobRow(3, DONE), [{}]);
  keep(
    world,
    jobRow(2, { ...DONE, taskCount: 25_000 }),
    times(25_000, (taskIndex) => ({ taskIndex })),
  );
  keep(world, jobRow(1, DONE), [{}]);
  const told: string[] = [];
  const pages: HistoryReply[] = [];
  let from = {};
  for (;;) {
    const query = { ...from, tasks: true };
    const page: HistoryReply = await world.admin.call('history', { query });
    pages.push(page);
    assert.ok(page.tasks.length <= 10_000);
    told.push(...page.tasks.map(({ jobId, index }) => `${jobId}[${index}]`));
    if (page.nextTask !== null) from = { afterTask: page.nextTask };
    else if (page.next !== null) from = { before: page.next };
    else break;
  }
  const jobsOf = pages.map(({ jobs }) => jobs.map(({ id }) => id));
  assert.deepEqual(jobsOf, [[3, 2], [2], [2, 1]]);
  assert.deepEqual(told, ['3[null]', ...times(25_000, (at) => `2[${at}]`), '1[null]']);
  // Who reads no `nextTask` goes on below.
  assert.deepEqual(
    pages.map(({ next }) => next),
    [2, 2, null],
  );
  const bad = world.admin.call('history', { query: { tasks: true, afterTask: 'x' } });
  await assert.rejects(bad, /afterTask/);
});

test('a job with thousands of starts leaves no other without the time of its last run', async (t) => {
  // What is cancelled leaves memory at once; its starts are made up.
  const world = await startWorld(t, { settings: { retainedJobsMax: 0 } });
  await startAgent(t, world, 'n1');
  for (const id of ['1', '2', '3']) {
    await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
    await world.admin.call('cancelJob', { params: { id } });
  }
  const runs = times(12_000, (at) => ({
    epoch: at + 1,
    final: false,
    startedAt: 1000 + at,
    userUs: 2,
    systemUs: 1,
  }));
  await eventually(() => world.head.engine.state.jobs.size === 0);
  keepTasks(world, 2, runs);
  keepTasks(world, 1, [{ final: false }, { epoch: 2, startedAt: 5000 }]);
  const { jobs } = await world.admin.call('history', { query: {} });
  assert.deepEqual(
    jobs.map(({ runStartedAt }) => runStartedAt),
    [null, 12_999, 5000],
  );
  const shown = await world.admin.call('getJob', { params: { id: '2' } });
  assert.equal(shown.runStartedAt, 12_999);
  assert.deepEqual([shown.usage.userUs, shown.usage.systemUs], [24_000, 12_000]);
});

test('a job of which the head has lost the record is lost, and nobody waits for it', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  for (const name of ['a', 'b']) {
    await world.admin.call('submitJob', { body: { ...TRUE, name, held: true } });
  }
  // As if 1 had come with a record that a damaged store has lost since.
  world.head.engine.state.jobs.delete(1 as JobId);
  const { jobs } = await world.admin.call('history', { query: {} });
  assert.deepEqual(
    jobs.map(({ id, state, outcome }) => [id, state, outcome]),
    [
      [2, 'pending', null],
      [1, 'lost', null],
    ],
  );
  const { state, outcome } = await world.admin.call('getJob', { params: { id: '1' } });
  assert.deepEqual([state, outcome?.kind], ['done', 'cancelled']);
  assert.match(outcome?.detail ?? '', /^lost: /);
});
