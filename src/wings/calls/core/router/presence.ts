// A worker comes and goes. One object through all of it: calls and lists hold it.

import type { Worker, WorkerLine } from './records.ts';

interface AnyPresence {
  line: WorkerLine | null;
  awaySince: number | null;
}

export function toHere(worker: Worker, line: WorkerLine): void {
  const one = changed(worker);
  one.line = line;
  one.awaySince = null;
}

/** From here, or waited for anew from now on. */
export function toAway(worker: Worker, now: number): void {
  const one = changed(worker);
  one.line = null;
  one.awaySince = now;
}

function changed(worker: Worker): AnyPresence {
  return worker as unknown as AnyPresence;
}
