// Maintenance with real processes: what runs on the nodes is met by each policy, programs run there
// meanwhile, and the nodes come back or stay out.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { MaintenanceView } from '../../src/kernel/api/maintenance.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const NODES = ['n1', 'n2'];

describe('maintenance of a local cluster', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.startApart('--nodes', '3', '--listen', 'none');
  });
  after(() => cluster.close());

  const file = (name: string): string => join(cluster.work, name);
  const linesOf = (name: string): number => cluster.lines(name).length;
  /** A job on n1 and n2 that begins with a line in the file and ends when `-end` is there. */
  const occupy = async (name: string): Promise<string> => {
    const line = `echo begun >> ${file(name)}; until [ -e ${file(`${name}-end`)} ]; do sleep 0.05; done`;
    const id = await cluster.ok('run', '--nodes', '2', '--nodes-named', 'n1,n2', '--', line);
    await until(`${name} runs`, () => linesOf(name) >= 2 || undefined);
    return id;
  };
  const end = (name: string): void => writeFileSync(file(`${name}-end`), '');
  const reaches = (id: string, state: string) => cluster.reaches(id, state);
  const off = (...options: string[]) =>
    cluster.ok('maint', 'node-off', ...NODES, '--now', '-d', '5m', '-o', 'name', ...options);
  const show = (id: string) => cluster.client.call<MaintenanceView>('GET', `/v1/maintenance/${id}`);
  const over = (id: string) =>
    until(`${id} is over`, async () => {
      const one = await show(id);
      return one.endedAt === null ? undefined : one;
    });

  const programsRun = (id: string) =>
    until(`the programs of ${id} run`, async () => {
      const { nodes } = await show(id);
      // A node is running as soon as the job of its program is there.
      const jobs = nodes.map(({ jobId }) => jobId).filter((jobId) => jobId !== null);
      const states = await Promise.all(jobs.map((jobId) => cluster.job(`${jobId}`)));
      const run = states.filter(({ state }) => state === 'running');
      return run.length === nodes.length || undefined;
    });

  it('[M2, M4] wait: the program runs on each node when the task there has ended', async () => {
    const job = await occupy('wait');
    const id = await off('--running', 'wait', '--program', `echo $MAINTENANCE_ID`);
    const shown = JSON.parse(await cluster.ok('maint', 'show', id, '-o', 'json'));
    assert.equal((shown as MaintenanceView).phase, 'draining');
    assert.match(
      await cluster.ok('info', '-o', 'wide'),
      new RegExp(`n1 +maintenance .*maintenance ${id} until`),
    );
    end('wait');
    assert.equal((await reaches(job, 'done')).outcome?.kind, 'completed');
    const { phase, nodes } = await over(id);
    assert.equal(phase, 'done');
    for (const { jobId } of nodes) assert.equal(await cluster.ok('logs', `${jobId}`), id);
  });

  it('[M2] suspend: the task stands still while the program runs, and goes on', async () => {
    const job = await occupy('suspend');
    const gate = `until [ -e ${file('open')} ]; do sleep 0.05; done`;
    const id = await off('--running', 'suspend', '--program', gate);
    await reaches(job, 'suspended');
    await programsRun(id);
    writeFileSync(file('open'), '');
    assert.equal((await over(id)).phase, 'done');
    end('suspend');
    assert.equal((await reaches(job, 'done')).outcome?.kind, 'completed');
  });

  it('[M2, M6] requeue: the task starts again when it is called off', async () => {
    const job = await occupy('requeue');
    const id = await off('--running', 'requeue');
    await reaches(job, 'pending');
    assert.match(
      await cluster.ok('why', job),
      new RegExp(`waits for maintenance ${id} on n[12] to end`),
    );
    await cluster.ok('maint', 'cancel', id);
    await until('it runs again', () => linesOf('requeue') >= 4 || undefined);
    end('requeue');
    assert.equal((await reaches(job, 'done')).outcome?.kind, 'completed');
  });

  it('[M2, M4] kill: the task is cancelled; a program that fails keeps its node out', async () => {
    const job = await occupy('kill');
    const id = await off('--running', 'kill', '--program', '[ $(hostname) = no ] || exit 3');
    const { outcome } = await reaches(job, 'done');
    assert.equal(outcome?.kind, 'cancelled');
    const { phase, detail } = await over(id);
    assert.equal(phase, 'failed');
    assert.match(detail ?? '', /n1: its program \(job \d+\) ended as failed: exited with code 3/);
    const drained = await cluster.ok('node', 'list', '-o', 'template={{name}} {{drained.reason}}');
    assert.match(drained, new RegExp(`n1 maintenance ${id}: .*code 3`));
    await cluster.ok('node', 'undrain', ...NODES);
  });

  it('[M7] a head killed in its time, and away at its end, hears how the programs went', async () => {
    const gate = `until [ -e ${file('away')} ]; do sleep 0.05; done`;
    const id = await off('-d', '15s', '--program', gate);
    await programsRun(id);
    const { until: end } = await show(id);
    await cluster.kill('head');
    writeFileSync(file('away'), '');
    await until('its time is over', () => Date.now() > end || undefined);
    await cluster.up();
    const { phase, nodes } = await over(id);
    assert.equal(phase, 'done', JSON.stringify(nodes));
    assert.equal(await cluster.ok('node', 'list', '-o', 'template={{drained}}'), '\n\n');
  });

  it('[M5] an agent that dies in its time is expected back, and nobody is to blame', async () => {
    const job = await occupy('gone');
    const gate = `until [ -e ${file('gone-open')} ]; do sleep 0.05; done`;
    const id = await off('--running', 'suspend', '--program', gate);
    await programsRun(id);
    await cluster.kill('n2');
    await until('n2 is missed', async () => {
      const text = await cluster.ok('node', 'list', '-o', 'wide');
      return /n2 +maintenance .*its agent is not connected/.test(text) || undefined;
    });
    await cluster.up();
    writeFileSync(file('gone-open'), '');
    const { phase, nodes } = await over(id);
    assert.equal(phase, 'done', JSON.stringify(nodes));
    end('gone');
    assert.equal((await reaches(job, 'done')).outcome?.kind, 'completed');
  });

  it('[M1, M3] what is to come warns, and lets only short tasks start', async () => {
    const line = `trap 'touch ${file('warned')}; exit' USR1; touch ${file('ready')}; while :; do sleep 0.05; done`;
    await cluster.ok('run', '--nodes-named', 'n1', '--', line);
    await until('it listens', () => existsSync(file('ready')) || undefined);
    const options = [
      '--at',
      '+1h',
      '-d',
      '1h',
      '--warn',
      '59m59s',
      '--signal',
      'USR1',
      '-o',
      'name',
    ];
    const id = await cluster.ok('maint', 'node-off', ...NODES, ...options);
    await until('the signal has come', () => existsSync(file('warned')) || undefined);
    assert.equal((await show(id)).phase, 'warned');
    const long = await cluster.ok('run', '--nodes-named', 'n1', '--', 'true');
    const short = await cluster.ok('run', '--nodes-named', 'n1', '--time', '5m', '--', 'true');
    assert.equal((await reaches(short, 'done')).outcome?.kind, 'completed');
    assert.match(
      await cluster.ok('why', long),
      new RegExp(`could run into maintenance ${id} on n1`),
    );
    await cluster.ok('maint', 'cancel', id);
    await reaches(long, 'done');
  });
});
