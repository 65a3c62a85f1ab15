// The same seeded jobs, real sleeps, at the same times through Slurm's backfill and through
// Weft's policies, on four virtual nodes each, all on this machine at once: makespan, waits,
// order of starts.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { figure, startCluster } from './cluster.ts';
import {
  CPUS_PER_NODE,
  endsIn,
  lineOf,
  type MixJob,
  mixOf,
  NODES,
  stampsIn,
  uptimeS,
} from './mix/jobs.ts';
import { startSlurm } from './mix/slurm.ts';

/** Intervals of Slurm, 30 and 60 s by default, scaled down as the jobs are (slurm.conf(5)). */
const SLURM_SCHEDULER = 'bf_interval=1,bf_resolution=1,bf_continue,sched_interval=1';

/** One cluster that gets the mix. */
interface Contender {
  readonly name: string;
  submit(job: MixJob, line: string): Promise<unknown>;
  /** Processes that leave stamps for a job: Slurm runs a script on its first node alone. */
  processesOf(job: MixJob): number;
  stop(): Promise<void> | void;
}

async function slurm(): Promise<Contender> {
  const cluster = await startSlurm(NODES, CPUS_PER_NODE, SLURM_SCHEDULER);
  return {
    name: cluster.version,
    submit: ({ nodes, cpus, limitMinutes }, line) =>
      cluster.command(
        'sbatch',
        ...['-Q', '-D', '/', '-o', '/dev/null', `-N${nodes}`, '--ntasks-per-node=1'],
        ...[`-c${cpus}`, `-t${limitMinutes}`, `--wrap=${line}`],
      ),
    processesOf: () => 1,
    stop: () => cluster.stop(),
  };
}

async function weft(policy: string): Promise<Contender> {
  const cluster = await startCluster({
    nodes: NODES,
    cpus: CPUS_PER_NODE,
    environment: { WEFT_HEAD_POLICY: policy },
  });
  return {
    name: `weft ${policy}`,
    submit: ({ nodes, cpus, limitMinutes }, line) =>
      cluster.call('POST', '/v1/jobs', {
        program: { kind: 'shell', line },
        directory: { kind: 'shared', path: '/' },
        environment: { PATH: process.env.PATH ?? '' },
        nodeCount: nodes,
        cpuCount: cpus,
        walltimeMs: limitMinutes * 60_000,
      }),
    processesOf: ({ nodes }) => nodes,
    stop: () => cluster.stop(),
  };
}

interface Outcome {
  readonly name: string;
  readonly makespanS: number;
  /** From the planned arrival to the first process, by job. */
  readonly waits: readonly number[];
}

async function through(contender: Contender, mix: readonly MixJob[], from: number) {
  const folder = mkdtempSync(join(tmpdir(), 'weft-mix-'));
  for (const job of mix) {
    await sleep(Math.max(0, (from + job.arrivesS - uptimeS()) * 1000));
    await contender.submit(job, lineOf(job, folder));
  }
  const all = mix.reduce((sum, job) => sum + contender.processesOf(job), 0);
  while (endsIn(folder) < all) await sleep(500);
  const stamps = stampsIn(folder);
  rmSync(folder, { recursive: true });
  return outcomeOf(contender.name, mix, stamps, from);
}

function outcomeOf(
  name: string,
  mix: readonly MixJob[],
  stamps: ReturnType<typeof stampsIn>,
  from: number,
): Outcome {
  const of = (job: MixJob) => {
    const stamp = stamps.get(job.at);
    if (stamp === undefined) throw new Error(`${name}: job ${job.at} left no stamp`);
    return stamp;
  };
  return {
    name,
    makespanS: Math.max(...mix.map((job) => of(job).end)) - from - (mix[0]?.arrivesS ?? 0),
    waits: mix.map((job) => of(job).begin - from - job.arrivesS),
  };
}

/** Kendall's tau of two orders of start: 1 the same, 0 unrelated, -1 reversed. */
function tau(mix: readonly MixJob[], a: Outcome, b: Outcome): number {
  const start = ({ waits }: Outcome, { at, arrivesS }: MixJob): number =>
    arrivesS + (waits[at] as number);
  let sum = 0;
  for (const one of mix) {
    for (const other of mix.slice(one.at + 1)) {
      sum += Math.sign((start(a, one) - start(a, other)) * (start(b, one) - start(b, other)));
    }
  }
  return sum / ((mix.length * (mix.length - 1)) / 2);
}

const count = Number(process.argv[2] ?? 300);
const seed = Number(process.argv[3] ?? 1);
if (spawnSync('slurmctld-wlm', ['-V']).status !== 0) {
  console.error('# mix: no Slurm here: apt-get install slurm-wlm munge');
  process.exit(0);
}
const mix = mixOf(count, seed);
const contenders: Contender[] = [];
try {
  for (const make of [slurm, () => weft('easy'), () => weft('conservative')]) {
    contenders.push(await make());
  }
  const from = uptimeS() + 1;
  const outcomes = await Promise.all(contenders.map((one) => through(one, mix, from)));
  for (const outcome of outcomes) {
    const { name, makespanS, waits } = outcome;
    const peer = { peer: name };
    const meanWaitS = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
    figure('mix_makespan', 's', [makespanS], peer);
    figure('mix_mean_wait', 's', [meanWaitS], peer);
    figure('mix_wait', 's', [...waits], peer);
    for (const other of outcomes) {
      if (other === outcome) break;
      figure('mix_order', 'tau', [tau(mix, outcome, other)], { ...peer, against: other.name });
    }
  }
} finally {
  const ends = await Promise.allSettled(contenders.map(async (one) => one.stop()));
  for (const end of ends) if (end.status === 'rejected') console.error(end.reason);
}
