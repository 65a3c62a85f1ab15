// How long the gpus of tasks have stood idle: since when each node's part of a task has not worked.
// Any work, and any time in which nobody looked, begins it anew.

import { formatDuration } from '../../../kernel/base/duration.ts';
import { plural } from '../../../kernel/base/plural.ts';

/** What of idle gpus is said, and done. */
export interface IdleRule {
  /** A gpu that works for less of its time is idle. */
  readonly belowPercent: number;
  /** Time after which its task is named. */
  readonly forMs: number;
  /** Time after which it is put back and held; null: never. */
  readonly holdAfterMs: number | null;
  /** Time after which it is ended; null: never. */
  readonly endAfterMs: number | null;
}

declare module '../../../kernel/model/settings.ts' {
  interface Settings {
    /** By partition. Absent: idle gpus are nobody's business. */
    readonly gpuIdle?: Readonly<Record<string, IdleRule>>;
  }
}

/** Between two looks further apart anything may have happened. */
export const LOOKS_APART_MAX_MS = 60_000;

/** What one part of a task does at a look. */
export interface GpuWork {
  /** Thousandths of its gpus that worked, together; null: nobody says. */
  readonly milli: number | null;
  readonly count: number;
}

interface Idle {
  /** The first look at which it did not work. */
  readonly since: number;
  /** The last one. */
  readonly until: number;
}

export class IdleBook {
  /** By epoch, then by node; who works is not there. */
  readonly #idle = new Map<string, Map<string, Idle>>();

  get epochs(): Iterable<string> {
    return this.#idle.keys();
  }

  nodesOf(epochId: string): Iterable<string> {
    return this.#idle.get(epochId)?.keys() ?? [];
  }

  note(epochId: string, node: string, at: number, work: GpuWork, { belowPercent }: IdleRule): void {
    const parts = this.#idle.get(epochId) ?? new Map<string, Idle>();
    // A mean would hide one gpu that works beside seven that do not: all of it must be below that
    // of one.
    const isIdle = work.milli !== null && work.count > 0 && work.milli < belowPercent * 10;
    const before = parts.get(node);
    const goesOn = before !== undefined && at - before.until <= LOOKS_APART_MAX_MS;
    if (isIdle) parts.set(node, { since: goesOn ? before.since : at, until: at });
    else parts.delete(node);
    if (parts.size > 0) this.#idle.set(epochId, parts);
    else this.#idle.delete(epochId);
  }

  /**
   * How long all of these nodes' parts have been idle; 0: not all are, or nobody has looked lately.
   */
  idleMs(epochId: string, nodes: readonly string[], now: number): number {
    let least = nodes.length === 0 ? 0 : Number.POSITIVE_INFINITY;
    for (const node of nodes) {
      const idle = this.#idle.get(epochId)?.get(node);
      const isFresh = idle !== undefined && now - idle.until <= LOOKS_APART_MAX_MS;
      least = Math.min(least, isFresh ? idle.until - idle.since : 0);
    }
    return least;
  }

  forget(epochId: string): void {
    this.#idle.delete(epochId);
  }
}

/** What is done with a task at last, and after how long. */
export interface IdleWay {
  readonly does: 'end' | 'hold';
  readonly afterMs: number;
}

/** `Its 2 gpus have been idle for 41m …`. `way`: null where nothing is done but that. */
export function idleWords(
  gpus: number,
  idleMs: number,
  { belowPercent, way }: { readonly belowPercent: number; readonly way: IdleWay | null },
): string {
  const which = gpus === 1 ? 'Its gpu has' : `All its ${plural(gpus, 'gpu')} have`;
  const words = `${which} been idle for ${span(idleMs)}, at less than ${belowPercent}% of the time.`;
  if (way === null) return words;
  const done = way.does === 'end' ? 'ended' : 'put back and held';
  return `${words} The task is ${done} after ${span(way.afterMs)} of that.`;
}

/** For the outcome of a task that is ended. */
export function endedWords(gpus: number, idleMs: number, partition: string): string {
  const which = gpus === 1 ? 'its gpu was' : `its ${plural(gpus, 'gpu')} were`;
  return `${which} idle for ${span(idleMs)}; gpu_idle of partition ${partition} ends such tasks`;
}

/** For the outcome of a start that is put back, and for why it waits. */
export function heldWords(gpus: number, idleMs: number, partition: string): string {
  const which = gpus === 1 ? 'its gpu was' : `its ${plural(gpus, 'gpu')} were`;
  return `${which} idle for ${span(idleMs)}, and gpu_idle of partition ${partition} holds such tasks`;
}

function span(ms: number): string {
  return formatDuration(Math.round(ms / 1000) * 1000);
}
