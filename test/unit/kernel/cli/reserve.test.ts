// What `weft reserve create` says of a share in which usual jobs cannot run, and of unknown users.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead } from './fake-head.ts';

const MADE = {
  id: 'r1',
  name: 'lab',
  purpose: 'users',
  state: 'active',
  users: ['ann'],
  groups: [],
  jobs: [],
  skipped: [],
  recurrence: null,
  durationMs: 60_000,
  missing: [],
  waitingTasks: 0,
  runningTasks: 0,
  createdBy: 'ann',
  createdAt: 0,
};

async function said(cpuCount: number, memoryBytes: number, ...more: string[]) {
  const share = { cpuCount, memoryBytes, gpuCount: 2, counted: {} };
  const slots = [{ from: 0, until: 60_000, nodes: ['n1'], share }];
  await using head = await FakeHead.start({
    'POST /v1/reservations': () => ({ json: { ...MADE, slots } }),
  });
  return await head.weft('reserve', 'create', '-t', '1m', '--gpus', '2', ...more);
}

test('a share without cpus or memory is told with what it lets in', async () => {
  const none = await said(0, 0, '-o', 'name');
  assert.deepEqual([none.code, none.out], [0, 'lab\n']);
  assert.equal(
    none.error,
    'weft: Reservation lab has no cpus and no memory: no job can run in it. Give --cpus and --memory, too.\n',
  );
  assert.match((await said(2, 0)).error, /has no memory: only a job with --memory 0 can run/);
  assert.match((await said(0, 2 ** 30)).error, /has no cpus: only a job with --cpus 0 can run/);
  assert.equal((await said(2, 2 ** 30)).error, '');
});

test('users whom nobody knows are told, of a reservation that is made or changed', async () => {
  const slots = [{ from: 0, until: 60_000, nodes: ['n1'], share: 'whole' }];
  const json = { ...MADE, slots };
  await using head = await FakeHead.start({
    'POST /v1/reservations': () => ({ json: { ...json, unknownUsers: ['anm'] } }),
    'PATCH /v1/reservations/lab': () => ({ json: { ...json, unknownUsers: ['anm', 'bop'] } }),
  });
  const made = await head.weft('reserve', 'create', '-t', '1m', '--users', 'anm', '-o', 'name');
  assert.deepEqual([made.code, made.out], [0, 'lab\n']);
  assert.match(made.error, /^weft: anm is not known here as a user.*`weft reserve change lab --/);
  const changed = await head.weft('reserve', 'change', 'lab', '--users', 'anm,bop');
  assert.match(changed.error, /^weft: anm, bop are not known here as users/);
});

test("groups that nobody knows are told, and a list of nobody is no reservation of one's own", async () => {
  const slots = [{ from: 0, until: 60_000, nodes: ['n1'], share: 'whole' }];
  const json = { ...MADE, slots, unknownGroups: ['labb'] };
  await using head = await FakeHead.start({ 'POST /v1/reservations': () => ({ json }) });
  const create = (...more: string[]) => head.weft('reserve', 'create', '-t', '1m', ...more);
  const made = await create('--groups', 'labb', '-o', 'name');
  assert.deepEqual([made.code, made.out], [0, 'lab\n']);
  assert.match(
    made.error,
    /^weft: labb is not known here as a group; `weft reserve change lab --g/,
  );
  const before = head.work.length;
  for (const flag of ['--users', '--groups', '--jobs']) {
    const { code, error } = await create(flag, ' ,');
    assert.deepEqual([code, error.split(';')[0]], [2, `weft: ${flag}: no name is given`]);
  }
  assert.equal(head.work.length, before);
});

test('what keeps an occurrence out is told by the clock of the reader', async () => {
  const because = 'Node n1 is reserved for m7 from 2026-12-01T23:57:36Z.';
  const slots = [{ from: 0, until: 60_000, nodes: ['n1'], share: 'whole' }];
  const skipped = [{ from: 0, because, triedUntil: 60_000 }];
  await using head = await FakeHead.start({
    'POST /v1/reservations': () => ({ json: { ...MADE, slots, skipped } }),
    'GET /v1/reservations/lab': () => ({ json: { ...MADE, slots, skipped } }),
  });
  const made = await head.weft('reserve', 'create', '-t', '1m');
  const shown = await head.weft('reserve', 'show', 'lab');
  for (const text of [made.out, shown.out]) {
    assert.match(text, /is reserved for m7 from/);
    assert.doesNotMatch(text, /36Z/);
  }
});
