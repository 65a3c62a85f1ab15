// `distribute add`, `server-status` and `kill`: batches of the cluster by the seed's words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchJobView, BatchView } from '../../../../../src/wings/batches/api/batches.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { type Answers, FakeHead, refusal } from '../../../kernel/cli/fake-head.ts';
import { nodeView } from '../../../kernel/cli/views.ts';
import { typed } from './typed.ts';

function batch(title: string, state: BatchView['state'] = 'running'): BatchView {
  const [namespace = '', rest = ''] = title.split('/');
  const [name = '', version = '1'] = rest.split('@');
  return {
    title,
    namespace,
    name,
    version: Number(version),
    owner: 'ann',
    origin: 'distribute',
    state,
    outcome: state === 'done' ? 'completed' : null,
    jobCount: 4,
    jobIds: [7],
    open: {},
    ended: {},
    after: [],
    createdAt: 0,
    endedAt: null,
    failedBuilds: [],
  };
}

function job(name: string, more: Partial<BatchJobView> = {}): BatchJobView {
  return {
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
  };
}

const listing = (...batches: BatchView[]): Answers => ({
  'GET /v1/batches': () => ({ json: { batches } }),
});

const FILES = {
  'distribute-jobs.yaml': `meta: {namespace: ann, batch_name: sweep, capabilities: [python3]}
python:
  initialize: {build_file: build.py}
  jobs: [{name: a, file: job.py}, {name: b, file: job.py}]
`,
  'build.py': '',
  'job.py': '',
};

function nodesOf(...labels: string[][]): Answers {
  const nodes = labels.map((of, at) => nodeView({ name: `n${at + 1}`, labels: of }));
  const submitted = { title: 'ann/sweep', namespace: 'ann', name: 'sweep', version: 1 };
  return {
    'GET /v1/nodes': () => ({ json: { nodes } }),
    'POST /v1/blobs/lacking': () => ({ json: { lacking: [] } }),
    'POST /v1/batches': () => ({ json: { ...submitted, jobCount: 2, again: false } }),
  };
}

test('add says how many nodes could run it, and submits it', async (context) => {
  await using head = await FakeHead.start(nodesOf(['python3'], []));
  const cwd = makeFolder(context, FILES);
  const { code, out, error } = await typed(head, cwd, 'add', '--ip', '127.0.0.1');
  assert.deepEqual([code, error], [0, '']);
  assert.equal(out, '1 of 2 nodes could run it.\nann/sweep: 2 jobs submitted.\n');
  const body = head.work.at(-1)?.body as Record<string, unknown>;
  assert.deepEqual([body['namespace'], body['name'], body['mode']], ['ann', 'sweep', 'new']);
  assert.equal(body['origin'], 'distribute');
  await typed(head, cwd, 'add', 'distribute-jobs.yaml', '--resume');
  const resumed = head.work.at(-1)?.body as Record<string, unknown>;
  assert.equal(resumed['mode'], 'resume');
});

test('add goes on where the head tells nobody by Matrix, and says so', async (context) => {
  const answers = nodesOf(['python3']);
  const told: unknown[] = [];
  await using head = await FakeHead.start({
    ...answers,
    'POST /v1/batches': (request) => {
      const { parts } = request.body as { parts: { submission: { notify?: unknown } }[] };
      told.push(parts[0]?.submission.notify);
      if (told.length > 1) return answers['POST /v1/batches']?.(request) ?? {};
      const words = ['notification.not_set_up', 'failed_precondition', 'No Matrix here.'] as const;
      return { status: 412, json: refusal(...words) };
    },
  });
  const room = '!abc123:matrix.example.org';
  const file = FILES['distribute-jobs.yaml'].replace('[python3]', `[python3], matrix: "${room}"`);
  const cwd = makeFolder(context, { ...FILES, 'distribute-jobs.yaml': file });
  const { code, out, error } = await typed(head, cwd, 'add');
  assert.equal(code, 0, error);
  assert.match(error, /No Matrix here\. Nobody will be notified of this batch\./);
  assert.match(out, /2 jobs submitted/);
  assert.deepEqual(told, [[`matrix:${room}`], undefined]);
});

test('add --dry submits nothing, --show-caps lists capabilities', async (context) => {
  await using head = await FakeHead.start(nodesOf(['python3', 'gpu'], ['x']));
  const cwd = makeFolder(context, FILES);
  const { code, out } = await typed(head, cwd, 'add', '-d', '-s');
  assert.equal(code, 0);
  assert.deepEqual(out.trimEnd().split('\n'), [
    'n1: python3, gpu',
    'n2: x',
    '1 of 2 nodes could run it.',
    'ann/sweep: 2 jobs; nothing is submitted.',
  ]);
  assert.deepEqual(
    head.work.map((asked) => asked.path),
    ['/v1/nodes'],
  );
});

