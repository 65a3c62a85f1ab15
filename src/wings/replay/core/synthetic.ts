// Workloads made up: some shapes of requests, drawn at random and arriving as a Poisson process.

import { Dice } from './dice.ts';
import { cpusOf, inOrder, type Machine, type ReplayJob } from './machine.ts';

/** One kind of request. */
export interface LoadShape {
  readonly nodeCount: number;
  readonly cpusPerNode: number;
  readonly walltimeMs: number;
}

export interface SyntheticOptions {
  readonly seed: number;
  readonly jobCount: number;
  /** Each about as often as the others. */
  readonly shapes: readonly LoadShape[];
  /** Processor time asked for per processor time there is; above 1 the queue grows without end. */
  readonly load: number;
}

const SECOND_MS = 1000;
const DAY_S = 86_400;

/** This many different shapes that fit on the machine: mostly small, short ones, a few giants. */
export function randomShapes(count: number, machine: Machine, seed: number): LoadShape[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, () => ({
    nodeCount: Math.round(dice.logarithmic(1, machine.nodeCount)),
    cpusPerNode: Math.round(dice.logarithmic(1, machine.cpusPerNode)),
    walltimeMs: Math.round(dice.logarithmic(60, DAY_S)) * SECOND_MS,
  }));
}

/** Jobs of these shapes, each of which must fit on the machine. */
export function synthetic(options: SyntheticOptions, machine: Machine): readonly ReplayJob[] {
  const { seed, jobCount, shapes, load } = options;
  const dice = new Dice(seed);
  const drawn = Array.from({ length: jobCount }, (_, index) => draw(index, dice, shapes, machine));
  const work = drawn.reduce((sum, job) => sum + job.processors * job.runMs, 0);
  const meanGapMs = work / (load * cpusOf(machine) * Math.max(1, jobCount));
  let at = 0;
  return inOrder(
    drawn.map((job) => {
      at += dice.exponential(meanGapMs);
      return { ...job, submittedAt: Math.round(at) };
    }),
  );
}

/** Users ask for more time than they need, a fifth of them for exactly enough (Tsafrir 2005). */
function draw(
  index: number,
  dice: Dice,
  shapes: readonly LoadShape[],
  machine: Machine,
): ReplayJob {
  const { nodeCount, cpusPerNode, walltimeMs } = dice.pick(shapes);
  const part = dice.roll() < 0.2 ? 1 : dice.roll();
  const { memoryBytesPerNode } = machine;
  // Its share of the memory, half more or half less: so that memory, too, is what some wait for.
  const share = Math.min(1, ((0.5 + dice.roll()) * cpusPerNode) / machine.cpusPerNode);
  const memoryBytes = memoryBytesPerNode === null ? 0 : Math.floor(memoryBytesPerNode * share);
  return {
    id: String(index + 1),
    submittedAt: 0,
    walltimeMs,
    runMs: Math.max(SECOND_MS, Math.round((walltimeMs * part) / SECOND_MS) * SECOND_MS),
    processors: nodeCount * cpusPerNode,
    request: {
      nodeCount,
      processesPerNode: 1,
      exclusive: false,
      labels: [],
      nodeNames: [],
      perNode: { cpuCount: cpusPerNode, memoryBytes, gpuCount: 0, counted: {} },
    },
  };
}

/**
 * Every arrival up to `shakeMs` earlier or later, at random: how much of a figure is luck
 * (Tsafrir, Ouaknine, Feitelson 2007, input shaking).
 */
export function shaken(
  jobs: readonly ReplayJob[],
  shakeMs: number,
  seed: number,
): readonly ReplayJob[] {
  const dice = new Dice(seed);
  return inOrder(
    jobs.map((job) => {
      const moved = job.submittedAt + dice.between(-shakeMs, shakeMs);
      return { ...job, submittedAt: Math.max(0, moved) };
    }),
  );
}
