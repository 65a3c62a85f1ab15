// `weft replay` and `weft simulate`: what is read, printed and written.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { capture, FakeHead, type Said } from './fake-head.ts';
import { nodeView } from './views.ts';

const REST = '-1 -1 -1 -1 -1 -1 -1 -1 -1';

/** Id, submit, run, size and estimate, in seconds; A is in B's way, C fits beside A. */
const ABC = ['1 0 10 3 10', '2 1 5 4 5', '3 2 8 1 8'].map(swf).join('\n');

function swf(words: string): string {
  const [id, submit, run, size, estimate] = words.split(' ');
  return `${id} ${submit} -1 ${run} ${size} -1 -1 ${size} ${estimate} ${REST}`;
}

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

function weft(cwd: string, ...argv: string[]): Promise<Said> {
  return capture(cwd, { program: 'weft', argv, cwd }, runWeft);
}

for (const packed of [false, true]) {
  test(`a trace is replayed${packed ? ', packed too' : ''}: figures, jobs, picture`, async (t) => {
    const cwd = folder(t);
    writeFileSync(path.join(cwd, 't.swf'), packed ? gzipSync(ABC) : ABC);
    const out = ['--jobs-out', 'j.csv', '--plot', 'p.svg', '-o', 'json'];
    const said = await weft(cwd, 'replay', 't.swf', '--procs', '4', '--policy', 'easy', ...out);
    assert.deepEqual([said.code, said.error], [0, '']);
    const { planCpuMs, ...report } = JSON.parse(said.out) as Record<string, unknown>;
    assert.equal(typeof planCpuMs, 'number');
    assert.deepEqual(report, {
      jobs: 3,
      dropped: 0,
      brokenLines: 0,
      guessedLimits: 0,
      meanWaitS: 3,
      p95WaitS: 9,
      meanBoundedSlowdown: (1 + 14 / 10 + 1) / 3,
      utilisation: (30 + 20 + 8) / 60,
      makespanS: 15,
      unheeded: [],
      planCycles: 5,
      policy: 'easy',
      procs: 4,
    });
    assert.equal(
      readFileSync(path.join(cwd, 'j.csv'), 'utf8'),
      'job_id,submit_s,start_s,end_s,procs\n1,0,0,10,3\n2,1,10,15,4\n3,2,2,10,1\n',
    );
    const picture = readFileSync(path.join(cwd, 'p.svg'), 'utf8');
    assert.match(picture, /^<svg .*t\.swf: 3 jobs on 4 processors by easy/);
    assert.match(picture, /jobs waiting<\/text>[\s\S]*<\/svg>\n$/);
  });
}

test('the figures in words, and what was left out', async (t) => {
  const cwd = folder(t);
  writeFileSync(
    path.join(cwd, 't.swf'),
    `${ABC}\n${swf('4 3 0 1 1')}\n${swf('5 3 1 5 1')}\noops\n`,
  );
  const said = await weft(cwd, 'replay', 't.swf', '--procs', '4', '--policy', 'fcfs');
  assert.equal(said.code, 0);
  const [title, leftOut] = said.out.split('\n');
  assert.equal(title, 't.swf: 3 jobs on 4 processors by fifo');
  const why = '1 without size or run time, 1 too large for the machine, 1 broken lines';
  assert.equal(leftOut, `Left out: ${why}.`);
  assert.equal(said.error, 'weft: t.swf:6: 1 fields, a job has 18; the line is skipped\n');
});

test('of many broken lines some are told and the rest counted', async (t) => {
  const cwd = folder(t);
  writeFileSync(path.join(cwd, 't.swf'), `${'x\n'.repeat(25)}${ABC}`);
  const said = await weft(cwd, 'replay', 't.swf', '--procs', '4', '-o', 'json');
  assert.equal((JSON.parse(said.out) as { brokenLines: number }).brokenLines, 25);
  const lines = said.error.trim().split('\n');
  assert.equal(lines.length, 11);
  assert.equal(lines[10], 'weft: t.swf: 15 more broken lines are skipped');
});

