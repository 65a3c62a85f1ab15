// Commands that are started while the head restarts.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { FakeHead } from './fake-head.ts';
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
  /^weft: No head answers .*no such socket.*\. (Waiting for the head to come back|Trying again)\.\n/;

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
