// What is shown of jobs that failed: both streams, the tasks that failed first, their last lines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Asked, FakeHead, refusal } from './fake-head.ts';
import { doneJob, jobView } from './views.ts';

/** What a job in full has beside the fields of lists. */
const DETAIL = {
  files: {},
  dependencies: [],
  waitsFor: [],
  outputs: null,
  directory: '/work',
  usage: { userUs: 0, systemUs: 0, memoryPeakBytes: 0 },
  onNodeLoss: { kind: 'wait' },
  retryOf: null,
  warning: null,
  ranksPerNode: null,
  runningMax: null,
  qos: 'normal',
};

test('logs are of both streams, each to ours, and of a failed array the failed tasks come first', async () => {
  const job = { ...jobView(), array: '0-3', files: {}, taskCount: 4 };
  const outcomeCounts = { completed: 1, cancelled: 1, timeout: 1, failed: 1 };
  const kinds = ['completed', 'failed', 'cancelled', 'timeout'];
  const tasks = kinds.map((kind, index) => ({ id: `42[${index}]`, index, outcome: { kind } }));
  const said = ({ query }: Asked) => ({ text: `${query['stream']}\n` });
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: { ...job, outcomeCounts } }),
    'GET /v1/jobs/42/tasks': ({ query }) =>
      query['after'] === undefined
        ? { json: { tasks: tasks.slice(0, 2), next: 1 } }
        : { json: { tasks: tasks.slice(2), next: null } },
    ...Object.fromEntries(tasks.map(({ id }) => [`GET /v1/jobs/${id}/logs`, said])),
  });
  const order = [1, 3, 0, 2];
  const lines = (stream: string) => order.map((index) => `${index}: ${stream}\n`).join('');
  const note = 'weft: 2 of 4 tasks of job 42 failed; they come first\n';
  const both = await head.weft('logs', '42');
  assert.deepEqual(both, { code: 0, out: lines('stdout'), error: note + lines('stderr') });
  const error = await head.weft('logs', '-e', '42');
  assert.deepEqual(error, { code: 0, out: lines('stderr'), error: note });
  assert.equal((await head.weft('logs', '-o', '42')).error, note);
  const alone = await head.weft('logs', '-o', '--failed', '42');
  const short = 'weft: 2 of 4 tasks of job 42 failed\n';
  assert.deepEqual(alone, { code: 0, out: '1: stdout\n3: stdout\n', error: short });
});

test('what failed in any way is one word: --failed, or failure as a state', async () => {
  const kinds = ['completed', 'failed', 'cancelled', 'timeout'] as const;
  const tasks = kinds.map((kind, index) => ({
    id: `42[${index}]`,
    index,
    jobId: 42,
    state: 'done',
    epoch: 1,
    nodes: [],
    notice: null,
    reason: null,
    exit: null,
    startedAt: null,
    endedAt: null,
    outcome: { kind, detail: null, exit: null, process: null },
  }));
  await using head = await FakeHead.start({
    'GET /v1/jobs': () => ({ json: { jobs: [doneJob('timeout')], next: null } }),
    'GET /v1/jobs/42': () => ({ json: jobView() }),
    'GET /v1/jobs/42/tasks': () => ({ json: { tasks, next: null } }),
    'GET /v1/history': () => ({ json: { jobs: [], tasks: [], next: null } }),
  });
  for (const words of [['-s', 'failure'], ['--failed']]) {
    const { out } = await head.weft('job', '42', '--tasks', ...words, '-o', 'name');
    assert.equal(out, '42[1]\n42[3]\n');
    const { out: listed } = await head.weft('jobs', ...words);
    const { outcome, state } = head.work.at(-1)?.query ?? {};
    assert.deepEqual([outcome, state, /timeout/.test(listed)], ['failure', 'all', true]);
  }
  await head.weft('history', '--failed');
  assert.equal(head.work.at(-1)?.query['outcome'], 'failure');
  const twice = await head.weft('jobs', '--failed', '--outcome', 'timeout');
  assert.match(twice.error, /'--failed' cannot be used with option '--outcome/);
});

test('a failed job shows the last lines that its failed task wrote', async () => {
  const text = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join('');
  const outcome = { kind: 'failed', process: { node: 'n2', rank: 1 }, detail: null };
  const counts = { array: '0-3', taskCount: 4, outcomeCounts: { failed: 1 } };
  const detail = { ...doneJob('failed', { code: 5 }), ...DETAIL, ...counts };
  const task = { id: '42[3]', index: 3, outcome, nodes: ['n1', 'n2'] };
  for (const stream of ['stderr', 'stdout']) {
    await using head = await FakeHead.start({
      'GET /v1/jobs/42': () => ({ json: detail }),
      'GET /v1/jobs/42/tasks': () => ({ json: { tasks: [task], next: null } }),
      'GET /v1/jobs/42[3]/logs': ({ query }) => {
        if (query['stream'] !== stream) return { text: '' };
        assert.deepEqual([query['nodeRank'], query['rank'], query['follow']], ['1', '1', 'false']);
        return { text, headers: { 'weft-log-size': String(text.length) } };
      },
    });
    const { out, error, code } = await head.weft('job', '42');
    assert.deepEqual([code, error], [0, '']);
    const lines = text.trimEnd().split('\n').slice(-10);
    const title = `\n\nLast lines of weft logs '42[3]' ${stream === 'stderr' ? '-e' : '-o'}:\n`;
    assert.ok(out.endsWith(title + lines.map((line) => `  ${line}\n`).join('')), out);
    assert.doesNotMatch((await head.weft('job', '42', '-o', 'json')).out, /Last lines/);
  }
});

test('a job of somebody else that failed shows no output, and no refusal', async () => {
  const refused = refusal('auth.not_owner', 'permission_denied', 'It is not yours.');
  const task = { id: '42', index: null, nodes: [], outcome: { kind: 'failed', process: null } };
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: { ...doneJob('failed', { code: 5 }), ...DETAIL } }),
    'GET /v1/jobs/42/tasks': () => ({ json: { tasks: [task], next: null } }),
    'GET /v1/jobs/42/logs': () => ({ status: 403, json: refused }),
  });
  const { out, error, code } = await head.weft('job', '42');
  assert.deepEqual([code, error, /^State: +failed \(exit 5\)$/m.test(out)], [0, '', true]);
  assert.doesNotMatch(out, /Last lines/);
});

