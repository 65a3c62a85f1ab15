// `weft usage` and plots: what is asked, and what is shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { UsageReportRow } from '../../../../src/kernel/api/usage-report.ts';
import { localSteps } from '../../../../src/kernel/cli/jobs/local-steps.ts';
import { bar, jobStretches, timeLine } from '../../../../src/kernel/cli/output/bars.ts';
import { FakeHead } from './fake-head.ts';

const row = (key: string, cpuHours: number, from = 0): UsageReportRow => ({
  key,
  from,
  starts: 3,
  tasks: 2,
  cpuHours,
  gibHours: 0.25,
  usedCpuHours: cpuHours / 4,
});

function answers(...rows: UsageReportRow[]) {
  return { 'GET /v1/history/usage': () => ({ json: { from: 0, until: 1, rows } }) };
}

test('shares and usage are numbers where programs read them', async () => {
  const users = [{ user: 'alice', usageSeconds: 708.25, share: 0.5, factor: 0.25 }];
  await using head = await FakeHead.start({
    ...answers(row('alice', 12.345), row('bob', 0)),
    'GET /v1/usage': () => ({ json: { users } }),
  });
  const csv = async (...words: string[]) => (await head.weft(...words, '-o', 'csv')).out;
  const shares = (await csv('usage')).split('\r\n').map((line) => line.split(',')[5]);
  assert.deepEqual(shares.slice(0, 3), ['share_used', '0.25', '']);
  const used = await csv('user', 'usage');
  assert.equal(used, 'user,usage,share,factor\r\nalice,708.25,0.5,0.25\r\n');
});

test('usage asks for the last thirty days, and shows how much of the cpus was used', async () => {
  await using head = await FakeHead.start(answers(row('alice', 12.345), row('bob', 0)));
  const { code, out } = await head.weft('usage', '-p', 'gpu');
  assert.equal(code, 0);
  const [title, first, second] = out.split('\n');
  assert.match(title ?? '', /^USER +TASKS +STARTS +CPU HOURS +USED +SHARE USED +GIB HOURS$/);
  assert.match(first ?? '', /^alice +2 +3 +12\.3 +3\.09 +25 % +0\.25$/);
  assert.match(second ?? '', /^bob +2 +3 +0 +0 +- +0\.25$/);
  const { from, until, partition, by } = head.work[0]?.query ?? {};
  assert.ok(Math.abs(Date.now() - Number(from) - 30 * 86_400_000) < 60_000);
  assert.equal(until, undefined, 'by a clock that was ahead some have ended later than now');
  assert.deepEqual([partition, by], ['gpu', 'user']);
});

test('steps begin at whole hours and days of the reader', async () => {
  await using head = await FakeHead.start(answers(row('alice', 1)));
  await head.weft('usage', '--since', '5d', '--step', '1d');
  await head.weft('usage', '--since', '5h', '--step', '1h', '--until', '0h');
  const [days, late, hours, ...rest] = head.work.map(
    ({ query }) => new Date(Number(query['from'])),
  );
  assert.deepEqual([days?.getHours(), days?.getMinutes(), days?.getSeconds()], [0, 0, 0]);
  assert.deepEqual([hours?.getMinutes(), hours?.getSeconds()], [0, 0]);
  assert.equal(head.work[0]?.query['stepMs'], '86400000');
  // What has ended later than now, by a clock that was ahead, is a row of its own.
  assert.ok(Math.abs(Number(late) - Date.now()) < 60_000);
  const [, open] = head.work;
  assert.deepEqual([open?.query['until'], open?.query['stepMs'], rest], [undefined, undefined, []]);
});

const inZone = (zone: string, ask: () => void) => {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    ask();
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
};

const DAY = 86_400_000;

test('days begin at midnight also after a clock was set for the winter', () => {
  const at = Date.parse;
  inZone('Europe/Berlin', () => {
    const since = at('2026-10-24T12:00+02:00');
    const until = at('2026-10-27T12:00+01:00');
    const [summer, change, winter, ...more] = localSteps(since, until, DAY);
    const [saturday, sunday] = [at('2026-10-24T00:00+02:00'), at('2026-10-25T00:00+02:00')];
    const monday = at('2026-10-26T00:00+01:00');
    assert.deepEqual(summer, { from: saturday, until: sunday, stepMs: DAY });
    assert.deepEqual(change, { from: sunday, until: monday, stepMs: (25 * DAY) / 24 });
    assert.deepEqual(winter, { from: monday, until, stepMs: DAY });
    assert.deepEqual(more, []);
  });
});

test('stretches touch each other, and each step begins at a midnight or at noon', () => {
  const instants = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-12-31') });
  const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC');
  const lengths = fc.constantFrom(DAY / 2, DAY, 7 * DAY);
  const property = fc.property(zones, instants, lengths, (zone, since, stepMs) => {
    const until = since + 60 * DAY;
    inZone(zone, () => {
      const stretches = localSteps(since, until, stepMs);
      let begin = stretches[0]?.from ?? Number.NaN;
      assert.ok(begin <= since && since - begin < 1.1 * DAY);
      for (const stretch of stretches) {
        assert.equal(stretch.from, begin);
        for (; begin < stretch.until; begin += stretch.stepMs) {
          assert.equal(new Date(begin).getHours() % (stepMs < DAY ? 12 : 24), 0);
        }
        begin = Math.min(begin, stretch.until);
      }
      assert.equal(begin, until);
    });
  });
  fc.assert(property);
});

