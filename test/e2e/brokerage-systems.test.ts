// A real Slurm and a real Grid Engine in one partition, each with its own scheduler and jobs of its
// own users: a task goes where the queues of both let it start first, or where it is cheaper.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { endNow } from '../support/when-killed.ts';
import { type GridEngine, hasGridEngine, startGridEngine } from './support/grid-engine.ts';
import { Lan, until } from './support/hosts.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const hasSlurm = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const isAble = hasSlurm && hasGridEngine && isRoot;
const skip = isAble ? false : 'needs root, Slurm, munge, Grid Engine, iproute2 and tini';

/** Plans at once what is submitted, and looks again every second. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';
const CPUS = 2;
const CONFIG = `
partitions:
  waits: {nodes: "hpc, farm", placement: least_wait}
  cheap: {nodes: "hpc, farm", placement: cheapest}
sites: {hpc: {price: 2}, farm: {price: 1}}
`;

describe('a Slurm and a Grid Engine in one partition', { skip }, () => {
  let slurm: Slurm | undefined;
  let sge: GridEngine | undefined;
  const world = new SiteWorld(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
    lan.closeNow();
  });
  const lan = new Lan([world.directory]);
  const weft = (...args: string[]) => world.weft(...args);
  const untilThere = (name: string) => {
    const [there, over] = [`[ -e ${world.at(name)} ]`, `[ ! -d ${world.directory} ]`];
    return `until ${there} || ${over}; do sleep 0.2; done`;
  };
  /** Where a job is given to; its site starts it when it likes. */
  const siteOf = async (...args: string[]) => {
    const id = await weft('run', '--cpus', '1', ...args);
    const site = await until(`job ${id} has a site`, async () => {
      return (await world.jobs()).find((job) => job.id === Number(id))?.nodes[0];
    });
    return { id, site };
  };

  before(async () => {
    mkdirSync(world.at('sge'));
    const grid = { nodes: ['g1', 'g2'], slots: CPUS, isSteered: false };
    [slurm, sge] = await Promise.all([
      startSlurm(2, CPUS, SCHEDULER),
      startGridEngine(lan, world.at('sge'), grid),
      world.startHead(null, CONFIG),
    ]);
    await world.addGateway('hpc', { system: 'slurm', poll: '1s' }, slurm.environment);
    const words = { system: 'sge', main: 'main.q', environment: 'smp', poll: '1s' };
    const before = sge.before.join(',');
    await world.addGateway('farm', { ...words, before }, sge.environment);
    await world.nodesUp(2, /^(hpc|farm)$/);
    await world.sitesRead('hpc', 'farm');
  });
  afterEach(showLogs(world));
  // A test that failed leaves nothing in the queues that the next one counts.
  afterEach(() => writeFileSync(world.at('cheap'), ''));
  after(() =>
    world.close(async () => {
      await slurm?.stop();
      await lan.close();
    }),
  );

  it('the cheaper one gets tasks, and a wish comes before that', async () => {
    const cheap = await siteOf('--partition', 'cheap', '--', untilThere('cheap'));
    const wish = await siteOf('--partition', 'cheap', '--site', 'hpc', '--', untilThere('cheap'));
    assert.deepEqual([cheap.site, wish.site], ['farm', 'hpc']);
    assert.match(await weft('why', cheap.id), /cheapest with room: farm \(price 1, no wait\)/);
    writeFileSync(world.at('cheap'), '');
    await weft('wait', cheap.id, wish.id);
  });

  it('a task goes where it waits least, by what users of the sites themselves have there', async () => {
    const fill = ['--chdir=/tmp', '--output=/dev/null', '--time=60', '-c', String(CPUS)];
    for (let at = 0; at < 3; at += 1) {
      await slurm?.command('sbatch', ...fill, `--wrap=${untilThere('go-slurm')}`);
    }
    await until('the head knows of them', async () => {
      return /hpc +slurm.* 1 +2 +\S+$/m.test(await weft('site', 'list')) || undefined;
    });
    const idle = await siteOf('--partition', 'waits', '--', untilThere('go-farm'));
    assert.equal(idle.site, 'farm');
    assert.match(
      await weft('why', idle.id),
      /wait least there: farm \(price 1, no wait\) before\s+hpc \(price 2, about 1h\d+m of wait\)/,
    );
    for (const name of ['go-slurm', 'go-farm']) writeFileSync(world.at(name), '');
    assert.match(await weft('wait', idle.id), /completed/);
  });
});
