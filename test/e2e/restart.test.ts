// A cluster of `weft up` whose daemons are killed or stopped while people use it: by the programs
// alone. What happens between hosts is in hosts.test.ts.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const UP = ['--nodes', '2', '--listen', 'none'];

describe('restarts of a local cluster', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start(...UP);
  });
  after(() => cluster.close());

  const lines = (name: string): string[] => cluster.lines(name);
  const written = (name: string, count = 1) =>
    until(`${name} has ${count} lines`, () => (lines(name).length >= count ? true : undefined));
  const killed = async (daemon: string): Promise<void> => {
    const pid = cluster.pidOf(daemon);
    process.kill(pid, 'SIGKILL');
    await until(`${daemon} is gone`, () => (isAlive(pid) ? undefined : true));
  };

  it('a second up finds the cluster, and says so', async () => {
    const pid = cluster.pidOf('head');
    assert.match(await cluster.up(...UP), /already running/);
    assert.equal(cluster.pidOf('head'), pid);
  });

  it('[S1] run --wait lives through a kill of the head, and the job runs once', async () => {
    const script = 'echo $$ >> once; until [ -e go-1 ]; do sleep 0.05; done; exit 7';
    const waiting = cluster.weft('run', '--wait', '--', script);
    await written('once');
    const queued = await cluster.ok('run', '--hold', '--', 'echo held >> held');
    await killed('head');
    writeFileSync(join(cluster.work, 'go-1'), '');
    await cluster.up(...UP);
    assert.equal((await waiting).code, 7);
    assert.equal(lines('once').length, 1);
    await cluster.ok('release', queued);
    await cluster.ok('wait', queued);
    assert.deepEqual(lines('held'), ['held']);
  });

  it('[S3] a killed agent is started by the next up, and finds its processes', async () => {
    const script = 'echo $$ >> adopted; until [ -e go-2 ]; do sleep 0.05; done; echo late';
    const id = await cluster.ok('run', '--nodes-named', 'n1', '--', script);
    await written('adopted');
    await killed('n1');
    assert.ok(isAlive(Number(lines('adopted')[0])), 'the job does not need the agent');
    assert.match(await cluster.up(...UP), /started n1/);
    writeFileSync(join(cluster.work, 'go-2'), '');
    assert.equal(await cluster.ok('wait', id), `${id} completed`);
    assert.equal(lines('adopted').length, 1);
    assert.equal(await cluster.ok('logs', id), 'late');
  });

  it('[L1] what down interrupts goes on at the next up, and finished jobs are still known', async () => {
    const done = await cluster.ok('run', '--', 'echo kept');
    await cluster.ok('wait', done);
    const script = 'echo $WEFT_EPOCH >> epochs; [ $WEFT_EPOCH -gt 1 ] || sleep 98711';
    const id = await cluster.ok('run', '--', script);
    const held = await cluster.ok('run', '--hold', 'true');
    await written('epochs');
    assert.match(await cluster.ok('down'), /1 running job goes back to the queue/);
    assert.deepEqual(cluster.processes(), [], 'nothing of it runs any more');
    await cluster.up(...UP);
    assert.equal(await cluster.ok('wait', id), `${id} completed`);
    assert.deepEqual(lines('epochs'), ['1', '2']);
    assert.equal((await cluster.job(held)).state, 'pending');
    assert.equal(await cluster.ok('logs', done), 'kept');
    await cluster.ok('kill', held);
  });

  it('ids go on where they were, never twice', async () => {
    const first = Number(await cluster.ok('run', 'true'));
    await killed('head');
    await cluster.up(...UP);
    assert.equal(Number(await cluster.ok('run', 'true')), first + 1);
  });
});

function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    return false; // Gone.
  }
}
