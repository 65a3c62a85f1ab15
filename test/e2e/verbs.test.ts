// Jobs chosen, changed, retried and followed one by one, by the programs alone.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LocalCluster } from './support/local-cluster.ts';

describe('verbs for several jobs', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', 'none');
  });
  after(() => cluster.close());

  it('[J27] a retry runs what failed, and its tasks find the array as it was', async () => {
    const line =
      'echo $WEFT_ARRAY_INDEX of $WEFT_ARRAY_COUNT; test -e good || test $WEFT_ARRAY_INDEX != 2';
    const id = await cluster.ok('run', '--array', '1-3', '--', line);
    assert.equal((await cluster.weft('wait', id)).code, 1);
    await cluster.ok('run', '--wait', '--', 'touch good');
    const again = await cluster.ok('retry', id);
    await cluster.ok('wait', again);
    assert.equal(await cluster.ok('logs', `${again}[2]`), '2 of 3');
    assert.deepEqual((await cluster.job(again)).taskCounts, { done: 1 });
    assert.equal(await cluster.ok('status', `${id},${again}`), 'failed\ncompleted');
  });

  it('[J28] tasks follow those with their index, and fall with them', async () => {
    const first = await cluster.ok('run', '--array', '0-2', '--', 'test $WEFT_ARRAY_INDEX != 1');
    const line = 'echo $WEFT_ARRAY_INDEX >> followed';
    const second = await cluster.ok(
      'run',
      '--array',
      '0-2',
      '--after',
      `${first}:each`,
      '--',
      line,
    );
    assert.equal((await cluster.weft('wait', second)).code, 143);
    assert.deepEqual(cluster.lines('followed').sort(), ['0', '2']);
    assert.equal(await cluster.ok('status', `${second}[0-2]`), 'completed\ncancelled\ncompleted');
  });

  it('[J26] what is held is changed, and starts as it is now', async () => {
    const held = await cluster.ok('run', '--hold', '--name', 'old', '--', 'echo $WEFT_JOB_NAME');
    await cluster.ok('change', held, '--name', 'new', '--time', '10m', '--release');
    await cluster.ok('wait', held);
    assert.equal(await cluster.ok('logs', held), 'new');
    const { code, error } = await cluster.weft('change', held, '--nice', '1');
    assert.deepEqual([code, /already done/.test(error)], [5, true]);
  });

  it('[J33] a comment is shown, is changed, and stays with a job that has ended', async () => {
    const given = ['--comment', 'Mesh B, finer'];
    const id = await cluster.ok('run', '--hold', ...given, '--', 'true');
    assert.match(await cluster.ok('job', id), /^Comment: +Mesh B, finer$/m);
    await cluster.ok('change', id, '--comment', 'Mesh C', '--release');
    await cluster.ok('wait', id);
    const { comment } = JSON.parse(await cluster.ok('job', id, '-o', 'json')) as {
      comment?: unknown;
    };
    assert.equal(comment, 'Mesh C');
    const { code, error } = await cluster.weft('run', '--comment', 'two\nlines', '--', 'true');
    assert.deepEqual([code, /^weft: --comment: has characters/.test(error)], [2, true]);
  });

  it('jobs are chosen by name and range, after a look', async () => {
    const ids = [];
    for (const name of ['sweep-1', 'sweep-2', 'other']) {
      ids.push(await cluster.ok('run', '--hold', '--name', name, '--', 'true'));
    }
    const dry = await cluster.ok('kill', '--name', 'sweep-*', '--dry-run');
    assert.equal(dry.split('\n').length, 2);
    assert.equal((await cluster.weft('kill', '--name', 'sweep-*')).code, 2);
    await cluster.ok('kill', '--name', 'sweep-*', '--yes');
    const range = `${ids[0]}-${ids[2]}`;
    assert.equal(await cluster.ok('status', range), 'cancelled\ncancelled\nheld');
    assert.match(await cluster.ok('kill', range), new RegExp(`^Job ${ids[2]}: 1 task cancelled`));
    const rows = (await cluster.ok('jobs', '-a', '--name', 'other', '-o', 'csv')).split('\r\n');
    assert.match(rows[0] ?? '', /^job,name,user,state/);
    assert.match(rows[1] ?? '', new RegExp(`^${ids[2]},other,[^,]+,cancelled`));
  });
});
