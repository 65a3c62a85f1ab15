// One cluster of a Slurm and a Grid Engine, both steered, and nodes of our own; and a mix of short
// jobs, of which one user gives us his, the others theirs to a site itself.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { endsIn, lineOf, type MixJob, stampsIn, uptimeS } from '../../../bench/mix/jobs.ts';
import { type Slurm, startSlurm } from '../../../bench/mix/slurm.ts';
import { Dice } from '../../../src/wings/replay/core/dice.ts';
import { type Call, connectLocally } from '../../support/local-client.ts';
import { endNow } from '../../support/when-killed.ts';
import { type GridEngine, startGridEngine } from './grid-engine.ts';
import { Lan, until } from './hosts.ts';
import { SiteWorld } from './site-world.ts';

/** Nodes of each site, and cpus of each node. */
export const NODES = 2;
export const CPUS = 2;
/** The scheduler of the system looks only when something has happened. */
const STEERED = 'batch_sched_delay=0,sched_interval=86400,default_queue_depth=10000';
const MIB = 1_048_576;

/** Where a job is given to. */
export type Door = 'weft' | 'slurm' | 'sge';
const DOORS: readonly Door[] = ['weft', 'weft', 'slurm', 'sge'];

export interface SiteJob extends MixJob {
  readonly door: Door;
}

/** Half of them are given to us, a quarter to each site; all at once. */
export function siteMix(count: number, seed: number): SiteJob[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, (_, at) => ({
    at,
    arrivesS: 0,
    nodes: 1,
    limitMinutes: 1,
    cpus: dice.roll() < 0.6 ? 1 : 2,
    sleepS: Number((0.5 + 2.5 * dice.roll()).toFixed(2)),
    door: DOORS[Math.floor(dice.roll() * DOORS.length)] ?? 'weft',
  }));
}

/** What became of a mix, by the stamps of its jobs. */
export interface MixRun {
  readonly makespanS: number;
  readonly meanWaitS: number;
  readonly stamps: ReadonlyMap<number, { readonly begin: number; readonly end: number }>;
}

export class ThreeSites {
  readonly world = new SiteWorld(() => {
    for (const pid of this.#slurm?.pids ?? []) endNow(pid, 'SIGTERM');
    this.#lan.closeNow();
  });
  readonly #lan = new Lan([this.world.directory]);
  #slurm: Slurm | undefined;
  #sge: GridEngine | undefined;

  /**
   * @param config lines for the configuration of the head
   * @param filters of both gateways
   */
  async start(config = '', filters = ''): Promise<void> {
    const { world } = this;
    writeFileSync(world.at('filters.yaml'), filters);
    for (const folder of ['sge', 'stamps']) mkdirSync(world.at(folder));
    chmodSync(world.at('stamps'), 0o777);
    const grid = { nodes: ['g1', 'g2'], slots: CPUS, isSteered: true };
    [this.#slurm, this.#sge] = await Promise.all([
      startSlurm(NODES, CPUS, STEERED, { steered: true }),
      startGridEngine(this.#lan, world.at('sge'), grid),
      world.startHead(null, config),
    ]);
    const named = filters === '' ? {} : { filters: world.at('filters.yaml') };
    const steered = { mode: 'steer', poll: '1s', ...named };
    const { before, environment } = this.#sge;
    const sge = { system: 'sge', main: 'main.q', environment: 'smp', before: before.join(',') };
    await Promise.all([
      world.addGateway('slurm', { ...steered, system: 'slurm' }, this.#slurm.environment),
      world.addGateway('sge', { ...steered, ...sge }, environment),
      ...['own1', 'own2'].map((name) => world.addNode(name, CPUS)),
    ]);
    await world.nodesUp(3 * NODES, /^(n\d.slurm|g\d.sge|own\d)$/);
  }

  /** The systems themselves. */
  get systems(): { readonly slurm: Slurm; readonly sge: GridEngine } {
    const [slurm, sge] = [this.#slurm, this.#sge];
    if (slurm === undefined || sge === undefined) throw new Error('the sites were never started');
    return { slurm, sge };
  }

  async give(mix: readonly SiteJob[]): Promise<ReadonlyMap<number, number>> {
    const { slurm, sge } = this.systems;
    const client = await connectLocally(this.world.at('head', 'weft.sock'));
    const given = await giveMix(mix, this.world.at('stamps'), {
      weft: (job, line) => toWeft(client.call, job, line),
      slurm: (job, line) => toSlurm(slurm, job, line),
      sge: (job, line) => toGrid(sge, job, line),
    });
    client.close();
    return given;
  }

  /** Until so many have ended by their own stamps. */
  async ended(count: number): Promise<void> {
    const folder = this.world.at('stamps');
    await until(`${count} jobs have ended`, () => endsIn(folder) >= count || undefined, 900_000);
  }

  run(given: ReadonlyMap<number, number>): MixRun {
    return runOf(given, this.world.at('stamps'));
  }

  async close(): Promise<void> {
    await this.world.close(async () => {
      await this.#slurm?.stop();
      await this.#lan.close();
    });
  }
}

/** Gives each job to its way in, one after the other at each, and hears when it was taken. */
export async function giveMix(
  mix: readonly SiteJob[],
  stamps: string,
  doors: Readonly<Record<Door, (job: SiteJob, line: string) => Promise<unknown>>>,
): Promise<ReadonlyMap<number, number>> {
  const given = new Map<number, number>();
  const through = async (door: Door): Promise<void> => {
    for (const job of mix.filter((one) => one.door === door)) {
      await doors[door](job, lineOf(job, stamps));
      given.set(job.at, uptimeS());
    }
  };
  await Promise.all([through('weft'), through('slurm'), through('sge')]);
  return given;
}

export function runOf(given: ReadonlyMap<number, number>, folder: string): MixRun {
  const stamps = stampsIn(folder);
  const waits = [...given].map(([at, since]) => (stamps.get(at)?.begin ?? Number.NaN) - since);
  const begun = Math.min(...given.values());
  return {
    makespanS: Math.max(...[...stamps.values()].map(({ end }) => end)) - begun,
    meanWaitS: waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
    stamps,
  };
}

export function toWeft(call: Call, { cpus }: SiteJob, line: string): Promise<unknown> {
  return call('POST', '/v1/jobs', {
    program: { kind: 'shell', line },
    environment: { PATH: process.env.PATH ?? '' },
    cpuCount: cpus,
    memoryBytes: 16 * MIB,
    walltimeMs: 20_000,
  });
}

export function toSlurm(slurm: Slurm, { cpus }: SiteJob, line: string): Promise<unknown> {
  const words = ['--uid=nobody', '--chdir=/tmp', '--output=/dev/null', '--time=1', `-c${cpus}`];
  return slurm.command('sbatch', ...words, `--wrap=${line}`);
}

export function toGrid(sge: GridEngine, { cpus }: SiteJob, line: string): Promise<unknown> {
  const user = ['setpriv', '--reuid=daemon', '--regid=daemon', '--clear-groups'];
  const words = ['-terse', '-wd', '/tmp', '-o', '/dev/null', '-e', '/dev/null', '-b', 'y'];
  const size = [...(cpus > 1 ? ['-pe', 'smp', String(cpus)] : []), '-l', 'h_rt=20'];
  return sge.command(...user, 'qsub', ...words, ...size, 'sh', '-c', `'${line}'`);
}
