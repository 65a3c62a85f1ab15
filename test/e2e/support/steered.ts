// Worlds in which the scheduler of a head steers a real batch system of two nodes with two cpus,
// and what its users do there. Called inside `describe`: they begin and end with its tests.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { after, afterEach, before } from 'node:test';
import { type Slurm, startSlurm } from '../../../bench/mix/slurm.ts';
import { endNow } from '../../support/when-killed.ts';
import { type GridEngine, hasGridEngine, startGridEngine } from './grid-engine.ts';
import { Lan } from './hosts.ts';
import { SiteWorld, showLogs } from './site-world.ts';

const isRoot = process.getuid?.() === 0;
const hasSlurm = spawnSync('slurmctld-wlm', ['-V']).status === 0;

/** For `describe`: what keeps their tests from being run. */
export const withoutSlurm = hasSlurm && isRoot ? false : 'needs root, and slurm-wlm and munge';
export const withoutGridEngine =
  hasGridEngine && isRoot ? false : 'needs root, Grid Engine, iproute2 and tini';

/** The scheduler of the system looks only when something has happened. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=86400,default_queue_depth=10000';

export const STEERED_SLURM = { system: 'slurm', mode: 'steer', poll: '500ms' };

export interface Steered<System> {
  readonly world: SiteWorld;
  /** Once it has begun. */
  readonly system: () => System;
  /** Gives a job to the system itself, as one of its users; its id there. */
  readonly give: (...line: string[]) => Promise<string>;
}

/** Behind a gateway named `hpc`. */
export function steeredSlurm(): Steered<Slurm> {
  let slurm: Slurm | undefined;
  const world = new SiteWorld(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });
  before(async () => {
    [slurm] = await Promise.all([
      startSlurm(2, 2, SCHEDULER, { steered: true }),
      world.startHead(),
    ]);
    await world.addGateway('hpc', STEERED_SLURM, slurm.environment);
    await world.nodesUp(2, /^n\d/);
  });
  afterEach(showLogs(world));
  after(() => world.close(() => slurm?.stop()));
  const system = () => begun(slurm);
  const give = async (...line: string[]): Promise<string> => {
    const words = ['--parsable', '--uid=nobody', '--chdir=/tmp', '--output=/dev/null', ...line];
    return (await system().command('sbatch', ...words)).trim();
  };
  return { world, system, give };
}

/**
 * Behind a gateway named `hpc`: its commands are run behind words of another program, as behind
 * ssh.
 */
export function steeredGridEngine(): Steered<GridEngine> {
  let sge: GridEngine | undefined;
  const world = new SiteWorld(() => lan.closeNow());
  const lan = new Lan([world.directory]);
  before(async () => {
    mkdirSync(world.at('sge'));
    const grid = { nodes: ['n1', 'n2'], slots: 2, isSteered: true };
    [sge] = await Promise.all([startGridEngine(lan, world.at('sge'), grid), world.startHead()]);
    const site = {
      system: 'sge',
      mode: 'steer',
      poll: '500ms',
      main: 'main.q',
      environment: 'smp',
      spread: 'one',
      before: sge.before.join(','),
    };
    await world.addGateway('hpc', site, sge.environment);
    await world.nodesUp(2, /^n\d/);
  });
  afterEach(showLogs(world));
  after(() => world.close(() => lan.close()));
  const system = () => begun(sge);
  const give = async (...line: string[]): Promise<string> => {
    const user = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'];
    const words = ['-terse', '-wd', '/tmp', '-o', '/dev/null', '-e', '/dev/null', '-b', 'y'];
    return (await system().command(...user, 'qsub', ...words, ...line)).trim();
  };
  return { world, system, give };
}

function begun<System>(system: System | undefined): System {
  if (system === undefined) throw new Error('its world has not begun');
  return system;
}
