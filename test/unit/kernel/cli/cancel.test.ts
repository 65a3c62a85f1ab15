// `weft cancel`, and what `weft kill` shares with it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead } from './fake-head.ts';

test('cancel ends jobs, kill without a signal does, and with one it sends that', async () => {
  await using head = await FakeHead.start({
    'POST /v1/jobs/1/cancel': () => ({ json: { count: 2 } }),
    'POST /v1/jobs/1/signal': () => ({ json: { count: 2 } }),
  });
  const cancelled = { code: 0, out: 'Job 1: 2 tasks cancelled.\n', error: '' };
  assert.deepEqual(await head.weft('cancel', '1'), cancelled);
  assert.deepEqual(await head.weft('kill', '1'), cancelled);
  const { out } = await head.weft('kill', '--signal', 'USR1', '1');
  assert.equal(out, 'Job 1: USR1 sent to 2 tasks.\n');
});

test('[Z10] both take steps by their ids, and steps alone', async () => {
  await using head = await FakeHead.start({
    'POST /v1/jobs/1[7]/steps/1[7].2/signal': () => ({ json: { count: 2 } }),
    'POST /v1/jobs/1/steps/1.0/signal': () => ({ json: { count: 1 } }),
  });
  const said = async (...words: string[]) => (await head.weft(...words)).out;
  assert.equal(await said('kill', '1.0'), 'Step 1.0: 1 process told to end.\n');
  assert.equal(await said('cancel', '1[7].2'), 'Step 1[7].2: 2 processes told to end.\n');
  assert.equal(await said('kill', '-s', 'USR1', '1.0'), 'Step 1.0: USR1 sent to 1 process.\n');
  assert.deepEqual(
    head.work.map(({ body }) => body),
    [{}, {}, { signal: 10 }],
  );
  assert.equal(await said('kill', '--dry-run', '1.0'), 'Would end step 1.0.\n');
  for (const words of [
    ['1.0', '2'],
    ['1.0', '--mine'],
  ]) {
    const { code, error } = await head.weft('kill', ...words);
    assert.equal(code, 2);
    assert.match(error, /name steps alone, as 42\.0, or jobs alone/);
  }
});

test('a batch where a job is to be named is said to be one', async () => {
  await using head = await FakeHead.start({
    'GET /v1/batches': () => ({ json: { batches: [{ title: 'lab/osc' }] } }),
  });
  const { code, error } = await head.weft('job', 'lab/osc');
  const hint =
    '  `weft batch show lab/osc` shows it and its jobs; `weft batch --help` what can be done.';
  assert.deepEqual([code, error], [2, `weft: lab/osc is a batch, not a job\n${hint}\n`]);
});

test('since when may be yesterday, and is never to come', async () => {
  await using head = await FakeHead.start({
    'GET /v1/history': () => ({ json: { jobs: [], tasks: [], next: null } }),
  });
  await head.weft('history', '--since', 'yesterday');
  const now = new Date();
  const from = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1).getTime();
  assert.equal(head.work.at(-1)?.query['from'], String(from));
  const { error } = await head.weft('history', '--since', '+2h');
  assert.match(error, /--since: '\+2h' is in the future; write 2h \(ago\), 18:30, yesterday/);
  assert.match(
    (await head.weft('history', '--since', 'soon')).error,
    /is not a time; write 2h \(ago\)/,
  );
  const [asked, none] = [head.work.length, ['history', '--since', '2h', '--until', '3h']];
  assert.match((await head.weft(...none)).error, /--since: that is not before --until/);
  assert.equal(head.work.length, asked);
});
