// The jobs of test/e2e/three-sites.test.ts on the same three systems apart: each gets the jobs that
// its users give to it, and decides by itself. The test prints the same figures of them as one
// cluster.

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGridEngine } from '../test/e2e/support/grid-engine.ts';
import { Lan } from '../test/e2e/support/hosts.ts';
import {
  CPUS,
  giveMix,
  NODES,
  runOf,
  siteMix,
  toGrid,
  toSlurm,
  toWeft,
} from '../test/e2e/support/three-sites.ts';
import { figure, startCluster } from './cluster.ts';
import { endsIn } from './mix/jobs.ts';
import { startSlurm } from './mix/slurm.ts';

/** Intervals of Slurm, 30 and 60 s by default, scaled down as the jobs are (slurm.conf(5)). */
const SLURM_SCHEDULER = 'bf_interval=1,bf_resolution=1,bf_continue,sched_interval=1';

const count = Number(process.argv[2] ?? 300);
const mix = siteMix(count, Number(process.argv[3] ?? 1));
const directory = mkdtempSync(join(tmpdir(), 'weft-apart-'));
chmodSync(directory, 0o755);
const [stamps, grid] = [join(directory, 'stamps'), join(directory, 'sge')];
for (const folder of [stamps, grid]) mkdirSync(folder);
chmodSync(stamps, 0o777);
const lan = new Lan([directory]);
const slurm = await startSlurm(NODES, CPUS, SLURM_SCHEDULER);
const nodes = Array.from({ length: NODES }, (_, at) => `g${at + 1}`);
const sge = await startGridEngine(lan, grid, { nodes, slots: CPUS, isSteered: false });
const own = await startCluster({ nodes: NODES, cpus: CPUS });
try {
  const given = await giveMix(mix, stamps, {
    weft: (job, line) => toWeft(own.call, job, line),
    slurm: (job, line) => toSlurm(slurm, job, line),
    sge: (job, line) => toGrid(sge, job, line),
  });
  while (endsIn(stamps) < count) await sleep(500);
  for (const door of ['weft', 'slurm', 'sge'] as const) {
    const ours = mix.filter((job) => job.door === door).map(({ at }) => at);
    const { stamps: all } = runOf(given, stamps);
    const waits = ours.map((at) => (all.get(at)?.begin ?? Number.NaN) - (given.get(at) ?? 0));
    figure('apart_wait', 's', waits, { peer: door });
  }
  const { makespanS, meanWaitS } = runOf(given, stamps);
  figure('apart_makespan', 's', [makespanS]);
  figure('apart_mean_wait', 's', [meanWaitS]);
} finally {
  own.stop();
  await slurm.stop();
  await lan.close();
  rmSync(directory, { recursive: true, force: true });
}
