// CPU time that programs other than tasks use. A process that ends takes its time along: its
// parent has it from then on, if it waited for it, and it must not count twice.

import { type Detector, isContainer } from './detector.ts';
import type { OneProcess } from './processes.ts';
import { whyHidden } from './processes.ts';

const BY = 'load';
/** USER_HZ, in which proc(5) counts, on every machine that Node.js runs on. */
const TICK_MS = 10;
/** Takes in what has lost its parent, also of tasks: what its children used is nobody's. */
const FIRST = 1;

type Processes = ReadonlyMap<number, OneProcess>;

export function foreignLoad(read: () => Processes): Detector {
  let before: Processes | null = null;
  let cpuMs = 0;
  return {
    of: 'load',
    look() {
      const hidden = whyHidden();
      if (hidden !== null) return [{ kind: 'blind', by: BY, of: 'load', why: hidden }];
      const now = read();
      if (before !== null) cpuMs += Math.max(0, usedBetween(before, now)) * TICK_MS;
      before = now;
      const seen = { kind: 'load', by: BY, cpuMs } as const;
      if (!isContainer()) return [seen];
      const why = 'in a container only its own programs can be seen';
      return [seen, { kind: 'blind', by: BY, of: 'load', why }];
    },
  };
}

/** In ticks. What was there before and what came since, less what the dead have handed on. */
export function usedBetween(before: Processes, now: Processes): number {
  let used = 0;
  for (const one of now.values()) {
    if (one.isOurs || one.pid === FIRST) continue;
    const old = before.get(one.pid);
    const isSame = old !== undefined && old.startTicks === one.startTicks;
    used += one.cpuTicks - (isSame ? old.cpuTicks : 0);
  }
  for (const old of before.values()) {
    if (old.isOurs || old.pid === FIRST || isThere(old, now)) continue;
    const parent = now.get(old.parent);
    const hasHeir = parent !== undefined && !parent.isOurs && parent.pid !== FIRST;
    if (hasHeir && before.has(parent.pid)) used -= old.cpuTicks;
  }
  return used;
}

function isThere({ pid, startTicks }: OneProcess, now: Processes): boolean {
  return now.get(pid)?.startTicks === startTicks;
}
