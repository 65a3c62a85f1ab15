// The mix of jobs that goes through several clusters at once, from a seed, and what came of it by
// the stamps of the jobs themselves.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Dice } from '../../src/wings/replay/core/dice.ts';

export const NODES = 4;
export const CPUS_PER_NODE = 8;

export interface MixJob {
  readonly at: number;
  /** Seconds after the begin of the run. */
  readonly arrivesS: number;
  readonly nodes: number;
  /** On each node. */
  readonly cpus: number;
  /** Whole minutes, because Slurm rounds time limits up to them (sbatch(1), `--time`). */
  readonly limitMinutes: number;
  readonly sleepS: number;
}

/** One job a second on average; a minute of time limit stands for one to seven seconds of sleep. */
export function mixOf(count: number, seed: number): MixJob[] {
  const dice = new Dice(seed);
  let arrivesS = 0;
  return Array.from({ length: count }, (_, at) => {
    arrivesS += dice.exponential(1);
    const limitMinutes = chosen(dice.roll(), [0.6, 1], [0.85, 2], [1, 4]);
    return {
      at,
      arrivesS,
      nodes: chosen(dice.roll(), [0.55, 1], [0.8, 2], [0.9, 3], [1, 4]),
      cpus: chosen(dice.roll(), [0.4, 1], [0.65, 2], [0.9, 4], [1, CPUS_PER_NODE]),
      limitMinutes,
      sleepS: Number((limitMinutes * (1 + 6 * dice.roll())).toFixed(2)),
    };
  });
}

/** The value of the first bound that the throw is below. */
function chosen(thrown: number, ...bounds: readonly (readonly [number, number])[]): number {
  for (const [below, value] of bounds) if (thrown < below) return value;
  throw new Error(`no bound above ${thrown}`);
}

/** Sleeps, and stamps its begin and end in seconds of the machine's uptime. */
export function lineOf({ at, sleepS }: MixJob, folder: string): string {
  const stamp = (what: string): string =>
    `read -r t _ < /proc/uptime; echo "$t" > ${folder}/${at}.$$.${what}`;
  return `${stamp('begin')}; sleep ${sleepS}; ${stamp('end')}`;
}

/** Begin of the first process and end of the last one of each job that has begun. */
export function stampsIn(folder: string): Map<number, { begin: number; end: number }> {
  const jobs = new Map<number, { begin: number; end: number }>();
  for (const file of readdirSync(folder)) {
    const [at, , what] = file.split('.');
    const t = Number(readFileSync(join(folder, file), 'utf8'));
    const known = jobs.get(Number(at)) ?? { begin: Infinity, end: -Infinity };
    if (what === 'begin') known.begin = Math.min(known.begin, t);
    else known.end = Math.max(known.end, t);
    jobs.set(Number(at), known);
  }
  return jobs;
}

export function endsIn(folder: string): number {
  return readdirSync(folder).filter((file) => file.endsWith('.end')).length;
}

/** Seconds of the machine's uptime, as the stamps are (proc(5)). */
export function uptimeS(): number {
  return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
}
