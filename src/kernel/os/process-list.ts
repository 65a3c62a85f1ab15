// The processes of this machine, by proc(5).

import { readdirSync, readFileSync } from 'node:fs';
import { statFields } from './environment-of.ts';

export interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly startTicks: number;
  /** The letter of proc(5). */
  readonly state: string;
  readonly isAlive: boolean;
}

/** Undefined when there is no such process. */
export function readStat(pid: number): Seen | undefined {
  const fields = statFields(pid);
  if (!fields) return undefined;
  const state = fields[0] ?? 'X';
  return {
    pid,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
    state,
    isAlive: (state !== 'Z' && state !== 'X') || Number(fields[17]) > 1,
  };
}

/** Now, in the unit of start ticks: 100 a second on every Linux architecture Node runs on. */
export function ticksNow(): number {
  return Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 100);
}

/** All but this one, also those that are over and not yet waited for. */
export function listProcesses(): Seen[] {
  return readdirSync('/proc').flatMap((name) => {
    const seen = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
    return seen === undefined || seen.pid === process.pid ? [] : [seen];
  });
}

/** Adds to these pids those of all that they have started, at any depth. */
export function addDescendants(all: readonly Seen[], pids: Set<number>): void {
  for (let before = -1; before !== pids.size; ) {
    before = pids.size;
    for (const { pid, parent } of all) if (pids.has(parent)) pids.add(pid);
  }
}

/** False when there was nobody to signal, or nobody we may signal. */
export function sendSignal(pid: number, signal: number | NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
