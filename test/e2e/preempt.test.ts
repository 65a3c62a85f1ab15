// A task of a higher tier takes a node from one that stops, starts again later, or ends for it:
// with real processes, seen by what they write and by what the commands say.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const CONFIG = `partitions:
  default: {preempt: suspend}
  back: {preempt: requeue}
  scrap: {preempt: cancel}
  urgent: {tier: 1}
`;

describe('making room for a higher tier', () => {
  const cluster = new LocalCluster();
  before(async () => {
    mkdirSync(cluster.state, { recursive: true });
    writeFileSync(join(cluster.state, 'weft.yaml'), CONFIG);
    await cluster.up('--nodes', '1', '--listen', 'none');
  });
  after(() => cluster.close());

  const starts = (name: string): number => cluster.lines(name).length;
  /** A task of the whole node that runs until its gate is open; it has started. */
  const running = async (partition: string, name: string): Promise<string> => {
    const script = `echo run >> ${name}; until [ -e go-${name} ]; do sleep 0.05; done`;
    const options = ['--partition', partition, '--cpus', '2', '--memory', '50M'];
    const id = await cluster.ok('run', ...options, '--', script);
    await until(`${name} has started`, () => (starts(name) > 0 ? true : undefined));
    return id;
  };
  const open = (name: string): void => writeFileSync(join(cluster.work, `go-${name}`), '');
  const isIn = (id: string, state: string) =>
    until(`job ${id} is ${state}`, async () =>
      (await cluster.job(id)).state === state ? true : undefined,
    );

  it('[P13] a stopped task goes on when the urgent one has ended', async () => {
    const low = await running('default', 'low-1');
    const urgent = await running('urgent', 'urgent-1');
    await isIn(low, 'suspended');
    const whose = new RegExp(`was preempted by ${urgent} of .*(used by|higher tier)`);
    assert.match(await cluster.ok('why', low), whose);
    open('urgent-1');
    await cluster.ok('wait', urgent);
    await isIn(low, 'running');
    open('low-1');
    await cluster.ok('wait', low);
    assert.equal(starts('low-1'), 1);
  });

  it('[P11] a requeued task starts again when the urgent one has ended', async () => {
    const low = await running('back', 'low-2');
    const urgent = await running('urgent', 'urgent-2');
    await isIn(low, 'pending');
    open('urgent-2');
    await cluster.ok('wait', urgent);
    open('low-2');
    await cluster.ok('wait', low);
    assert.equal(starts('low-2'), 2);
  });

  it('[P11] a cancelled task says for whom', async () => {
    const low = await running('scrap', 'low-3');
    const urgent = await running('urgent', 'urgent-3');
    const { outcome } = await cluster.job(low);
    assert.equal(outcome?.kind, 'cancelled');
    assert.match(outcome?.detail ?? '', new RegExp(`^preempted by ${urgent} of `));
    open('urgent-3');
    await cluster.ok('wait', urgent);
  });
});
