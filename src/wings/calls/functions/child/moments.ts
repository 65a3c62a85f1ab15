// The clock that supervisor and child share, and when a call began and ended by it.

const MS_PER_NS = 1e-6;
/** What `performance.now` counts from differs from process to process; this clock does not. */
const SINCE = Number(process.hrtime.bigint()) * MS_PER_NS - performance.now();

/** Milliseconds of the clock of this machine that only goes on. */
export function momentNow(): number {
  return performance.now() + SINCE;
}

/** The same moment in the time of this process, and none that is still to come. */
export function inOwnTime(moment: number): number {
  return Math.min(moment - SINCE, performance.now());
}

/** In front of what a call has given. */
export const SPAN_BYTES = 16;

export function spanOf(startedAt: number, endedAt: number): Buffer {
  const bytes = Buffer.allocUnsafe(SPAN_BYTES);
  bytes.writeDoubleLE(startedAt, 0);
  bytes.writeDoubleLE(endedAt, 8);
  return bytes;
}

/** In the time of this process. */
export interface Span {
  readonly startedAt: number;
  readonly endedAt: number;
}

export function readSpan(bytes: Buffer): Span {
  return {
    startedAt: inOwnTime(bytes.readDoubleLE(0)),
    endedAt: inOwnTime(bytes.readDoubleLE(8)),
  };
}