test('a job that is followed says at its end how it failed, and how many of its tasks did', async () => {
  const failed = doneJob('failed', { code: 3 });
  const many = {
    ...failed,
    array: '0-1',
    taskCount: 2,
    outcomeCounts: { failed: 1, completed: 1 },
  };
  for (const [job, words] of [
    [failed, 'weft: job 42: failed (exit 3)\n'],
    [many, 'weft: job 42: failed (exit 3); 1 of 2 tasks failed\n'],
  ] as const) {
    await using head = await FakeHead.start({
      'POST /v1/jobs': () => ({ json: { jobId: 42, taskCount: 1, directory: '/', again: false } }),
      'GET /v1/jobs/42/logs': () => ({ text: '' }),
      'GET /v1/jobs/42/wait': () => ({ json: { job, task: null } }),
    });
    assert.deepEqual(await head.weft('run', '-f', 'x'), { code: 3, out: '', error: words });
  }
});

test('the tasks of a sweep are named by their values, in lists, logs and JSON', async () => {
  const tasks = [0, 1].map((index) => ({
    id: `42[${index}]`,
    jobId: 42,
    index,
    state: 'done',
    epoch: 1,
    nodes: [],
    notice: null,
    reason: null,
    outcome: null,
    exit: null,
    startedAt: null,
    endedAt: null,
    item: { lr: `0.${index}`, n: 'a' },
  }));
  const json = { ...jobView(), array: '0-1', taskCount: 2, files: {}, hasItems: true };
  const logs = (text: string) => (asked: Asked) => ({
    text: asked.query['stream'] === 'stdout' ? text : '',
  });
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json }),
    'GET /v1/jobs/42/tasks': () => ({ json: { tasks, next: null } }),
    'GET /v1/jobs/42[0]/logs': logs('x\n'),
    'GET /v1/jobs/42[1]/logs': logs('y\n'),
    'POST /v1/jobs': () => ({ json: { jobId: 42, taskCount: 2, directory: '/', again: false } }),
    'GET /v1/jobs/42/wait': () => ({ json: { job: doneJob('completed'), task: null } }),
  });
  assert.equal((await head.weft('logs', '42')).out, '0 lr=0.0 n=a: x\n1 lr=0.1 n=a: y\n');
  const { out } = await head.weft('job', '42', '--tasks');
  assert.match(out, /^TASK +VALUES +STATE.*\n42\[0\] +lr=0\.0 n=a +done/);
  const items = JSON.parse((await head.weft('job', '42', '--tasks', '-o', 'json')).out);
  assert.deepEqual(items[1].item, { lr: '0.1', n: 'a' });
  const followed = await head.weft('run', '-f', '--sweep', 'lr=0.0,0.1', 'x {lr}');
  assert.deepEqual(followed.out.split('\n').sort(), ['', '0 lr=0.0: x', '1 lr=0.1: y']);
});

