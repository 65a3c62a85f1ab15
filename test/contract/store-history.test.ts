// What every store must answer about the history: the plain code of history-match.ts says what is
// meant, SQLite must say the same.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addUsage, matchJobs, matchTasks } from '../../sim/history-match.ts';
import type { HistoryQuery, HistoryRow } from '../../src/kernel/ports/history.ts';
import type { Store } from '../../src/kernel/ports/store.ts';
import { QUERY_STEP_ENDS } from '../../src/kernel/store/sqlite/bounds.ts';
import { newDirectory, openStore } from '../unit/kernel/store/support/directory.ts';
import { FLAVOURS, type Open } from '../unit/kernel/store/support/flavours.ts';
import { commitOf, job, jobRow, task, taskRow } from '../unit/kernel/store/support/rows.ts';

for (const [flavour, make] of Object.entries(FLAVOURS)) {
  contract(flavour, make);
}

function contract(flavour: string, make: (t: TestContext) => Open): void {
  const promise = (title: string, body: (open: Open) => Promise<void>) => {
    test(`${title} (${flavour})`, (t) => body(make(t)));
  };

  promise('the newest row of a job and of an epoch is the one that counts', async (open) => {
    const store = await open();
    const done = { state: 'done', outcome: 'failed', exitCode: 3, endedAt: 1_700_000_009_000 };
    await store.append(commitOf(1, [job(1), task(1, { final: false })]));
    await store.append(commitOf(2, [job(1, done), task(1, { epoch: 2 }), job(1, done)]));
    assert.deepEqual(await store.jobs({ limit: 9 }), [jobRow(1, done)]);
    const epochs = [taskRow(1, { final: false }), taskRow(1, { epoch: 2 })];
    assert.deepEqual(await store.tasks({ limit: 9 }), epochs);
  });

  promise('text of users is kept as it is and is never a statement', async (open) => {
    const store = await open();
    const name = `'); DROP TABLE jobs; --\u0000 "\u{1F9F5}" %_`;
    await store.append(commitOf(1, [job(1, { name, owner: "o'brien" }), job(2)]));
    assert.deepEqual(await store.jobs({ name, limit: 9 }), [jobRow(1, { name, owner: "o'brien" })]);
    assert.deepEqual(await store.jobs({ owner: "x' OR '1'='1", limit: 9 }), []);
  });

  promise(
    '[Y4] what ended long ago goes with its tasks, what has not ended stays',
    async (open) => {
      const store = await open();
      const ended = (endedAt: number) => ({ state: 'done', outcome: 'completed', endedAt });
      const at = 1_700_000_000_000;
      await store.append(
        commitOf(1, [
          job(1, { submittedAt: at, ...ended(at + 10) }),
          task(1, { epoch: 1, final: false }),
          task(1, { epoch: 2 }),
          job(2, { submittedAt: at + 1, state: 'active', endedAt: null }),
          job(3, { submittedAt: at + 2, ...ended(at + 900) }),
          task(3),
          job(4, { submittedAt: at + 3, ...ended(at + 20) }),
        ]),
      );
      const ids = async () => (await allJobs(store)).map(({ jobId }) => jobId);
      assert.deepEqual(
        await store.prune({ endedBefore: null, jobsMax: null, settledBefore: LATE }),
        NONE_GONE,
      );
      const gone = await store.prune({ endedBefore: at + 20, jobsMax: null, settledBefore: LATE });
      assert.deepEqual([gone, await ids()], [{ jobs: 1, isDone: true }, [4, 3, 2]]);
      assert.deepEqual(
        (await allTasks(store)).map(({ jobId }) => jobId),
        [3],
      );
      assert.deepEqual(
        await store.prune({ endedBefore: at + 20, jobsMax: 9, settledBefore: LATE }),
        NONE_GONE,
      );
      const many = await store.prune({ endedBefore: null, jobsMax: 1, settledBefore: LATE });
      assert.deepEqual([many, await ids()], [{ jobs: 1, isDone: true }, [4, 2]]);
    },
  );

  promise(
    '[Y4] of too many none goes that ended lately, and of those of one instant the newest stay',
    async (open) => {
      const store = await open();
      const done = (id: number, endedAt: number): HistoryRow =>
        job(id, { state: 'done', outcome: 'completed', submittedAt: 7, endedAt });
      await store.append(commitOf(1, [done(1, 500), done(2, 10), done(3, 20), done(4, 20)]));
      const rule = { endedBefore: null, jobsMax: 2, settledBefore: 400 };
      assert.equal((await store.prune(rule)).jobs, 1);
      assert.deepEqual(
        (await allJobs(store)).map(({ jobId }) => jobId),
        [4, 3, 1],
      );
    },
  );

  promise('[Y4] of much a part goes at a time, until all is gone', async (open) => {
    const store = await open();
    const done = { state: 'done', outcome: 'completed', submittedAt: 1, endedAt: 2 };
    const rows: HistoryRow[] = [];
    for (let id = 1; id <= 30; id++) {
      rows.push(job(id, done));
      for (let index = 0; index < 900; index++) rows.push(task(id, { taskIndex: index }));
    }
    await store.append(commitOf(1, rows));
    let jobs = 0;
    for (let isDone = false; !isDone; ) {
      const gone = await store.prune({ endedBefore: 3, jobsMax: null, settledBefore: LATE });
      jobs += gone.jobs;
      isDone = gone.isDone;
    }
    assert.equal(jobs, 30);
    assert.deepEqual(await store.tasks({ limit: 1 }), []);
  });

  promise('each question is answered as the plain meaning of its parts', async (open) => {
    const store = await open();
    const history = manyRows();
    await store.append(commitOf(1, history));
    const { jobs, tasks } = split(history);
    for (const query of QUERIES) {
      const text = JSON.stringify(query);
      assert.deepEqual(await store.jobs(query), matchJobs(jobs.values(), query), text);
      assert.deepEqual(await store.tasks(query), matchTasks(tasks, jobs, query), text);
    }
  });

  promise('usage is added up as the plain code does, in steps of time or in one', async (open) => {
    const store = await open();
    const history = manyRows();
    await store.append(commitOf(1, history));
    const { jobs, tasks } = split(history);
    const ends = tasks.map(({ endedAt }) => endedAt);
    const [first, last] = [Math.min(...ends), Math.max(...ends)];
    const all = { from: 0, until: last + 1, stepMs: null };
    const some = { from: first + 3, until: last, stepMs: 7 };
    for (const by of ['user', 'partition', 'outcome', 'gpu'] as const) {
      for (const query of [all, some, { ...all, owner: 'bob' }, { ...some, partition: 'none' }]) {
        const rows = await store.usage({ by, ...query });
        assert.deepEqual(rows, addUsage(tasks, jobs, { by, ...query }), JSON.stringify(query));
      }
    }
    const [one] = await store.usage({ by: 'user', ...all, owner: 'alice' });
    assert.equal(one?.starts, tasks.filter(({ jobId }) => jobId % 2 === 0).length);
    assert.ok((one?.cpuMs ?? 0) > 0 && (one?.memoryByteMs ?? 0) > 0 && (one?.usedUs ?? 0) > 0);
  });

  promise('pages put together are the whole list', async (open) => {
    const store = await open();
    const history = manyRows();
    await store.append(commitOf(1, history));
    const { jobs, tasks } = split(history);
    assert.deepEqual(await allJobs(store), matchJobs(jobs.values(), { limit: 1e6 }));
    assert.deepEqual(await allTasks(store), matchTasks(tasks, jobs, { limit: 1e6 }));
  });
}

