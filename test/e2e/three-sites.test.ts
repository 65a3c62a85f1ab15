// A Slurm, a Grid Engine and nodes of our own as one cluster: a mix of jobs of three users, two of
// whom give theirs to their site itself; a maintenance of two of the three; a gateway killed in the
// middle.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, afterEach, before, describe, it } from 'node:test';
import type { MaintenanceView } from '../../src/kernel/api/maintenance.ts';
import { hasGridEngine } from './support/grid-engine.ts';
import { until } from './support/hosts.ts';
import { showLogs } from './support/site-world.ts';
import { siteMix, ThreeSites } from './support/three-sites.ts';

const hasSlurm = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip =
  hasSlurm && hasGridEngine && isRoot ? false : 'needs root, slurm-wlm, munge, Grid Engine, tini';

/** 300 in docs/fabric.md. */
const COUNT = Number(process.env.WEFT_TEST_SITES_JOBS ?? 48);
/** A file for the picture of what ran where and when. */
const PICTURE = process.env.WEFT_TEST_SITES_PICTURE;
const [WINDOW_IN_S, WINDOW_S] = [COUNT / 12, COUNT / 6];
const IN_WINDOW = ['n1.slurm', 'n2.slurm', 'own1'];

describe('three sites as one cluster', { skip }, () => {
  const sites = new ThreeSites();
  const { world } = sites;
  before(() => sites.start());
  afterEach(showLogs(world));
  after(() => sites.close());

  it('[M1, G6] each job ends once with evidence, and none of them is in the window', async () => {
    const mix = siteMix(COUNT, 1);
    const options = ['--at', `+${WINDOW_IN_S}s`, '-d', `${WINDOW_S}s`, '-o', 'name'];
    const window = await world.weft('maint', 'node-off', ...IN_WINDOW, ...options);
    const given = await sites.give(mix);
    await sites.ended(Math.floor(COUNT / 4));
    await world.end('slurm', 'SIGKILL');
    await world.startAgain('slurm');
    await sites.ended(COUNT);
    const run = sites.run(given);
    await until('all have ended here, too', async () => {
      return (await world.jobs()).every(({ state }) => state === 'done') || undefined;
    });
    const jobs = await world.jobs();
    assert.equal(jobs.length, COUNT);
    for (const { id, outcome, exit } of jobs) {
      assert.deepEqual([outcome?.kind, exit], ['completed', { code: 0 }], `job ${id}`);
    }
    assert.equal(run.stamps.size, COUNT);
    const { from, until: to } = await world.json<MaintenanceView>('maint', 'show', window);
    for (const { id, nodes, startedAt, endedAt } of jobs) {
      const isThere = nodes.some((name) => IN_WINDOW.includes(name));
      const isIn = (startedAt ?? 0) < to && (endedAt ?? 0) > from;
      assert.ok(!isThere || !isIn, `job ${id} ran on ${nodes} from ${startedAt} to ${endedAt}`);
    }
    if (PICTURE !== undefined) await world.weft('schedule', '--svg', PICTURE);
    const owners = new Set(jobs.map(({ owner }) => owner));
    assert.deepEqual([...owners].sort(), ['daemon', 'nobody', 'root']);
    process.stderr.write(
      `${COUNT} jobs: makespan ${run.makespanS.toFixed(1)} s, mean wait ${run.meanWaitS.toFixed(1)} s\n`,
    );
  });
});