test('add refuses what no node can run, and what is wrong, before anything is sent', async (context) => {
  await using head = await FakeHead.start(nodesOf(['x'], []));
  const cwd = makeFolder(context, { ...FILES, 'wrong.yaml': 'meta: {}\npython: {jobs: []}\n' });
  const none = await typed(head, cwd, 'add');
  assert.deepEqual([none.code, none.out], [2, '']);
  assert.match(none.error, /0 of 2 nodes could run it; none has python3\n.*weft node label/);
  const wrong = await typed(head, cwd, 'add', 'wrong.yaml');
  assert.equal(wrong.code, 2);
  assert.match(wrong.error, /wrong\.yaml:1:\d+: meta/);
  const missing = await typed(head, cwd, 'add', 'no.yaml');
  assert.match(missing.error, /no\.yaml: no such file/);
  assert.ok(head.work.every(({ method }) => method === 'GET'));
});

test('server-status tells what is left, what runs where and for how long, and what waits', async () => {
  const startedAt = Date.now() - (3 * 3600 + 4 * 60 + 5) * 1000;
  const jobs = [
    job('re100', { state: 'done', outcome: 'completed' }),
    job('re200', { state: 'running', nodes: ['lab1'], startedAt }),
    job('re3000', { state: 'staging_in', nodes: ['lab2'], startedAt }),
    job('re400'),
    // It ran on a node that is gone.
    job('re500', { startedAt }),
  ];
  await using head = await FakeHead.start({
    ...listing(batch('ann/new', 'pending'), batch('ann/old', 'done'), batch('ann/sweep@2')),
    'GET /v1/batches/ann/sweep@2/jobs': () => ({ json: { jobs, next: null } }),
    'GET /v1/batches/ann/new/jobs': () => ({ json: { jobs: [job('a')], next: null } }),
  });
  const { code, out, error } = await typed(head, '/work', 'server-status', '--ip', '127.0.0.1');
  assert.deepEqual([code, error], [0, '']);
  assert.deepEqual(
    out
      .trimEnd()
      .replaceAll(/:0[5-9]s/g, ':05s')
      .split('\n'),
    [
      'ann/sweep@2: 4 of 5 jobs left',
      '  re200   lab1  03h:04m:05s',
      '  re3000  lab2  03h:04m:05s  staging_in',
      '  waiting: re400, re500',
      'ann/new: 1 of 1 job left',
      '  waiting: a',
    ],
  );
});

test('server-status prints nothing when nothing waits or runs, and says so beside', async () => {
  await using head = await FakeHead.start(listing(batch('ann/old', 'done')));
  const said = await typed(head, '/work', 'server-status');
  assert.deepEqual(said, { code: 0, out: '', error: 'distribute: no batch waits or runs\n' });
});

test('kill takes the name alone, with its namespace, or with its version', async () => {
  const cancelled: string[] = [];
  const cancel = (title: string) => () => {
    cancelled.push(title);
    return { json: { title: 'ann/sweep', count: 2 } };
  };
  await using head = await FakeHead.start({
    ...listing(batch('ann/a@2'), batch('ann/a', 'done'), batch('bob/b')),
    'POST /v1/batches/ann/a@2/cancel': cancel('ann/a@2'),
    'POST /v1/batches/bob/b/cancel': cancel('bob/b'),
  });
  for (const name of ['a', 'ann/a@2', 'a@2', 'b', 'bob/b']) {
    const { code, out } = await typed(head, '/work', 'kill', '--ip', '127.0.0.1', name);
    assert.equal(code, 0);
    assert.match(out, /^2 jobs of \w+\/\S+ are cancelled\.\n$/);
  }
  assert.deepEqual(cancelled, ['ann/a@2', 'ann/a@2', 'ann/a@2', 'bob/b', 'bob/b']);
});

test('kill never takes the first of several, and its exit codes are honest', async () => {
  await using head = await FakeHead.start({
    ...listing(batch('ann/a'), batch('bob/a'), batch('ann/over', 'done')),
    'POST /v1/batches/ann/over/cancel': () => ({ json: { title: 'ann/over', count: 0 } }),
  });
  const two = await typed(head, '/work', 'kill', 'a');
  assert.equal(two.code, 2);
  assert.match(two.error, /several batches are called a: ann\/a, bob\/a; write one of these/);
  const over = await typed(head, '/work', 'kill', 'over');
  assert.deepEqual([over.code, over.out], [5, '']);
  assert.equal(over.error, 'distribute: no job of ann/over waits or runs\n');
  const none = await typed(head, '/work', 'kill', 'nothing');
  assert.deepEqual([none.code, none.error], [3, 'distribute: There is no batch nothing.\n']);
});