test('jobs far apart are found, whatever the steps of the search (sqlite)', async (t) => {
  const store = await openStore(t, newDirectory(t));
  const ids = [3, 20_003, 100_000, 250_001];
  await store.append(
    commitOf(
      1,
      ids.flatMap((id) => [job(id), task(id)]),
    ),
  );
  const newestFirst = ids.toReversed();
  assert.deepEqual(
    (await store.jobs({ limit: 9 })).map((row) => row.jobId),
    newestFirst,
  );
  assert.deepEqual(
    (await store.tasks({ limit: 9 })).map((row) => row.jobId),
    newestFirst,
  );
  const below = await store.jobs({ belowJobId: 100_000, limit: 1 });
  assert.deepEqual(
    below.map((row) => row.jobId),
    [20_003],
  );
});

test('ends are found in each step of the search, and its steps share none (sqlite)', async (t) => {
  const store = await openStore(t, newDirectory(t));
  const size = 2 * QUERY_STEP_ENDS + 1;
  const tasks = Array.from({ length: size }, (_, taskIndex) =>
    task(1, { taskIndex, endedAt: 1_700_000_002_000, nodes: taskIndex === 0 ? 'n1' : 'n2' }),
  );
  await store.append(
    commitOf(1, [job(1), job(2), ...tasks, task(2, { endedAt: 1_700_000_001_500 })]),
  );
  const all = await store.tasks({ ended: { from: 0 }, limit: size + 5 });
  assert.equal(new Set(all.map(({ jobId, taskIndex }) => `${jobId} ${taskIndex}`)).size, size + 1);
  assert.equal(all.length, size + 1);
  assert.equal(all.at(-1)?.jobId, 2);
  const [first, ...others] = await store.tasks({ ended: { from: 0, node: 'n1' }, limit: 5 });
  assert.deepEqual([first?.jobId, first?.taskIndex], [1, 0]);
  assert.deepEqual(
    others.map(({ jobId }) => jobId),
    [2],
    'task 2 ran on n1 and n2',
  );
});

/** 30 jobs in the hands of two people; every third is an array, every fifth task has two epochs. */
function manyRows(): HistoryRow[] {
  return Array.from({ length: 30 }, (_, index) => index + 1).flatMap((jobId) => [
    job(jobId, {
      owner: jobId % 2 === 0 ? 'alice' : 'bob',
      name: `name-${jobId % 4}`,
      command: jobId % 6 === 0 ? './Strömung --Fall 3' : 'true',
      state: jobId > 25 ? 'running' : 'done',
      outcome: jobId > 25 ? null : jobId % 5 === 0 ? 'failed' : 'completed',
    }),
    ...tasksOf(jobId),
  ]);
}