test('a trace without jobs, and one that cannot be read, are clear errors', async (t) => {
  const cwd = folder(t);
  writeFileSync(path.join(cwd, 'none.swf'), '; only a header\n');
  writeFileSync(path.join(cwd, 'broken.gz'), gzipSync(ABC).subarray(0, 20));
  const empty = await weft(cwd, 'replay', 'none.swf', '--procs', '4');
  assert.equal(empty.code, 2);
  assert.match(empty.error, /No job of none\.swf can be replayed: 0 without size/); // trace.empty
  for (const file of ['broken.gz', 'missing.swf', '.']) {
    const said = await weft(cwd, 'replay', file, '--procs', '4');
    assert.equal(said.code, 2); // trace.unreadable
    assert.ok(said.error.startsWith(`weft: Cannot read the trace ${file}: `), said.error);
  }
});

test('what is asked for wrongly is told by its option', async (t) => {
  const cwd = folder(t);
  writeFileSync(path.join(cwd, 't.swf'), ABC);
  const rows: readonly (readonly [string, RegExp])[] = [
    ['t.swf', /--procs N, or --nodes N --cpus C/],
    ['--procs 4', /name a trace, or --log/],
    ['t.swf --procs 0', /--procs: '0'/],
    ['t.swf --procs 4 --nodes 2', /--procs excludes/],
    ['t.swf --nodes 2', /--nodes and --cpus need each other/],
    ['t.swf --nodes 2 --cpus 2 --memory soon', /--memory: /],
    ['t.swf --procs 4 --policy esy', /'esy' is unknown\.\n.*'easy'/],
    ['t.swf --procs 4 --depth none', /--depth: 'none'/],
    ['t.swf --procs 4 --seed -1', /--seed: '-1'/],
    ['t.swf --procs 4 -o yaml', /--output: 'yaml'/],
    [
      't.swf --procs 4 --plot missing/p.svg',
      /--plot: cannot write missing.p\.svg: no such file or directory/,
    ],
    ['t.swf --log', /--log .* takes no trace/],
  ];
  for (const [words, message] of rows) {
    const said = await weft(cwd, 'replay', ...words.split(' '));
    assert.equal(said.code, 2, words);
    assert.match(said.error, message);
  }
  for (const shapes of ['1y4:10m', '1x4', '5x1:1h', '1x4:soon']) {
    const said = await weft(cwd, 'simulate', '--nodes', '4', '--cpus', '4', '--shapes', shapes);
    assert.equal(said.code, 2, shapes);
    assert.match(said.error, /--shapes: /);
  }
});

test('a made-up workload is the same for the same seed, and another for another', async (t) => {
  const cwd = folder(t);
  const jobsOf = async (...more: string[]): Promise<string> => {
    const machine = ['--nodes', '4', '--cpus', '8', '--memory', '8G', '--jobs', '60'];
    const said = await weft(cwd, 'simulate', ...machine, '--jobs-out', 'j.csv', ...more);
    assert.equal(said.code, 0, said.error);
    return readFileSync(path.join(cwd, 'j.csv'), 'utf8');
  };
  const first = await jobsOf('--seed', '3');
  assert.equal(first.split('\n').length, 62);
  assert.equal(await jobsOf('--seed', '3'), first);
  assert.notEqual(await jobsOf('--seed', '4'), first);
  const shaped = await jobsOf('--shapes', '1x4:10m,2x8:1h');
  const sizes = new Set(
    shaped
      .trim()
      .split('\n')
      .slice(1)
      .map((row) => row.split(',')[4]),
  );
  assert.deepEqual([...sizes].sort(), ['16', '4']);
});

test('shaken arrivals move by at most so much, the same for the same seed', async (t) => {
  const cwd = folder(t);
  writeFileSync(
    path.join(cwd, 't.swf'),
    [100, 200, 300].map((at) => swf(`${at} ${at} 9 1 9`)).join('\n'),
  );
  const submits = async (seed: string): Promise<Map<number, number>> => {
    const options = ['--procs', '4', '--shake', '20', '--seed', seed, '--jobs-out', 'j.csv'];
    assert.equal((await weft(cwd, 'replay', 't.swf', ...options)).code, 0);
    const rows = readFileSync(path.join(cwd, 'j.csv'), 'utf8').trim().split('\n').slice(1);
    return new Map(rows.map((row) => row.split(',').map(Number) as [number, number]));
  };
  const first = await submits('1');
  for (const [id, at] of first) assert.ok(Math.abs(id - at) <= 20 && id !== at, `${id} at ${at}`);
  assert.deepEqual(await submits('1'), first);
  assert.notDeepEqual(await submits('2'), first);
});

