// What was used of what was asked for, over all starts that are known of a job.

import type { TaskRow } from '../model/chunk.ts';
import type { Point } from '../model/look.ts';
import { unpack } from './column.ts';
import { amountOf } from './level-code.ts';

/** One figure, over all parts. */
export interface Used {
  /** What one part asked for on its node; 0: nothing. */
  readonly asked: number;
  readonly mean: number;
  readonly peak: number;
  /** The curve of the only part; empty where there are several. */
  readonly curve: readonly Point[];
}

export interface JobUse {
  /** Parts of tasks on nodes that were looked at. */
  readonly parts: number;
  /** Ms since 1970, of the curves. */
  readonly from: number;
  readonly stepMs: number;
  /** In thousandths of a cpu. */
  readonly cpuMilli: Used;
  readonly memoryBytes: Used;
  /** Thousandths of gpus that worked; null: it has none. */
  readonly gpuMilli: Used | null;
}

/** Returns null when nobody has looked at it. */
export function usedBy(rows: readonly TaskRow[]): JobUse | null {
  const [first, ...others] = rows;
  if (first === undefined) return null;
  const looks = sum(rows.map((row) => row.looks));
  if (looks === 0) return null;
  const isAlone = others.length === 0;
  const figure = (of: (row: TaskRow) => Sums): Used => {
    const all = rows.map(of);
    return {
      asked: Math.max(...all.map(({ asked }) => asked)),
      mean: Math.round(sum(all.map((one) => one.sum)) / looks),
      peak: Math.max(...all.map(({ peak }) => peak)),
      curve: isAlone ? pointsOf(of(first).bytes) : [],
    };
  };
  const gpu = figure((row) => {
    const { gpuMilliAsked: asked, gpuMilliSum, gpuMilliPeak: peak, gpu: bytes } = row;
    return { asked, sum: gpuMilliSum, peak, bytes };
  });
  return {
    parts: rows.length,
    from: first.from,
    stepMs: first.stepMs,
    cpuMilli: figure((row) => {
      const { cpuMilliAsked: asked, cpuMilliSum, cpuMilliPeak: peak, cpu: bytes } = row;
      return { asked, sum: cpuMilliSum, peak, bytes };
    }),
    memoryBytes: figure((row) => {
      const { memoryBytesAsked: asked, memoryBytesSum, memoryBytesPeak: peak, memory } = row;
      return { asked, sum: memoryBytesSum, peak, bytes: memory };
    }),
    gpuMilli: gpu.asked === 0 ? null : gpu,
  };
}

/** One figure of one row. */
interface Sums {
  readonly asked: number;
  readonly sum: number;
  readonly peak: number;
  readonly bytes: Uint8Array;
}

export function pointsOf(bytes: Uint8Array): Point[] {
  return unpack(bytes).map((code) => {
    const amount = amountOf(code);
    return amount === null ? null : Math.round(amount);
  });
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
