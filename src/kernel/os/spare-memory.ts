// Memory that V8 keeps after a burst of work goes back to the machine when the program is idle.
// V8 itself collects when it needs room, so a quiet head would hold on to its garbage.

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from '../ports/clock.ts';

/** Between two looks; the first quiet one collects. */
const LOOK_MS = 2000;
/** Idle: less than this share of one processor. Heartbeats of a thousand nodes stay below. */
const BUSY_SHARE_MAX = 0.1;
/** Growth of the heap since the last collection that is worth one. */
const GROWTH_BYTES_MIN = 16 * 1_048_576;
/** A larger heap is left alone: a collection takes some 3 ms per MiB, and whoever asks waits. */
const OCCUPIED_BYTES_MAX = 256 * 1_048_576;
/**
 * Most that collections may take: a share of all other CPU time, and a share of the elapsed time.
 * A program that is always a little busy, or gets little of a crowded machine, seems idle in every
 * look; its young objects alone make it grow enough for a collection each time.
 */
const OF_WORK_MAX = 1 / 20;
const OF_TIME_MAX = 1 / 500;

/** While a head reads its store nearly all that is made stays: looking for garbage finds none. */
const GROWTH_WHILE_READING = '--heap-growing-percent=200';
const GROWTH = /^--heap-growing-percent=\d+$/;

/**
 * Lets the heap of a process that was started to be small grow freely; returns what ends that. A
 * restart with 100,000 pending jobs takes a fifth less CPU so.
 */
export function growFreely(): () => void {
  const kept = process.execArgv.find((flag) => GROWTH.test(flag));
  if (kept === undefined) return () => undefined;
  setFlagsFromString(GROWTH_WHILE_READING);
  return () => setFlagsFromString(kept);
}

export interface Heap {
  /** Bytes of memory that the heap occupies now. */
  occupiedBytes(): number;
  /** CPU time of the whole process so far, in ms. */
  cpuMs(): number;
  collect(): void;
}

/** This process's heap; null unless Node was started with `--expose-gc`. */
export function ownHeap(): Heap | null {
  const collect = globalThis.gc;
  if (collect === undefined) return null;
  // Any other flavour leaves half empty pages as they are.
  const how = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;
  return {
    occupiedBytes: () => getHeapStatistics().total_physical_size,
    cpuMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    collect: () => void collect(how),
  };
}

export interface Sparing {
  /** Lets the next collection take what it takes: work that leaves much garbage was just done. */
  allowOne(): void;
  end(): void;
}

/** Collects in the first quiet moment after the heap has grown. */
export function collectWhenIdle(clock: Clock, heap: Heap | null): Sparing {
  if (heap === null) return { allowOne: () => undefined, end: () => undefined };
  let keptBytes = 0;
  let cpuMs = heap.cpuMs();
  /** CPU time and instant of the last collection, and what it took. */
  let last = { cpuMs, at: clock.monotonic(), tookMs: 0 };
  let isAllowed = false;
  const look = (): void => {
    const usedMs = heap.cpuMs() - cpuMs;
    cpuMs += usedMs;
    const isIdle = usedMs < LOOK_MS * BUSY_SHARE_MAX;
    const earnedMs =
      (cpuMs - last.cpuMs) * OF_WORK_MAX + (clock.monotonic() - last.at) * OF_TIME_MAX;
    const bytes = heap.occupiedBytes();
    const hasGrown = bytes > keptBytes + GROWTH_BYTES_MIN && bytes <= OCCUPIED_BYTES_MAX;
    if (isIdle && hasGrown && (isAllowed || earnedMs >= last.tookMs)) {
      heap.collect();
      keptBytes = heap.occupiedBytes();
      const tookMs = heap.cpuMs() - cpuMs;
      cpuMs += tookMs;
      last = { cpuMs, at: clock.monotonic(), tookMs };
      isAllowed = false;
    }
    timer = clock.after(LOOK_MS, look);
  };
  let timer = clock.after(LOOK_MS, look);
  return {
    allowOne() {
      isAllowed = true;
    },
    end: () => timer.cancel(),
  };
}
