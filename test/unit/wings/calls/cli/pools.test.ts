// `weft pool`: what is sent, and what is said.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PoolView } from '../../../../../src/wings/calls/api/pools.ts';
import { type Answers, FakeHead } from '../../../kernel/cli/fake-head.ts';

const POOL: PoolView = {
  id: 7,
  name: 'sums',
  owner: 'ann',
  state: 'running',
  outcome: null,
  min: 1,
  max: 8,
  idleMs: 60_000,
  temporary: false,
  target: 4,
  workers: { running: 2, starting: 1 },
  reason: { kind: 'resources', words: 'no cpu is free' },
  calls: { clients: 1, workers: 2, waiting: 9, running: 2, done: 70, failed: 68 },
  losses: 1,
  image: { kind: 'podman', name: 'lab/node:24' },
  python: null,
  perWorker: { cpuCount: 2, memoryBytes: 0, gpuCount: 0, counted: {} },
  partition: 'default',
  submittedAt: 0,
  endedAt: null,
};

const STARTED: Answers = {
  'POST /v1/pools': () => ({ json: { jobId: 7, name: null, again: false } }),
};

test('pool start sends what each worker gets, and how many there are', async () => {
  await using head = await FakeHead.start(STARTED);
  const ranged = ['--name', 'sums', '--min', '1', '--max', '8', '--idle', '2m'];
  const first = await head.weft(
    'pool',
    'start',
    ...ranged,
    '--cpus',
    '2',
    '-t',
    '1h',
    '--clean-env',
  );
  assert.equal(first.out, 'Pool 7 (sums) is started: 1 to 8 workers.\n');
  const fixed = await head.weft(
    'pool',
    'start',
    '-n',
    '4',
    '--private',
    '--clean-env',
    '--recycle-after',
    '1000',
    '--recycle-above',
    '2G',
  );
  assert.equal(fixed.out, 'Pool 7 is started: 4 workers.\n');
  const [one, two] = head.work;
  assert.ok(one !== undefined && two !== undefined);
  assert.match(String(one.headers['idempotency-key']), /./);
  const { umask: _, directory, ...body } = one.body as Record<string, unknown>;
  assert.deepEqual(body, {
    name: 'sums',
    min: 1,
    max: 8,
    idleMs: 120_000,
    environment: {},
    cpuCount: 2,
    walltimeMs: 3_600_000,
  });
  assert.equal((directory as { kind: string }).kind, 'auto');
  const { umask: __, ...other } = two.body as Record<string, unknown>;
  assert.deepEqual(other, {
    min: 4,
    max: 4,
    directory: { kind: 'private' },
    environment: {},
    recycle: { calls: 1000, bytes: 2_147_483_648 },
  });
});

test("[K14] pool start sends the image of its workers, which is docker's unless said", async () => {
  await using head = await FakeHead.start(STARTED);
  const start = ['pool', 'start', '-n', '1', '--clean-env', '--image', 'lab/node:24'];
  for (const engine of [[], ['--engine', 'podman']]) {
    const { code, error } = await head.weft(...start, ...engine);
    assert.equal(code, 0, error);
  }
  const images = head.work.map(({ body }) => (body as { image: unknown }).image);
  assert.deepEqual(images, [
    { kind: 'docker', name: 'lab/node:24' },
    { kind: 'podman', name: 'lab/node:24' },
  ]);
});

test('[K15] pool start sends the interpreter for functions of Python programs', async () => {
  await using head = await FakeHead.start(STARTED);
  const { code, error } = await head.weft('pool', 'start', '-n', '1', '--python', 'python3.12');
  assert.equal(code, 0, error);
  const sent = head.work.map(({ body }) => (body as { python: unknown }).python);
  assert.deepEqual(sent, ['python3.12']);
});

