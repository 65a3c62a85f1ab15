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
}

/** Null: nobody has looked at it. */
export function usedBy(rows: readonly TaskRow[]): JobUse | null {
  const [first, ...others] = rows;
  if (first === undefined) return null;
  const looks = sum(rows.map((row) => row.looks));
  if (looks === 0) return null;
  const isAlone = others.length === 0;
  return {
    parts: rows.length,
    from: first.from,
    stepMs: first.stepMs,
    cpuMilli: {
      asked: Math.max(...rows.map((row) => row.cpuMilliAsked)),
      mean: Math.round(sum(rows.map((row) => row.cpuMilliSum)) / looks),
      peak: Math.max(...rows.map((row) => row.cpuMilliPeak)),
      curve: isAlone ? pointsOf(first.cpu) : [],
    },
    memoryBytes: {
      asked: Math.max(...rows.map((row) => row.memoryBytesAsked)),
      mean: Math.round(sum(rows.map((row) => row.memoryBytesSum)) / looks),
      peak: Math.max(...rows.map((row) => row.memoryBytesPeak)),
      curve: isAlone ? pointsOf(first.memory) : [],
    },
  };
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
