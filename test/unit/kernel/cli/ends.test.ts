// How jobs and tasks ended, in the words of listings, and listings of those alone that ended so.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { describeJob } from '../../../../src/kernel/cli/jobs/describe.ts';
import { endRemark, outcomeWords } from '../../../../src/kernel/cli/jobs/outcome.ts';
import { filesBelow, ROOT } from '../../../../tools/tree.ts';
import { readBlocks } from '../../../support/console-blocks.ts';
import { shape } from '../../../support/output-shape.ts';
import { FakeHead } from './fake-head.ts';
import { doneJob, jobView } from './views.ts';

const OOM = 'exceeded its limit of 512M on n1; ask for more with --memory';

test('an end says why the cluster ended it, not with which signal', () => {
  const term = { signal: 15 };
  const limited = { walltimeMs: 600_000 };
  const cases = [
    [doneJob('timeout', term, 'reached its time limit'), 'over its time limit of 10m'],
    [doneJob('out_of_memory', { code: 137 }, OOM), OOM.replace('exceeded its', 'over its memory')],
    [doneJob('out_of_memory', { code: 137 }), 'over its memory limit of 512M'],
    [doneJob('cancelled', term, 'cancelled by ann'), 'cancelled by ann'],
    [doneJob('stage_failed', { code: 0 }, 'what it left is lost'), 'what it left is lost'],
    [doneJob('failed', { code: 3 }, 'exited with code 3 on n1'), 'exit 3'],
    [doneJob('failed', { signal: 9 }, 'ended by signal 9 on n1'), 'killed by KILL'],
    [doneJob('completed', { code: 0 }), 'exit 0'],
  ] as const;
  for (const [job, words] of cases) assert.equal(endRemark(job, { ...job, ...limited }), words);
  const [timeout, , , cancelled] = cases.map(([job]) => outcomeWords(job, { ...job, ...limited }));
  assert.equal(timeout, 'timeout: over its time limit of 10m');
  assert.equal(cancelled, 'cancelled by ann');
});

test('history and job count as the list does: what completed, and beside it what failed', async () => {
  const counts = { completed: 25, failed: 34, timeout: 1 };
  const array = { array: '0-59', taskCount: 60, taskCounts: { done: 60 }, outcomeCounts: counts };
  const job = { ...doneJob('failed', { code: 3 }), ...array };
  await using head = await FakeHead.start({
    'GET /v1/jobs': () => ({ json: { jobs: [job], next: null } }),
    'GET /v1/history': () => ({ json: { jobs: [job], tasks: [], next: null } }),
  });
  assert.match((await head.weft('jobs', '-a')).out, / 25\/60, 35 failed /);
  assert.match((await head.weft('history')).out, / failed +3 +25\/60, 35 failed /);
  const words = await head.weft('jobs', '-a', '-o', 'template={{state}} {{status}}');
  assert.equal(words.out, 'done failed\n');
  const line = (of: object) => describeJob({ ...job, ...DETAIL, ...of } as never, 0);
  const timeline = (of: object) => line(of).find(([title]) => title === 'Timeline')?.[1];
  assert.equal(timeline({ startedAt: 0, endedAt: 2000 }), 'waited 0s, ran 2s', 'no equal blocks');
  assert.match(timeline({ startedAt: 1000, endedAt: 2000 }) ?? '', /░█+ {2}waited 1s, ran 1s$/);
  const input = (of: object) => line({ id: 42, ...of }).find(([title]) => title === 'Input')?.[1];
  const attached = { files: { stdin: 'attach' } };
  const waits = 'waits for weft attach --stdin 42, each time it starts';
  assert.equal(input({ ...attached, state: 'running', array: null }), waits);
  assert.equal(input(attached), 'what was brought while it ran');
  assert.equal(input({ files: { stdin: '/data/in' } }), '/data/in');
  const tasks = describeJob({ ...job, ...DETAIL } as never, 0).find(([title]) => title === 'Tasks');
  assert.equal(tasks?.[1], '60 (0-59): 25 completed, 35 failed (1 timeout)');
});

const DETAIL = {
  runningMax: null,
  dependencies: [],
  waitsFor: [],
  outputs: null,
  files: {},
  retryOf: null,
  usage: { userUs: 0, systemUs: 0, memoryPeakBytes: 0 },
  onNodeLoss: { kind: 'wait' },
};

test('ends that pages show are in the words of the program', () => {
  const limited = { walltimeMs: 600_000 };
  const said = [
    doneJob('timeout', { signal: 15 }, 'reached its time limit'),
    doneJob('out_of_memory', { signal: 9 }, OOM),
    doneJob('cancelled', { signal: 15 }, 'cancelled by ann'),
    doneJob('failed', { code: 3 }, 'exited with code 3 on n1'),
    doneJob('completed', { code: 0 }),
    doneJob('launch_failed', { code: 0 }, 'cannot execute it'),
  ].map((job) => shape(outcomeWords(job, { ...job, ...limited })));
  const ends = filesBelow('docs', '.md')
    .flatMap((page) => readBlocks(readFileSync(path.join(ROOT, page), 'utf8')))
    .flatMap((block) => (block.kind === 'run' ? block.typed : []))
    .filter(({ command }) => /\bweft (?:wait|run .*--wait|submit .*--wait)\b/.test(command))
    .flatMap(({ output }) => output)
    .flatMap(
      (line) =>
        /^(?:weft: job )?\d+:? ((?:completed|timeout|out_of_memory)\b.*)$/.exec(line)?.[1] ?? [],
    );
  assert.ok(ends.length > 5, String(ends));
  for (const end of ends) assert.ok(said.includes(shape(end)), end);
});