test('a count of tasks that failed stands beside those that are done', async () => {
  const outcomeCounts = { completed: 2, failed: 1, cancelled: 1 };
  const job = jobView({ array: '0-9', taskCount: 10, taskCounts: { done: 4 }, outcomeCounts });
  await using head = await FakeHead.start({
    'GET /v1/jobs': () => ({ json: { jobs: [job], next: null } }),
  });
  assert.match((await head.weft('jobs')).out, / 2\/10, 1 failed, 1 cancelled /);
});

test('of many tasks the output of those that never started is not asked for', async () => {
  const done = (index: number, epoch: number, kind: string) => {
    return { id: `42[${index}]`, index, epoch, outcome: { kind } };
  };
  const waits = { id: '42[4]', index: 4, epoch: 0, outcome: null };
  const begun = [done(1, 1, 'cancelled'), done(2, 2, 'completed'), done(3, 0, 'build_failed')];
  let tasks: object[] = [done(0, 0, 'cancelled'), ...begun, waits];
  const job = { ...jobView(), array: '0-99', files: {}, taskCount: 100, outcomeCounts: {} };
  const said = { text: 'x\n' };
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: job }),
    'GET /v1/jobs/42/tasks': () => ({ json: { tasks, next: null } }),
    ...Object.fromEntries(begun.map(({ id }) => [`GET /v1/jobs/${id}/logs`, () => said])),
  });
  assert.deepEqual(await head.weft('logs', '-o', '42'), {
    code: 0,
    out: '1: x\n2: x\n3: x\n',
    error: '',
  });
  tasks = [waits];
  const error = 'weft: no task of job 42 has started\n';
  assert.deepEqual(await head.weft('logs', '42'), { code: 0, out: '', error });
});

test('a job that asked for no memory is shown without a limit, others with theirs', async () => {
  const memoryNow = { bytes: 1_048_576, peakBytes: 2_097_152 };
  for (const [memoryBytes, words] of [
    [0, 'no limit'],
    [1_073_741_824, 'limit 1G per node'],
  ] as const) {
    const view = { ...jobView({ state: 'running' }), ...DETAIL, memoryNow };
    const request = { ...view.request, perNode: { ...view.request.perNode, memoryBytes } };
    await using head = await FakeHead.start({
      'GET /v1/jobs/42': () => ({ json: { ...view, request } }),
    });
    const { out } = await head.weft('job', '42');
    assert.match(out, new RegExp(`^Memory: +1M now, 2M at most, ${words}$`, 'm'));
  }
});

test('memory of several tasks or nodes is added up, and its peak is that of one', async () => {
  const memoryNow = { bytes: 2_097_152, peakBytes: 1_048_576 };
  const usage = { userUs: 2_000_000, systemUs: 0, memoryPeakBytes: 1_048_576 };
  for (const [array, nodeCount, of] of [
    ['0-3', 1, ' in one task'],
    [null, 2, ' on one node'],
    ['0-3', 2, ' in one task on one node'],
  ] as const) {
    const view = { ...jobView({ state: 'running' }), ...DETAIL, memoryNow, usage, array };
    const json = { ...view, request: { ...view.request, nodeCount } };
    await using head = await FakeHead.start({ 'GET /v1/jobs/42': () => ({ json }) });
    const { out } = await head.weft('job', '42');
    assert.match(out, new RegExp(`^Memory: +2M now in all, 1M at most${of}, limit `, 'm'));
    assert.match(out, new RegExp(`^Used: +2s cpu time, 1M memory at most${of}$`, 'm'));
  }
});

test('a job whose output is refused is not told to wait for its head', async () => {
  const refused = refusal('job.not_owner', 'permission_denied', 'Job 42 belongs to bob.');
  const shown = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  let asked = 0;
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: { ...jobView({ state: 'running' }), ...DETAIL } }),
    'GET /v1/jobs/42/logs': ({ query }) => {
      if (query['stream'] === 'stdout') return { status: 403, json: refused };
      asked += 1;
      if (asked === 1) return { text: '', after: shown.promise };
      again.resolve();
      return { text: '' };
    },
  });
  // The cut of the other stream comes when the command has ended, and its words with it.
  let error = '';
  const take = (part: string) => {
    error += part;
  };
  const said = await head.weftHeard(take, 'attach', '42');
  const turns = async () => {
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
  };
  await turns();
  shown.resolve();
  // One that tries again is answered, so that it ends.
  if (error.includes('Waiting')) await again.promise.then(turns);
  assert.deepEqual([said.code, error], [4, 'weft: Job 42 belongs to bob.\n']);
});