test('pool start and scale refuse numbers that cannot be, and ask for some', async () => {
  await using head = await FakeHead.start(STARTED);
  const wrong: [string[], RegExp][] = [
    [['start'], /^weft: say how many workers: -n COUNT, or --max COUNT/],
    [['start', '-n', '4', '--max', '5'], /^weft: --workers says how many there are; leave/],
    [['start', '--min', '5', '--max', '4'], /^weft: --min: 5 is more than --max, which is 4/],
    [['start', '-n', '0'], /^weft: --workers: '0' is less than 1/],
    [['start', '-n', '1', '--recycle-after', '0'], /^weft: --recycle-after: '0' is less than 1/],
    [['start', '-n', '1', '--image', '-x'], /^weft: --image: '-x' is not the name of an image/],
    [['start', '-n', '1', '--engine', 'podman'], /^weft: --engine says what runs an image; add/],
    [['start', '-n', '1', '--python', './p'], /^weft: --python: '\.\/p' is no interpreter; write/],
    [['scale', '7'], /^weft: say what is to change/],
  ];
  for (const [words, message] of wrong) {
    const { code, error } = await head.weft('pool', ...words);
    assert.equal(code, 2, words.join(' '));
    assert.match(error, message);
  }
  assert.equal(head.work.length, 0);
});

test('pool list and show say how many workers there are, and why not more', async () => {
  const answers = { 'GET /v1/pools': () => ({ json: { pools: [POOL] } }) };
  await using head = await FakeHead.start({
    ...answers,
    'GET /v1/pools/sums': () => ({ json: POOL }),
  });
  const { out } = await head.weft('pool', 'list');
  assert.match(out, /POOL +NAME +USER +STATE +WORKERS +RANGE/);
  assert.match(out, /7 +sums +ann +running +3\/4 +1-8 .*no cpu is free/);
  const shown = await head.weft('pool', 'show', 'sums');
  assert.match(shown.out, /^Pool: +7 \(sums\)\n/);
  assert.match(shown.out, /Workers: +3 of 4: 2 running, 1 starting\nRange: +1 to 8 workers\n/);
  assert.match(shown.out, /Image: +lab\/node:24 \(podman\)\n/);
  assert.match(shown.out, /Lost: +1 worker\n/);
  assert.deepEqual(JSON.parse((await head.weft('pool', 'show', 'sums', '-o', 'json')).out), POOL);
});

test('pool scale and stop name the pool as it was named', async () => {
  await using head = await FakeHead.start({
    'PATCH /v1/pools/sums': () => ({ json: { ...POOL, max: 16 } }),
    'DELETE /v1/pools/sums': () => ({ json: { count: 3 } }),
  });
  const scaled = await head.weft('pool', 'scale', 'sums', '--max', '16');
  assert.equal(scaled.out, 'Pool sums has 1 to 16 workers from now on.\n');
  assert.deepEqual(head.work[0]?.body, { max: 16 });
  assert.equal((await head.weft('pool', 'stop', 'sums')).out, 'Pool sums is stopped.\n');
});

test('calls lists pools, and of one its programs and workers', async () => {
  const running = { client: 'sum.ts', call: 7, attempt: 2, forMs: 2000 };
  const worker = { name: 'n1:7[0]#1', state: 'busy', calls: 1, done: 3, failed: 1, running };
  const speed = { perSecond: 1234.5, p50Ms: 0.42, p99Ms: 17.2 };
  const client = {
    session: 'abcd',
    label: 'sum.ts',
    isAway: true,
    waiting: 4,
    open: 5,
    done: 6,
    failed: 5,
    speed,
  };
  const view = {
    waiting: 4,
    running: 1,
    done: 6,
    failed: 5,
    speed,
    clients: [client],
    workers: [worker],
  };
  await using head = await FakeHead.start({
    'GET /v1/pools': () => ({ json: { pools: [POOL] } }),
    'GET /v1/pools/sums/calls': () => ({ json: view }),
  });
  const { out } = await head.weft('calls');
  assert.match(out, /POOL +NAME +USER +PROGRAMS +WAITING +AT WORKERS +DONE +FAILED +WORKERS\n/);
  assert.match(out, /7 +sums +ann +1 +9 +2 +70 +68 +2\n/);
  const shown = await head.weft('calls', 'sums');
  const words = '1235 a second lately, half within 0.42 ms, 99 of 100 within 17 ms';
  assert.equal(
    shown.out.split('\n')[0],
    `6 calls done, 5 of them failed, 1 at workers, 4 waiting; ${words}`,
  );
  assert.match(shown.out, /sum\.ts +abcd +away +4 +5 +6 +5 +1235 +0\.42 ms +17 ms\n/);
  assert.match(shown.out, /n1:7\[0\]#1 +busy +1 +3 +1 +call 7 of sum\.ts for 2s, attempt 2\n/);
  assert.deepEqual(JSON.parse((await head.weft('calls', 'sums', '-o', 'json')).out), view);
});