function tasksOf(jobId: number): HistoryRow[] {
  const indexes = jobId % 3 === 0 ? [0, 2, 10] : [-1];
  return indexes.flatMap((taskIndex) => {
    const last = task(jobId, {
      gpuCount: jobId % 3,
      heldCpus: jobId % 4 === 1 ? 64 : null,
      heldMemoryBytes: jobId % 4 === 1 ? 2 ** 38 : null,
      gpuType: jobId % 3 === 0 ? null : `t${jobId % 2}`,
      taskIndex,
      epoch: jobId % 5 === 0 ? 2 : 1,
      // The oldest jobs end last, and some of them at one time.
      endedAt: 1_700_000_002_020 - Math.floor(jobId / 2),
      startedAt: jobId % 7 === 0 ? null : 1_700_000_001_000,
      nodes: jobId % 4 === 0 ? 'n1,n7' : 'n77',
    });
    const lost = task(jobId, { taskIndex, final: false, outcome: 'node_fail', exitCode: null });
    return jobId % 5 === 0 ? [lost, last] : [last];
  });
}

const QUERIES: readonly HistoryQuery[] = [
  { limit: 1000 },
  { limit: 7 },
  { withoutSpecs: true, limit: 1000 },
  { limit: 0 },
  { owner: 'bob', limit: 1000 },
  { owner: 'nobody', limit: 1000 },
  { state: 'running', limit: 1000 },
  { outcome: 'failed', limit: 1000 },
  { outcome: 'failure', limit: 1000 },
  { outcome: 'failure', state: 'done', limit: 7 },
  { outcome: 'failure', lastEpochs: true, limit: 1000 },
  { outcome: 'node_fail', limit: 1000 },
  { name: 'name-2', owner: 'alice', limit: 3 },
  { jobIds: [29, 4, 1000, 4], limit: 1000 },
  { jobIds: [], limit: 1000 },
  { jobIds: [12, 15], taskIndex: 2, limit: 1000 },
  { belowJobId: 10, limit: 4 },
  { belowJobId: 1, limit: 4 },
  { fromJobId: 12, belowJobId: 15, limit: 9 },
  { fromJobId: 30, limit: 9 },
  { words: [], limit: 1000 },
  { words: ['bob', 'me-2'], limit: 1000 },
  { words: ['running'], limit: 1000 },
  { words: ['strömung', 'fall'], limit: 1000 },
  { words: ['29'], limit: 1000 },
  { words: ['%'], limit: 1000 },
  { submittedFrom: 1_700_000_000_010, submittedUntil: 1_700_000_000_013, limit: 1000 },
  { afterTask: { jobId: 15, taskIndex: 0, epoch: 1 }, limit: 1000 },
  { afterTask: { jobId: 15, taskIndex: 10, epoch: 2 }, limit: 5 },
  { afterTask: { jobId: 15, taskIndex: 0, epoch: 2 }, belowJobId: 12, limit: 5 },
  { afterTask: { jobId: 15, taskIndex: 0, epoch: 2 }, jobIds: [15, 14], limit: 50 },
  { afterTask: { jobId: 15, taskIndex: 0, epoch: 2 }, limit: 1 },
  { lastEpochs: true, limit: 1000 },
  { lastEpochs: true, taskIndex: -1, jobIds: [5, 10, 15, 16], limit: 4 },
  { lastEpochs: true, outcome: 'node_fail', limit: 1000 },
  { ended: { from: 0 }, limit: 1000 },
  { ended: { from: 1_700_000_002_011 }, limit: 1000 },
  { ended: { from: 1_700_000_002_003 }, outcome: 'failed', limit: 5 },
  { ended: { from: 1_700_000_002_003 }, owner: 'bob', limit: 5 },
  { ended: { from: 0, node: 'n7' }, limit: 1000 },
  { ended: { from: 0, node: 'n' }, limit: 1000 },
  { ended: { from: 1_700_000_002_017, node: 'n7' }, limit: 3 },
  { ended: { from: 0 }, limit: 0 },
];

/** Nothing that ends in these tests ends after it. */
const LATE = 10 ** 15;
const NONE_GONE = { jobs: 0, isDone: true };

function split(history: readonly HistoryRow[]) {
  const jobs = new Map(
    history.flatMap((entry) => (entry.kind === 'job' ? [[entry.row.jobId, entry.row]] : [])),
  );
  const tasks = history.flatMap((entry) => (entry.kind === 'task' ? [entry.row] : []));
  return { jobs, tasks };
}

async function allJobs(store: Store) {
  const rows = await store.jobs({ limit: 4 });
  for (let page = rows; page.length > 0; ) {
    page = await store.jobs({ limit: 4, belowJobId: page.at(-1)?.jobId ?? 0 });
    rows.push(...page);
  }
  return rows;
}

async function allTasks(store: Store) {
  const rows = await store.tasks({ limit: 4 });
  for (let last = rows.at(-1); last !== undefined; ) {
    const page = await store.tasks({ limit: 4, afterTask: last });
    rows.push(...page);
    last = page.at(-1);
  }
  return rows;
}
