// A site tried before it has a gateway: each operation says whether it works, and why not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slurm } from '../../../../src/adaptors/slurm/slurm.ts';
import { disabledScheduler } from '../../../../src/adaptors/slurm/steer.ts';
import { tryOut } from '../../../../src/fabric/site/try-out.ts';
import { FakeSlurm } from './fake-slurm.ts';

function tried(site: FakeSlurm, adaptor = slurm(null)) {
  const settings = { timeoutMs: 1000, before: [], queue: null, account: null, options: [] };
  const place = { folder: '/tmp', scriptFile: '/tmp/script', name: 'weft-test-1' };
  return tryOut({ adaptor, commands: site, settings, ...place });
}

test('each operation is tried, and the job that was submitted is cancelled', async () => {
  const site = new FakeSlurm();
  const found = await tried(site);
  assert.deepEqual(
    found.map(({ what, works }) => `${what}: ${works}`),
    [
      ...['list its jobs: true', 'list its nodes: true', 'list its queues: true'],
      ...['submit a job: true', 'find it by its name: true', 'cancel it: true'],
    ],
  );
  assert.deepEqual(
    site.jobs.map(({ name, state }) => `${name} ${state}`),
    ['weft-test-1 CANCELLED'],
  );
});

test('what does not work says why, and the rest is tried all the same', async () => {
  const site = new FakeSlurm();
  site.moods.set('squeue', ['rubbish']);
  site.moods.set('sbatch', ['refuses']);
  const found = await tried(site);
  assert.deepEqual(
    found.filter(({ works }) => !works).map(({ what, words }) => `${what}: ${words}`),
    [
      'list its jobs: squeue: its answer is no JSON document',
      'submit a job: sbatch: sbatch: error: Invalid qos specification',
    ],
  );
});

test('what steering lacks is named with its remedy', async () => {
  const found = await tried(new FakeSlurm(), slurm(disabledScheduler()));
  const lacks = found.filter(({ works }) => !works);
  assert.match(lacks[0]?.words ?? '', /^not so; remedy: set SchedulerType=sched\/builtin/);
});