test("the cluster's history is replayed, by default on its own nodes", async (t) => {
  const pages = [
    {
      jobs: [historyJob(7, 2000, 2), historyJob(6, 1000, 2)],
      tasks: [historyTask(6, 0, 1000), historyTask(6, 1, null), historyTask(7, null, 3000)],
      next: 6,
    },
    { jobs: [historyJob(5, 0, 9)], tasks: [historyTask(5, null, 0)], next: null },
  ];
  const head = await FakeHead.start({
    'GET /v1/nodes': () => ({
      json: { nodes: [nodeView({ name: 'n1' }), nodeView({ name: 'n2' })] },
    }),
    'GET /v1/history': ({ query }) => ({ json: query['before'] === '6' ? pages[1] : pages[0] }),
  });
  t.after(() => head[Symbol.asyncDispose]());
  const file = path.join(head.directory, 'j.csv');
  const said = await head.weft(
    'replay',
    '--log',
    '--policy',
    'fifo',
    '--jobs-out',
    file,
    '-o',
    'json',
  );
  assert.equal(said.code, 0, said.error);
  const { jobs, dropped, procs } = JSON.parse(said.out) as Record<string, number>;
  assert.deepEqual({ jobs, dropped, procs }, { jobs: 2, dropped: 2, procs: 4 });
  const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1);
  // Two nodes of two cpus: both start at once, whatever really happened.
  assert.deepEqual(lines, ['6[0],1,1,11,2', '7,2,2,12,2']);
  const pooled = await head.weft('replay', '--log', '--procs', '2', '--jobs-out', file);
  assert.match(pooled.out, /^Not taken into account: partitions, labels, gpus, /m);
  assert.equal(pooled.code, 0, pooled.error);
  assert.match(readFileSync(file, 'utf8'), /\n7,2,11,21,2\n/);
});

test('the history is replayed with the time limits that the jobs had', async (t) => {
  const tenSeconds = (jobId: number) => historyTask(jobId, null, 100_000);
  const startsWith = async (...limits: (number | null)[]) => {
    // 1 holds half of the machine, 2 waits for all of it, 3 fits beside 1.
    const jobs = [historyJob(1, 0, 1), historyJob(2, 1000, 2), historyJob(3, 2000, 1)];
    const limited = jobs.map((job, at) => ({ ...job, walltimeMs: limits[at] }));
    const page = { jobs: limited, tasks: jobs.map(({ id }) => tenSeconds(id)), next: null };
    const head = await FakeHead.start({ 'GET /v1/history': () => ({ json: page }) });
    t.after(() => head[Symbol.asyncDispose]());
    const file = path.join(head.directory, 'j.csv');
    const said = await head.weft('replay', '--log', '--procs', '2', '--jobs-out', file);
    assert.equal(said.code, 0, said.error);
    const rows = readFileSync(file, 'utf8').trim().split('\n').slice(1);
    return rows.map((row) => Number(row.split(',')[2]));
  };
  // 3 ends by its limit before 1 does by its own, or it does not, or it may run for ever.
  assert.deepEqual(await startsWith(20_000, 20_000, 12_000), [0, 12, 2]);
  assert.deepEqual(await startsWith(20_000, 20_000, 60_000), [0, 10, 20]);
  assert.deepEqual(await startsWith(20_000, 20_000, null), [0, 10, 20]);
});