test('days on both sides of a change are asked for, and are rows of one table', async () => {
  await using head = await FakeHead.start({
    'GET /v1/history/usage': ({ query }) => ({
      json: { from: 0, until: 1, rows: [row('alice', 1, Number(query['from']))] },
    }),
  });
  const before = process.env['TZ'];
  process.env['TZ'] = 'America/New_York';
  try {
    const range = ['--since', '2026-10-31', '--until', '2026-11-03', '--step', '1d'];
    const { out } = await head.weft('usage', ...range);
    assert.deepEqual(out.match(/2026-1\d-\d\d \d\d:\d\d/g), [
      '2026-10-31 00:00',
      '2026-11-01 00:00',
      '2026-11-02 00:00',
    ]);
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
  const refused = await head.weft('usage', '--since', '1990-01-01', '--step', '1d');
  assert.match(refused.error, /--step: that is more than 1000 rows of time; write a longer one/);
});

test('steps that are too many for thirty days begin with the first of which something is known', async () => {
  const hour = 3_600_000;
  const known = Math.floor(Date.now() / hour) * hour - 5 * hour;
  let rows = [row('completed', 1, known), row('completed', 1, known + hour)];
  await using head = await FakeHead.start({
    'GET /v1/history/usage': () => ({ json: { from: 0, until: 1, rows } }),
  });
  const asked = async (...words: string[]) => {
    const before = head.work.length;
    const { code, error } = await head.weft('usage', ...words);
    return { code, error, queries: head.work.slice(before).map(({ query }) => query) };
  };
  const short = await asked('--step', '15m', '-p', 'gpu');
  const [looked, steps] = short.queries;
  assert.deepEqual([short.code, looked?.['stepMs'], looked?.['partition']], [0, '3600000', 'gpu']);
  assert.deepEqual([steps?.['stepMs'], steps?.['from']], ['900000', String(known)]);
  rows = [row('completed', 1, known - 20 * 24 * hour)];
  const long = await asked('--step', '15m');
  assert.deepEqual([long.code, long.queries.length], [2, 1]);
  assert.match(long.error, /more than 1000 rows of time; write a longer one, or a later --since/);
  rows = [];
  assert.equal((await asked('--step', '15m')).code, 0);
});

test('a plot has the largest first, or the steps in their order', async () => {
  await using head = await FakeHead.start(answers(row('al', 1), row('bob', 4)));
  const { out } = await head.weft('usage', '--plot');
  const [first, second] = out.split('\n');
  assert.match(first ?? '', /^bob {2}█+ 4 cpu hours$/);
  assert.match(second ?? '', /^al {3}█+▊?.* 1 cpu hours$/);
  const width = (line = '') => [...line].filter((character) => character === '█').length;
  assert.equal(width(first), 4 * width(second) + (width(first) % 4));
});

test('a sum counts nobody twice, and a list of groups says who does', async () => {
  await using head = await FakeHead.start(answers(row('lab', 1), row('gpu', 1)));
  const note = /a user of several groups counts in each/;
  assert.match((await head.weft('usage', '--by', 'group')).error, note);
  assert.doesNotMatch((await head.weft('usage', '--by', 'group', '-o', 'json')).error, note);
  const sum = await head.weft('usage', '--by', 'group', '--plot', '--step', '1d');
  assert.doesNotMatch(sum.error, note);
  assert.deepEqual(
    head.work.map(({ query }) => query['by']),
    ['group', 'group', 'user', 'user'],
  );
});

test('what cannot be meant is refused before anything is asked', async () => {
  await using head = await FakeHead.start(answers());
  for (const [argv, words] of [
    [['--by', 'users'], /--by: 'users' is unknown\. Did you mean 'user'\?/],
    [['--step', '1s'], /--step: 1s is too short; write 1m or more/],
    [['--since', '2099-01-01'], /--since: that is not before --until/],
  ] as const) {
    const said = await head.weft('usage', ...argv);
    assert.deepEqual([said.code, said.out], [2, '']);
    assert.match(said.error, words);
  }
  assert.equal(head.work.length, 0);
  assert.equal((await head.weft('usage')).out, 'Nothing ended in that time.\n');
});

test('bars: nothing is nothing, little is seen, and none is too long', () => {
  assert.equal(bar(0, 10, 8), '');
  assert.equal(bar(1e-9, 10, 8), '▏');
  assert.equal(bar(10, 10, 8), '████████');
  assert.equal(bar(99, 10, 8), '████████');
  assert.equal(bar(5, 0, 8), '');
});

test('a line of time shows when, also what is shorter than a column', () => {
  const range = { from: 0, until: 100 };
  const line = (job: Parameters<typeof jobStretches>[0]) =>
    timeLine(jobStretches(job, 100), range, 10);
  assert.equal(line({ submittedAt: 0, startedAt: 50, endedAt: 100 }), '░░░░░█████');
  assert.equal(line({ submittedAt: 20, startedAt: null, endedAt: null }), '  ░░░░░░░░');
  assert.equal(line({ submittedAt: 90, startedAt: 90, endedAt: 91 }), '         █');
  assert.equal(line({ submittedAt: 99, startedAt: 100, endedAt: null }), '         █');
  const any = fc.record({
    from: fc.nat(200),
    until: fc.nat(200),
    mark: fc.constant('x'),
  });
  const property = fc.property(
    fc.array(any),
    fc.integer({ min: 1, max: 30 }),
    (stretches, width) => {
      assert.ok(timeLine(stretches, range, width).length <= width);
    },
  );
  fc.assert(property);
});
