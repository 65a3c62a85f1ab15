// Commands on batches of the cluster: what they send and what they print.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { BatchJobView, BatchView } from '../../../../../src/wings/batches/api/batches.ts';
import { FakeHead } from '../../../kernel/cli/fake-head.ts';

const BATCH: BatchView = {
  title: 'ann/sweep@2',
  namespace: 'ann',
  name: 'sweep',
  version: 2,
  owner: 'ann',
  origin: 'weft',
  state: 'running',
  outcome: null,
  jobCount: 4,
  jobIds: [7, 8],
  open: { running: 1, pending: 1 },
  ended: { completed: 1, failed: 1 },
  after: ['ann/mesh'],
  createdAt: 0,
  endedAt: null,
  failedBuilds: [],
};

const job = (name: string, more: Partial<BatchJobView> = {}): BatchJobView => ({
  name,
  number: 0,
  id: '7[0]',
  state: 'pending',
  outcome: null,
  detail: null,
  epoch: 0,
  nodes: [],
  startedAt: null,
  endedAt: null,
  exit: null,
  ...more,
});

const DONE: Partial<BatchJobView> = {
  state: 'done',
  outcome: 'failed',
  exit: { code: 3 },
  nodes: ['n1'],
};

test('batch list leaves out what is done, and other owners with --mine', async () => {
  const batches = [BATCH, { ...BATCH, title: 'bob/x', owner: 'bob', state: 'done' }];
  await using head = await FakeHead.start({
    'GET /v1/batches': () => ({ json: { batches } }),
    'GET /v1/whoami': () => ({ json: { name: 'ann', role: 'user' } }),
  });
  const { out } = await head.weft('batch', 'list');
  assert.match(
    out,
    /^BATCH +USER +STATE +JOBS +FAILED +RUNNING +TIME\nann\/sweep@2 +ann +running +1\/4 +1 +1 /,
  );
  assert.doesNotMatch(out, /bob/);
  assert.match((await head.weft('batch', 'list', '--all')).out, /bob\/x/);
  const mine = await head.weft('batch', 'list', '--all', '--mine', '-o', 'name');
  assert.equal(mine.out, 'ann/sweep@2\n');
});

test('a batch is found by its name beside the folder that its pull has made', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-pulled-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, 'ann', 'sweep'), { recursive: true });
  await using head = await FakeHead.start({
    'GET /v1/batches/ann/sweep': () => ({ json: BATCH }),
    'GET /v1/batches/ann/sweep/jobs': () => ({ json: { jobs: [], next: null } }),
  });
  const { code, out, error } = await head.weftIn(folder, 'batch', 'show', 'ann/sweep');
  assert.equal(code, 0, error);
  assert.match(out, /ann\/sweep@2/);
  const place = await head.weftIn(folder, 'batch', 'show', './ann');
  assert.equal(place.code, 2);
  assert.match(place.error, /ann: is a folder/);
});

test('[B13] batch show names what jobs have left outside, whether they failed or not', async () => {
  const unkept = 'not kept, as outside distribute_save/: run.log (1 file, 3 bytes)';
  const jobs = [
    job('good', { ...DONE, outcome: 'completed', exit: { code: 0 }, detail: unkept }),
    job('bad', { ...DONE, detail: `exited with code 3 on n1; ${unkept}` }),
    job('ended', { ...DONE, outcome: 'timeout', exit: null, detail: `its limit; ${unkept}` }),
    job('plain', { ...DONE, outcome: 'completed', exit: { code: 0 } }),
  ];
  await using head = await FakeHead.start({
    'GET /v1/batches/ann/sweep@2': () => ({ json: BATCH }),
    'GET /v1/batches/ann/sweep@2/jobs': () => ({ json: { jobs, next: null } }),
  });
  const { out } = await head.weft('batch', 'show', 'ann/sweep@2');
  const remarks = out
    .split('\n')
    .slice(-5)
    .map((line) => line.split(/ n1 +/)[1]);
  const [good, bad, ended] = [unkept, `exit 3; ${unkept}`, `its limit; ${unkept}`];
  assert.deepEqual(remarks, [good, bad, ended, 'exit 0', undefined]);
});

test('batch show names jobs whose numbers are in a row by the first and the last', async () => {
  const jobIds = [2, 3, 7, 8, 9, 10, 15, 20, 21, 22];
  await using head = await FakeHead.start({
    'GET /v1/batches/ann/sweep@2': () => ({ json: { ...BATCH, jobIds } }),
    'GET /v1/batches/ann/sweep@2/jobs': () => ({ json: { jobs: [], next: null } }),
  });
  const { out } = await head.weft('batch', 'show', 'ann/sweep@2');
  assert.match(out, /\nRuns as: +job 2, job 3, jobs 7 to 10, job 15, jobs 20 to 22\n/);
});