test('the tasks of an array that fill several pages are replayed all, in order', async (t) => {
  const array = { ...historyJob(4, 0, 1), taskCount: 3 };
  const head = await FakeHead.start({
    'GET /v1/history': ({ query }) => {
      const tasks = [historyTask(4, 0, 0), historyTask(4, 1, 0), historyTask(4, 2, 0)];
      return query['afterTask'] === '4.1.1'
        ? { json: { jobs: [array], tasks: tasks.slice(2), next: null, nextTask: null } }
        : { json: { jobs: [array], tasks: tasks.slice(0, 2), next: null, nextTask: '4.1.1' } };
    },
  });
  t.after(() => head[Symbol.asyncDispose]());
  const file = path.join(head.directory, 'j.csv');
  const said = await head.weft('replay', '--log', '--procs', '1', '--jobs-out', file);
  assert.equal(said.code, 0, said.error);
  const rows = readFileSync(file, 'utf8').trim().split('\n').slice(1);
  assert.deepEqual(rows, ['4[0],0,0,10,1', '4[1],0,10,20,1', '4[2],0,20,30,1']);
  const listed = await head.weft('history', '--tasks', '-o', 'name');
  assert.equal(listed.out, '4[0]#1\n4[1]#1\n4[2]#1\n');
});

test('what nobody has measured of a task is not shown as 0', async (t) => {
  const unmeasured = { ...historyTask(4, 1, 0), userUs: 0, systemUs: 0, memoryPeakBytes: 0 };
  const measured = { ...historyTask(4, 0, 0), userUs: 2e6, systemUs: 0, memoryPeakBytes: 1024 };
  const job = { ...historyJob(4, 0, 1), taskCount: 2 };
  const head = await FakeHead.start({
    'GET /v1/history': () => ({ json: { jobs: [job], tasks: [measured, unmeasured], next: null } }),
  });
  t.after(() => head[Symbol.asyncDispose]());
  const rows = async (...options: string[]) =>
    (await head.weft('history', '--tasks', ...options)).out.trim().split('\n').slice(1);
  const [first = '', second = ''] = await rows();
  assert.match(first, / 2s +1K/);
  assert.match(second, / - +-/);
  const cells = (await rows('-o', 'csv')).map((row) => row.split(',').slice(-3, -1));
  assert.deepEqual(cells, [
    ['2', '1024'],
    ['', ''],
  ]);
});

const COMPLETED = { kind: 'completed', exit: { code: 0 }, process: null, detail: null };

function historyJob(jobId: number, submittedAt: number, cpuCount: number) {
  return {
    id: jobId,
    name: 'j',
    owner: 'alice',
    partition: 'default',
    command: 'j',
    state: 'done',
    outcome: COMPLETED,
    taskCount: 1,
    submittedAt,
    startedAt: null,
    runStartedAt: null,
    endedAt: null,
    nodeCount: 1,
    cpuCount,
    memoryBytes: 1024,
    walltimeMs: null,
  };
}

/** Ten seconds long; null: it never started. */
function historyTask(jobId: number, index: number | null, startedAt: number | null) {
  return {
    id: index === null ? String(jobId) : `${jobId}[${index}]`,
    jobId,
    index,
    epoch: 1,
    final: true,
    outcome: COMPLETED,
    detail: null,
    nodes: ['n1'],
    startedAt,
    endedAt: (startedAt ?? 0) + 10_000,
    userUs: 0,
    systemUs: 0,
    memoryPeakBytes: 0,
  };
}

test('records of a sweep are named by the values of their tasks, and only these have a column of them', async (t) => {
  const [plain, other] = [historyTask(4, 0, 0), historyTask(4, 1, 0)];
  const job = { ...historyJob(4, 0, 1), taskCount: 2 };
  let tasks: readonly object[] = [plain, { ...other, item: { lr: '0.1', n: 'a b' } }];
  const head = await FakeHead.start({
    'GET /v1/history': () => ({ json: { jobs: [job], tasks, next: null } }),
  });
  t.after(() => head[Symbol.asyncDispose]());
  const { out } = await head.weft('history', '--tasks');
  assert.match(
    out,
    /^TASK +VALUES +OUTCOME.*\n4\[0\]#1 +completed.*\n4\[1\]#1 +lr=0\.1 n=a b +completed/,
  );
  tasks = [plain, other];
  assert.match((await head.weft('history', '--tasks')).out, /^TASK +OUTCOME/);
});
