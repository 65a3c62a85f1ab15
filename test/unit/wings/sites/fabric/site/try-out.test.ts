// A site tried before it has a gateway: each operation says whether it works, and why not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slurm } from '../../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { disabledScheduler } from '../../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import { Filters } from '../../../../../../src/wings/sites/fabric/filters/site-filters.ts';
import { tryOut } from '../../../../../../src/wings/sites/fabric/site/try-out.ts';
import { VirtualClock } from '../../../../kernel/agent/fake-world.ts';
import { FakeSlurm } from './fake-slurm.ts';

function tried(site: FakeSlurm, adaptor = slurm(null), filters: Filters | null = null) {
  const settings = { timeoutMs: 1000, before: [], queue: null, account: null, options: [] };
  const place = { folder: '/tmp', scriptFile: '/tmp/script', name: 'weft-test-1' };
  return tryOut({ adaptor, commands: site, settings, filters, ...place });
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

test('[G9] rules and sources are tried, and a rule that matches nothing gives a warning', async () => {
  const rule = { over: 'nodes', hide: true, add: [], queue: null } as const;
  const from = { kind: 'file', path: '/no' } as const;
  const filters = new Filters({
    clock: new VirtualClock(),
    reader: { read: () => Promise.reject(new Error('no such file')) },
    load: () => ({
      rules: [
        { ...rule, name: 'first', when: ['node=n1'] },
        { ...rule, name: 'old', when: ['old'] },
      ],
      sources: [{ name: 'mon', from, everyMs: 1000, timeoutMs: 1000 }],
    }),
  });
  const found = await tried(new FakeSlurm(), slurm(null), filters);
  assert.deepEqual(
    found.slice(3, 7).map(({ what, works, words }) => `${what}: ${works}: ${words}`),
    [
      'read the file of filters: true: read',
      'read source mon: false: no such file',
      'rule first: true: matches 1 of 1 nodes',
      'rule old: true: warning: it matches none of 1 nodes',
    ],
  );
});