test('batch show says how it stands, and each of its jobs by name', async () => {
  const failedBuilds = [{ node: 'n1', id: '7[0]', epoch: 2 }];
  const notifications = [{ words: 'mail:ann@lab, when its batch is done' }];
  const jobs = [job('a', { ...DONE, id: '7[0]' }), job('b', { id: '8[0]' })];
  await using head = await FakeHead.start({
    'GET /v1/batches/ann/sweep@2': () => ({ json: { ...BATCH, failedBuilds, notifications } }),
    'GET /v1/batches/ann/sweep@2/jobs': () => ({ json: { jobs, next: null } }),
  });
  const { out, error } = await head.weft('batch', 'show', 'ann/sweep@2');
  assert.match(out, /Jobs: +1 of 4 jobs completed, 1 failed, 1 running, 1 pending\n/);
  assert.match(out, /Failed on n1: +its build; see `weft logs '7\[0\]' --stderr --epoch 2`\n/);
  assert.match(out, /After: +ann\/mesh\nRuns as: +job 7, job 8\n/);
  assert.match(out, /Notify: +mail:ann@lab, when its batch is done\n/);
  assert.match(out, /\na +7\[0\] +failed +- +n1 +exit 3\nb +8\[0\] +pending/);
  assert.match(error, /only 2 jobs shown; raise --limit/);
  const { out: json } = await head.weft('batch', 'show', 'ann/sweep@2', '-o', 'json');
  assert.deepEqual(JSON.parse(json), { ...BATCH, failedBuilds, notifications, jobs });
  const wrong = await head.weft('batch', 'show', 'sweep');
  assert.deepEqual(
    [wrong.code, /names no batch; write NAMESPACE\/NAME/.test(wrong.error)],
    [2, true],
  );
});

test('what acts on a batch says what has happened, and to which version', async () => {
  const title = 'ann/sweep@2';
  const submitted = { title, namespace: 'ann', name: 'sweep', version: 2 };
  await using head = await FakeHead.start({
    'POST /v1/batches/ann/sweep/cancel': () => ({ json: { title, count: 2 } }),
    'POST /v1/batches/ann/sweep/rebuild': () => ({ json: { title, count: 1 } }),
    'POST /v1/batches/ann/sweep/retry': () => ({
      json: { ...submitted, jobCount: 1, again: false },
    }),
    'DELETE /v1/batches/ann/sweep': () => ({ json: { title, count: 1 } }),
  });
  const said = async (verb: string) => (await head.weft('batch', verb, 'ann/sweep')).out;
  assert.equal(await said('cancel'), '2 jobs of ann/sweep@2 are cancelled.\n');
  assert.equal(await said('retry'), '1 job of ann/sweep@2 runs again.\n');
  assert.equal(await said('rebuild'), 'The solver of ann/sweep@2 is built anew on every node.\n');
  assert.equal(await said('remove'), 'Batch ann/sweep@2 is removed.\n');
});

test('batch remove says what goes with it, and before that when asked', async () => {
  const title = 'ann/sweep@2';
  const kept = { tasks: 2, files: 3, bytes: 4096, leftOut: 1, more: false };
  const asked: unknown[] = [];
  await using head = await FakeHead.start({
    'GET /v1/batches/ann/sweep': () => ({ json: { ...BATCH, outputs: kept } }),
    'GET /v1/batches/ann/sweep/jobs': () => ({ json: { jobs: [job('a')], next: null } }),
    'DELETE /v1/batches/ann/sweep': ({ query }) => {
      asked.push(query);
      const { tasks, files, bytes } = kept;
      const none = { tasks: 0, files: 0, bytes: 0 };
      return {
        json: { title, count: 1, removed: query['keep'] ? none : { tasks, files, bytes } },
      };
    },
  });
  const said = async (...args: string[]) =>
    (await head.weft('batch', 'remove', 'ann/sweep', ...args)).out;
  const files = 'and with it 3 files with 4K of 2 jobs';
  assert.equal(await said('--dry-run'), `Batch ${title} would be removed, ${files}.\n`);
  assert.deepEqual(asked, []);
  assert.equal(await said(), `Batch ${title} is removed, ${files}.\n`);
  assert.equal(await said('--keep-archive'), `Batch ${title} is removed.\n`);
  assert.deepEqual(asked, [{}, { keep: 'true' }]);
  const { out } = await head.weft('batch', 'show', 'ann/sweep');
  assert.match(out, /Kept: +3 files, 4K of 2 jobs; 1 file could not be kept; weft batch pull ann/);
});

