// Counted resources of the whole cluster, on a real cluster of two nodes: who gets them, over a
// restart of the head and a new configuration.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

describe('licences of the cluster', () => {
  const cluster = new LocalCluster();
  const gate = join(cluster.directory, 'gate');

  const configure = (matlab: number): void => {
    const lines = ['up: {nodes: 2, cpus: 2}', `cluster: {resources: {matlab: ${matlab}}}`];
    writeFileSync(join(cluster.state, 'weft.yaml'), `${lines.join('\n')}\n`);
  };
  const submit = (...options: readonly string[]): Promise<string> => {
    const wait = `until [ -e ${gate} ]; do sleep 0.1; done`;
    return cluster.ok('run', '-t', '1h', ...options, '--', 'sh', '-c', wait);
  };
  const isIn = (state: string, id: string): Promise<true> =>
    until(`job ${id} is ${state}`, async () => {
      const job = JSON.parse(await cluster.ok('job', id, '-o', 'json'));
      return job.state === state || undefined;
    });

  before(async () => {
    mkdirSync(cluster.state, { recursive: true });
    configure(3);
    await cluster.up();
  });
  after(() => cluster.close());

  it('[V14] a job of two nodes takes them once, and one that finds too few waits and is told', async () => {
    const wide = await submit('-n', '2', '--resource', 'matlab=2');
    await isIn('running', wide);
    const second = await submit('--resource', 'matlab=2');
    const said = await cluster.ok('why', second);
    assert.match(said, /asks for 2 matlab; 1 of the cluster's 3 is free, job 1 has the others/);
    assert.match(said, /By today's plan it starts/);
    assert.match(await cluster.ok('info'), /, 2 of 3 matlab\./);
    assert.match(await cluster.ok('job', wide), /2 matlab of the cluster/);
    await isIn('running', await submit());
  });

  it('[V14] a head that is killed and starts again gives none twice', async () => {
    const { head } = JSON.parse(await cluster.ok('info', '-o', 'json'));
    process.kill(head.pid, 'SIGKILL');
    await until('another head serves', async () => {
      const { code, out } = await cluster.weft('info', '-o', 'json');
      return (code === 0 && JSON.parse(out).head.pid !== head.pid) || undefined;
    });
    assert.match(await cluster.ok('info'), /, 2 of 3 matlab\./);
    // Its nodes come back within a second or two.
    await until('the reason is the licences again', async () => {
      return /1 of the cluster's 3 is free/.test(await cluster.ok('why', '2')) || undefined;
    });
  });

  it('[V16] too many are refused, with how many there are', async () => {
    const { error } = await cluster.refused('weft', 'run', '--resource', 'matlab=4', 'true');
    assert.match(error, /The job asks for 4 matlab; the whole cluster has 3\./);
  });

  it('[V16] more of them by a reload, and the job that waited starts', async () => {
    configure(4);
    await cluster.ok('config', 'reload');
    await isIn('running', '2');
    writeFileSync(gate, '');
    await cluster.ok('wait', '1', '2');
    await until('all are back', async () => {
      return /, 0 of 4 matlab\./.test(await cluster.ok('info')) || undefined;
    });
  });
});
