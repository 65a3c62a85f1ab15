// Commands that are started while the head restarts.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withPatience } from '../../../../src/kernel/cli/connection/patience.ts';
import type { Context } from '../../../../src/kernel/cli/context.ts';
import { refuse } from '../../../../src/kernel/model/errors.ts';
import { failure } from '../../../../src/kernel/model/failure.ts';
import { FakeHead, refusal } from './fake-head.ts';
import { doneJob, jobView } from './views.ts';

const ANSWERS = {
  'GET /v1/jobs/42/wait': () => ({ json: { job: doneJob('completed'), task: null } }),
  'POST /v1/jobs': () => ({
    json: { jobId: 42, taskCount: 1, directory: null, again: false },
  }),
  'GET /v1/jobs/42': () => ({ json: { ...jobView(), files: {} } }),
  'GET /v1/jobs/42/logs': () => ({ text: 'hello\n' }),
};
const AWAY =
  /^weft: No head answers .*no such socket.*\. (Waiting for the head to come back(, as long as it takes)?|Trying again)\.\n/;

for (const [words, out] of [
  [['wait', '42'], '42 completed\n'],
  [['run', '--wait', 'true'], ''],
  [['submit', import.meta.filename], '42\n'],
  [['logs', '-f', '42'], 'hello\n'],
] as const) {
  test(`weft ${words[0]} waits for a head that restarts and has taken its socket along`, async () => {
    await using head = await FakeHead.start(ANSWERS);
    mkdirSync(path.join(head.directory, 'head'));
    const said = await head.weftMeanwhile(...words);
    assert.match(said.error, AWAY);
    assert.equal(said.out, out);
    assert.equal(said.code, 0);
  });
}

for (const [words, out] of [
  [['wait', '42'], '42 completed\n'],
  [['run', '--wait', 'true'], ''],
] as const) {
  test(`[J30] weft ${words[0]} waits on for a head that is away for hours`, async (t) => {
    let hours = 0;
    t.mock.method(process, 'uptime', () => {
      hours += 1;
      return hours * 3600;
    });
    let asked = 0;
    const json = refusal('head.starting', 'unavailable', 'The head is reading its journal.');
    const wait = () => {
      asked += 1;
      if (asked < 4) return { status: 503, json };
      return { json: { job: doneJob('completed'), task: null } };
    };
    await using head = await FakeHead.start({ ...ANSWERS, 'GET /v1/jobs/42/wait': wait });
    const said = await head.weft(...words);
    assert.deepEqual([said.code, said.out], [0, out], said.error);
    assert.match(said.error, /Waiting for the head to come back, as long as it takes\./);
  });
}

test('[J30] weft wait --timeout ends with its own code while the head is away', async () => {
  const json = refusal('head.starting', 'unavailable', 'The head is reading its journal.');
  const wait = () => ({ status: 503, json });
  await using head = await FakeHead.start({ ...ANSWERS, 'GET /v1/jobs/42/wait': wait });
  assert.equal((await head.weft('wait', '42', '--timeout', '300ms')).code, 8);
});

test('weft wait goes on when the head hears too much at once, as after a restart', async () => {
  const message = 'You sent more than 500 requests in a second.';
  const json = refusal('rate.exceeded', 'resource_exhausted', message);
  let asked = 0;
  const wait = () => {
    asked += 1;
    return asked < 3 ? { status: 429, json } : { json: { job: doneJob('completed'), task: null } };
  };
  await using head = await FakeHead.start({ ...ANSWERS, 'GET /v1/jobs/42/wait': wait });
  const said = await head.weft('wait', '42');
  assert.deepEqual([said.code, said.out, asked], [0, '42 completed\n', 3], said.error);
  assert.equal(said.error, '', 'it was not away');
});

test('nobody waits for a head that was never started, or that `weft up` made and is gone', async () => {
  for (const file of [null, 'cluster.json']) {
    await using head = await FakeHead.start(ANSWERS);
    if (file !== null) writeFileSync(path.join(head.directory, file), '{}');
    mkdirSync(path.join(head.directory, file === null ? 'nodes' : 'head'));
    const said = await head.weftMeanwhile('wait', '42');
    assert.equal(said.code, 125);
    assert.match(said.error, /no such socket.*\n {2}Start a cluster here with `weft up`/);
  }
});

test('a head whose socket is closed to this user is not away: nothing is tried again', async () => {
  const cause = Object.assign(new Error('connect EACCES'), { code: 'EACCES', syscall: 'connect' });
  const details = { address: '/run/weft.sock', cause: 'permission denied' };
  const closed = failure(refuse('head.unreachable', details), cause);
  let tries = 0;
  const notes: string[] = [];
  const context = { note: (text: string) => notes.push(text), api: async () => ({ met: true }) };
  const patience = { totalMs: 5000, note: 'Trying again.' };
  const attempt = () => {
    tries += 1;
    return Promise.reject(closed);
  };
  await assert.rejects(withPatience(context as unknown as Context, patience, attempt), closed);
  assert.deepEqual([tries, notes], [1, []]);
});