test('the list says how many tasks of an array failed, and what was cancelled is not done', async () => {
  const array = { array: '0-63', taskCount: 64, taskCounts: { done: 64 } };
  const failed = doneJob('failed', { code: 3 });
  const cancelled = doneJob('cancelled', { signal: 15 }, 'cancelled by ann');
  const jobs = [
    { ...failed, ...array, outcomeCounts: { completed: 56, failed: 8 } },
    { ...cancelled, ...array, outcomeCounts: { cancelled: 64 } },
  ];
  await using head = await FakeHead.start({
    'GET /v1/jobs': () => ({ json: { jobs, next: null } }),
  });
  const [, first = '', second = ''] = (await head.weft('jobs', '-a')).out.split('\n');
  assert.match(first, / 56\/64, 8 failed .* 8 of 64 failed; exit 3$/);
  assert.match(second, / 0\/64, 64 cancelled .* cancelled by ann$/);
});

test('jobs are listed by the words that the list shows, and by several', async () => {
  const all = [
    jobView({ id: 5, held: true }),
    jobView({ id: 4 }),
    jobView({ id: 3, state: 'running' }),
    { ...doneJob('failed', { code: 3 }), id: 2 },
    { ...doneJob('timeout', { signal: 15 }), id: 1 },
  ];
  const asked: unknown[] = [];
  await using head = await FakeHead.start({
    'GET /v1/jobs': ({ query }) => {
      asked.push([query['state'], query['outcome']]);
      return { json: { jobs: all, next: null } };
    },
  });
  const listed = async (words: string) => {
    const { out } = await head.weft('jobs', '-s', words, '-o', 'name');
    return out.split('\n').filter(Boolean).map(Number);
  };
  assert.deepEqual(await listed('held'), [5]);
  assert.deepEqual(await listed('failed'), [2]);
  assert.deepEqual(await listed('pending'), [5, 4]);
  assert.deepEqual(await listed('held,running'), [5, 3]);
  assert.deepEqual(await listed('running,timeout'), [3, 1]);
  assert.deepEqual(await listed('done'), [2, 1]);
  const [held, failed, pending, live, mixed, done] = asked;
  assert.deepEqual(
    [held, live],
    [
      ['active', undefined],
      ['active', undefined],
    ],
  );
  assert.deepEqual(
    [failed, mixed],
    [
      ['all', 'failed'],
      ['all', undefined],
    ],
  );
  assert.deepEqual(
    [pending, done],
    [
      ['pending', undefined],
      ['done', undefined],
    ],
  );
  const { code, error } = await head.weft('jobs', '-s', 'faild');
  assert.equal(code, 2);
  assert.match(error, /'faild' is unknown\. Did you mean 'failed'\?\n .*held, completed, failed/);
});

test('tasks are listed by their state, and their accounts by how they ended', async () => {
  const row = {
    notice: null,
    reason: null,
    nodes: [],
    startedAt: null,
    endedAt: null,
    usage: null,
  };
  const kinds = ['completed', 'timeout', 'failed'] as const;
  const tasks = kinds.map((kind, index) => {
    const exit = kind === 'completed' ? { code: 0 } : { signal: 15 };
    const outcome = { kind, exit, process: null, detail: 'reached its time limit' };
    return { ...row, id: `42[${index}]`, jobId: 42, index, epoch: 1, state: 'done', outcome, exit };
  });
  const asked: unknown[] = [];
  const account = { final: true, endedAt: 0, userUs: 0, systemUs: 0, memoryPeakBytes: 0 };
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: jobView({ walltimeMs: 60_000 }) }),
    'GET /v1/jobs/42/tasks': ({ query }) => {
      asked.push(query['failed']);
      return { json: { tasks, next: null } };
    },
    'GET /v1/history': ({ query }) => {
      asked.push(query['outcome']);
      const rows = tasks.map((task) => ({ ...task, ...account }));
      return { json: { jobs: [], tasks: rows, next: null } };
    },
  });
  const { out } = await head.weft('job', '42', '-s', 'timeout');
  assert.match(out, /^TASK .*\n42\[1\] .* over its time limit of 1m\n$/);
  const twice = await head.weft('job', '42', '--tasks', '-s', 'completed,failed', '-o', 'name');
  assert.equal(twice.out, '42[0]\n42[2]\n');
  const history = await head.weft('history', '--tasks', '--outcome', 'failed', '-o', 'name');
  assert.equal(history.out, '42[2]#1\n');
  assert.deepEqual(asked, ['true', undefined, 'failure']);
});