test('batch logs finds the job by its name, and proposes one', async () => {
  await using head = await FakeHead.start({
    'GET /v1/batches/ann/sweep/jobs': ({ query }) => {
      const { name = null } = query;
      const all = [job('re100'), job('re200')];
      return {
        json: { jobs: all.filter((one) => name === null || one.name === name), next: null },
      };
    },
  });
  const { code, error } = await head.weft('batch', 'logs', 'ann/sweep', 're10');
  assert.deepEqual(
    [code, error.split('\n')[0]],
    [2, "weft: ann/sweep has no job 're10'. Did you mean 're100'?"],
  );
});

test('batch submit sends the files, then all jobs at once', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-batch-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'weft.batch.yaml');
  const yaml =
    'solver: {build: build.py}\nfiles: [mesh]\nafter: [ann/first]\njobs: [{name: a, run: job.py}]\n';
  writeFileSync(file, `namespace: ann\nname: sweep\n${yaml}`);
  for (const name of ['build.py', 'job.py', 'mesh']) writeFileSync(path.join(folder, name), name);
  const submitted = { title: 'ann/sweep@2', namespace: 'ann', name: 'sweep', version: 2 };
  await using head = await FakeHead.start({
    'POST /v1/blobs/lacking': () => ({ json: { lacking: [] } }),
    'POST /v1/batches': () => ({ json: { ...submitted, jobCount: 1, again: false } }),
  });
  const { out, error } = await head.weft('batch', 'submit', file, '--new-version');
  assert.deepEqual([out, error], ['ann/sweep@2: 1 job submitted.\n', '']);
  const [asked, sent] = head.work;
  assert.ok(asked !== undefined && sent !== undefined);
  const { hashes } = asked.body as { hashes: string[] };
  const body = sent.body as Record<string, unknown>;
  const { mode, after, build, parts } = body;
  assert.deepEqual([mode, after], ['new_version', ['ann/first']]);
  assert.match(String(build), /^[0-9a-f]{40}$/);
  assert.match(String(sent.headers['idempotency-key']), /^[0-9a-f]{32}$/);
  const [part] = parts as { submission: Record<string, unknown>; numbers: number[] }[];
  const { staging, each } = part?.submission ?? {};
  assert.deepEqual(part?.numbers, [0]);
  assert.deepEqual(each, [{ name: 'a', line: 'python3 job.py "$cpus"' }]);
  assert.equal((staging as { inputs: string }).inputs, hashes.at(-1), 'the list, after the files');
  assert.equal(hashes.length, 4);
  const both = await head.weft('batch', 'submit', file, '--resume', '--new-version');
  assert.deepEqual([both.code, head.work.length], [2, 2]);
});

test('a build that failed is named with its log, where jobs have none', async () => {
  const failedBuilds = [
    { node: 'n1', id: '26[1]', epoch: 1 },
    { node: 'n2', id: '26[2]', epoch: 1 },
  ];
  const ended = { state: 'done', outcome: 'build_failed', open: {}, ended: { build_failed: 4 } };
  const failed = { state: 'done', outcome: 'build_failed' } as const;
  await using head = await FakeHead.start({
    'GET /v1/batches/ann/sweep': () => ({ json: { ...BATCH, ...ended, failedBuilds } }),
    'GET /v1/batches/ann/sweep/jobs': () => ({ json: { jobs: [job('a', failed)], next: null } }),
  });
  const build = "its build failed on n1 and 1 other node: weft logs '26[1]' --stderr --epoch 1\n";
  const logs = await head.weft('batch', 'logs', 'ann/sweep', 'a');
  assert.deepEqual(logs, { code: 123, out: '', error: `weft: a has not run; ${build}` });
  const waited = await head.weft('batch', 'wait', 'ann/sweep');
  assert.deepEqual([waited.code, waited.error], [1, `weft: ${build}`]);
  const { out } = await head.weft('batch', 'show', 'ann/sweep');
  assert.match(out, /Failed on n1: +its build; see `weft logs '26\[1\]' --stderr --epoch 1`/);
});

test('batch wait follows a batch to its end, and says how it ended', async () => {
  const over = { ...BATCH, state: 'done', open: {}, ended: { completed: 3, failed: 1 } };
  const views = [
    { ...BATCH, jobIds: [7] },
    { ...BATCH, jobIds: [7, 8] },
    { ...over, outcome: 'failed' },
  ];
  await using head = await FakeHead.start({
    'GET /v1/batches/ann/sweep': () => ({ json: views.shift() }),
    'GET /v1/jobs/7/wait': () => ({ json: {} }),
    'GET /v1/jobs/8/wait': () => ({ json: {} }),
  });
  const { code, out } = await head.weft('batch', 'wait', 'ann/sweep');
  assert.deepEqual(
    [code, out],
    [1, 'ann/sweep@2 ended as failed: 3 of 4 jobs completed, 1 failed\n'],
  );
  assert.deepEqual(
    head.work.map((asked) => asked.path).filter((at) => at.endsWith('wait')),
    ['/v1/jobs/7/wait', '/v1/jobs/8/wait'],
  );
});
