// What a program shows its head to say that it runs in a call of a worker (C17).

/** Header of the handshake of calls. */
export const INSIDE_HEADER = 'weft-worker';

export interface InsideClaim {
  readonly epochId: string;
  /** Level of the process: 0 is the worker's own, 1 that for calls of what runs there, … */
  readonly depth: number;
}

/** What such a text claims, not yet believed; null: it is none. `1[0]#2:0:` and a proof. */
export function readInside(text: string): InsideClaim | null {
  const [, epochId, depth] = /^([!-9;-~]{1,100}):(\d{1,3}):[0-9a-f]{64}$/.exec(text) ?? [];
  return epochId === undefined ? null : { epochId, depth: Number(depth) };
}
