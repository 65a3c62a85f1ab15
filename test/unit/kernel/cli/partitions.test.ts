// `weft partition`, `weft qos` and `weft config reload` against a head with prepared answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChange } from '../../../../src/kernel/cli/partitions/change.ts';
import { FakeHead } from './fake-head.ts';

const SMALL = {
  name: 'small',
  state: 'down',
  policy: 'easy',
  placement: 'pack',
  tier: 1,
  preempt: 'off',
  priority: 0.5,
  labels: ['gpu & !old'],
  nodes: ['n1', 'n2'],
  nodesUp: 1,
  nodesMissing: ['n9'],
  limits: {
    walltimeMs: 3_600_000,
    walltimeDefaultMs: 60_000,
    nodesPerTask: 2,
    tasksPerUser: 4,
    memoryPerNodeBytes: 2 ** 30,
  },
  users: ['ann'],
  groups: ['chem'],
  tasksRunning: 3,
  tasksWaiting: 5,
  override: {
    set: { state: 'down' },
    configured: { state: 'up' },
    by: 'olga',
    at: Date.now(),
  },
};

test('a partition is listed with a star where it is not as the config says', async () => {
  const answers = { 'GET /v1/partitions': () => ({ json: { partitions: [SMALL] } }) };
  await using head = await FakeHead.start(answers);
  const { out } = await head.weft('partition', 'list', '-o', 'wide');
  assert.match(
    out,
    /small +down\* +1\/2 +3 +5 +1h +easy +1 +time 1h, default time 1m, 2 nodes to a/,
  );
  assert.match(out, /4 running tasks of a user, 1G memory on a node +ann, group chem +gpu & !old/);
});

test('a partition is shown with what was set, by whom, and what has not joined', async () => {
  await using head = await FakeHead.start({ 'GET /v1/partitions/small': () => ({ json: SMALL }) });
  const { out } = await head.weft('partition', 'show', 'small');
  assert.match(out, /Set: +the config says state up, set to down by olga at /);
  assert.match(out, /Nodes: +1 of 2 up: n1, n2\nNot joined: +n9\n/);
});

test('settings are sent with their types, and reset names the partition', async () => {
  const done = () => ({ json: { count: 1 } });
  await using head = await FakeHead.start({
    'PUT /v1/partitions/small': done,
    'POST /v1/partitions/small/reset': done,
  });
  const set = await head.weft(
    'partition',
    'set',
    'small',
    'state=drain',
    'tier=-2',
    'priority=0.5',
  );
  assert.match(set.out, /small has state drain, tier -2, priority 0\.5; this overrides the config/);
  await head.weft('partition', 'reset', 'small');
  assert.deepEqual(head.work.map(({ body }) => body)[0], {
    state: 'drain',
    tier: -2,
    priority: 0.5,
  });
  assert.equal(head.work.length, 2);
});

const MISTAKES = [
  ['stat=down', /'stat': only state, policy, .* Did you mean 'state'\?/],
  ['state', /'state' has no value; write state=VALUE/],
  ['state=of', /state: 'of' is not one of up, down/],
  ['tier=high', /tier: 'high' is not a whole number/],
  ['nodes=n1', /'nodes': only .* all else is set in the config file/],
] as const;

for (const [setting, words] of MISTAKES) {
  test(`'${setting}' is no setting`, () => {
    const read = parseChange([setting]);
    assert.match(read.ok ? '' : read.error, words);
  });
}

test('qualities of service are listed with their limits, and a misspelt one is told', async () => {
  const limits = { runningTasksPerUser: 4, runningCpusPerUser: 8, waitingJobsPerUser: null };
  const fast = {
    name: 'fast',
    priority: 1,
    tier: 2,
    preempt: 'off',
    users: null,
    groups: null,
    ...limits,
    tasksRunning: 1,
    tasksWaiting: 0,
  };
  await using head = await FakeHead.start({
    'GET /v1/qos': () => ({ json: { qualities: [fast] } }),
  });
  assert.match(
    (await head.weft('qos', 'list')).out,
    /fast +1 +2 +1 +0 +4 running tasks, 8 running cpus/,
  );
  assert.match((await head.weft('qos', 'show', 'fast')).out, /everybody +off/);
  const wrong = await head.weft('qos', 'show', 'fats');
  assert.deepEqual(
    [wrong.code, /No QoS fats\.\n.*Did you mean 'fast'/.test(wrong.error)],
    [2, true],
  );
});

test('a reload says what acts now and what after a restart', async () => {
  const change = { before: 'fifo', after: 'easy' };
  const reply = {
    file: '/etc/weft/weft.yaml',
    changed: [{ key: 'head.policy', ...change }],
    afterRestart: [{ key: 'head.listen', before: 'none', after: null }],
  };
  await using head = await FakeHead.start({ 'POST /v1/config/reload': () => ({ json: reply }) });
  assert.deepEqual((await head.weft('config', 'reload')).out.split('\n'), [
    'Read /etc/weft/weft.yaml.',
    '  head.policy: fifo -> easy',
    '  head.listen: none -> not set - after the head restarts',
    '',
  ]);
});

test('groups and role of a user are sent as they are given', async () => {
  const set = () => ({ json: { count: 1, notice: null } });
  await using head = await FakeHead.start({ 'POST /v1/users/ann': set, 'PUT /v1/users/ann': set });
  await head.weft('user', 'create', 'ann', '--groups', 'chem, bio');
  const none = await head.weft('user', 'modify', 'ann', '--groups', '');
  assert.match(none.out, /User ann is now in the groups \(none\)\./);
  assert.deepEqual(
    head.work.map(({ body }) => body),
    [{ groups: ['chem', 'bio'] }, { groups: [] }],
  );
  assert.match(
    (await head.weft('user', 'modify', 'ann')).error,
    /give --role, --groups or --files/,
  );
});
