// What a job used of what it asked for, in words.

import { formatSize } from '../../../kernel/base/size.ts';

/** One figure of one node's part of a task; `asked` 0: nothing was. */
export interface UsedFigure {
  readonly asked: number;
  readonly mean: number;
  readonly peak: number;
}

/** Absent from heads of before. */
interface DiskAmounts {
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** In thousandths of a cpu: `0.98 of 4 on average (25%), 1.5 at most`. */
export function cpuUsedWords({ asked, mean, peak }: UsedFigure): string {
  const of = asked === 0 ? '' : ` of ${cpus(asked)}`;
  return `${cpus(mean)}${of} on average${share(mean, asked)}, ${cpus(peak)} at most`;
}

/** In thousandths of a gpu that worked. */
export const gpuUsedWords = cpuUsedWords;

export function memoryUsedWords({ asked, mean, peak }: UsedFigure): string {
  const of = asked === 0 ? '' : ` of ${formatSize(asked)}`;
  return `${formatSize(mean)}${of} on average${share(mean, asked)}, ${formatSize(peak)} at most`;
}

/** `2.1G read, 300M written`; empty: nobody says, or nothing was. */
export function diskUsedWords({ readBytes = 0, writtenBytes = 0 }: Partial<DiskAmounts>): string {
  if (readBytes === 0 && writtenBytes === 0) return '';
  return `${formatSize(readBytes)} read, ${formatSize(writtenBytes)} written`;
}

function share(mean: number, asked: number): string {
  return asked === 0 ? '' : ` (${Math.round((mean / asked) * 100)}%)`;
}

function cpus(milli: number): string {
  return String(Math.round(milli / 10) / 100);
}
