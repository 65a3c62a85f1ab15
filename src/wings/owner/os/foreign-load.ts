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

/** More than any program has between itself and its session. */
const FOREBEARS_MAX = 64;

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

/**
 * In ticks. What a dead process had used its parent has now, or the next of its forebears that
 * lives, and so much of what that one has gained is no use of this time.
 */
export function usedBetween(before: Processes, now: Processes): number {
  const handedOn = new Map<number, number>();
  for (const old of before.values()) {
    if (isThere(old, now)) continue;
    const heir = heirOf(old, before, now);
    if (heir !== null) handedOn.set(heir, (handedOn.get(heir) ?? 0) + old.cpuTicks);
  }
  let used = 0;
  for (const one of now.values()) {
    if (one.isOurs || one.pid === FIRST) continue;
    const old = before.get(one.pid);
    const isSame = old !== undefined && old.startTicks === one.startTicks;
    const gained = one.cpuTicks - (isSame ? old.cpuTicks : 0);
    used += Math.max(0, gained - (handedOn.get(one.pid) ?? 0));
  }
  return used;
}

/** Null: nobody that is known. A look is no instant: numbers used anew may even make a circle. */
function heirOf(old: OneProcess, before: Processes, now: Processes): number | null {
  let one = before.get(old.parent);
  for (let steps = 0; one !== undefined && steps < FOREBEARS_MAX; steps += 1) {
    if (isThere(one, now)) return one.pid;
    one = before.get(one.parent);
  }
  return null;
}

function isThere({ pid, startTicks }: OneProcess, now: Processes): boolean {
  return now.get(pid)?.startTicks === startTicks;
}
