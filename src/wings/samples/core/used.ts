// What was used of what was asked for, over all starts that are known of a job.

import type { JobSums, TaskRow } from '../model/chunk.ts';
import type { Point } from '../model/look.ts';
import { unpack } from './column.ts';
import { amountOf } from './level-code.ts';
import type { TaskCurve } from './task-curve.ts';

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
  /** From and to disks, of all parts together. */
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/**
 * `only`: the row of the only part; null: there are several. Returns null when nobody has looked.
 */
export function usedBy(sums: JobSums, only: TaskRow | null): JobUse | null {
  const { parts, looks } = sums;
  if (looks === 0) return null;
  const figure = ({ asked, sum, peak, bytes }: Sums): Used => {
    const curve = bytes === undefined ? [] : pointsOf(bytes);
    return { asked, mean: Math.round(sum / looks), peak, curve };
  };
  const { cpuMilliAsked, cpuMilliSum, cpuMilliPeak } = sums;
  const { memoryBytesAsked, memoryBytesSum, memoryBytesPeak } = sums;
  const { gpuMilliAsked: asked, gpuMilliSum: sum, gpuMilliPeak: peak } = sums;
  return {
    parts,
    from: sums.from,
    stepMs: sums.stepMs,
    cpuMilli: figure({
      asked: cpuMilliAsked,
      sum: cpuMilliSum,
      peak: cpuMilliPeak,
      bytes: only?.cpu,
    }),
    memoryBytes: figure({
      asked: memoryBytesAsked,
      sum: memoryBytesSum,
      peak: memoryBytesPeak,
      bytes: only?.memory,
    }),
    gpuMilli: asked === 0 ? null : figure({ asked, sum, peak, bytes: only?.gpu }),
    readBytes: sums.readBytes,
    writtenBytes: sums.writtenBytes,
  };
}

/** One figure. */
interface Sums {
  readonly asked: number;
  readonly sum: number;
  readonly peak: number;
  readonly bytes: Uint8Array | undefined;
}

/** Adds what curves know that is not written yet; peaks never fall, so that theirs count. */
export function withLive(stored: JobSums, live: Iterable<TaskCurve>): JobSums {
  const all = { ...stored };
  for (const curve of live) {
    const [row, gain] = [curve.figures(), curve.gain()];
    if (!curve.isWritten) all.parts += 1;
    all.looks += gain.looks;
    all.cpuMilliSum += gain.cpuMilli;
    all.memoryBytesSum += gain.memoryBytes;
    all.gpuMilliSum += gain.gpuMilli;
    all.readBytes += gain.readBytes;
    all.writtenBytes += gain.writtenBytes;
    for (const name of GREATEST) all[name] = Math.max(all[name], row[name]);
  }
  return all;
}

const GREATEST = [
  ...(['from', 'stepMs', 'cpuMilliAsked', 'cpuMilliPeak'] as const),
  ...(['memoryBytesAsked', 'memoryBytesPeak', 'gpuMilliAsked', 'gpuMilliPeak'] as const),
];

export function pointsOf(bytes: Uint8Array): Point[] {
  return unpack(bytes).map((code) => {
    const amount = amountOf(code);
    return amount === null ? null : Math.round(amount);
  });
}
