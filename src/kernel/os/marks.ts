// The Marks port: reads /proc. Sees what this user may see: everything as root, else its own.

import { readdirSync, readFileSync } from 'node:fs';
import type { Killed, Marks } from '../ports/marks.ts';
import { environmentOf, statFields } from './environment-of.ts';

const PREFIX = 'WEFT_LAUNCH=';
/** Linux reports resident memory in pages; every page size is a multiple of this one. */
const STATUS_KIB = 1024;

/** A reader of marks; keeps which session has which mark, as a session's mark never changes. */
export function systemMarks(): Marks {
  const bySession = new Map<string, string | null>();
  return {
    memory: () => sumMemory(bySession),
    kill: (marks) => killMarked((entries) => marks.has(markIn(entries) ?? '')),
  };
}

/** How old an answer may be: watches look twice a second. */
const FRESH_MS = 200;

/** For the nodes of one process: one look at the machine answers all that ask at once. */
export function sharedMarks(marks: Marks, monotonic: () => number): Marks {
  let last: { readonly at: number; readonly used: Map<string, number> } | null = null;
  return {
    memory: () => {
      const at = monotonic();
      if (last === null || at - last.at > FRESH_MS) last = { at, used: marks.memory() };
      return last.used;
    },
    kill: (found) => marks.kill(found),
  };
}

function sumMemory(bySession: Map<string, string | null>): Map<string, number> {
  const used = new Map<string, number>();
  const seen = new Set<string>();
  for (const pid of pids()) {
    const status = statOf(pid);
    if (status === null || status.state === 'Z') continue;
    const key = sessionKey(status.session);
    if (key === null) continue;
    seen.add(key);
    const mark = bySession.has(key) ? bySession.get(key) : markOfLeader(status.session);
    if (mark === undefined) continue;
    bySession.set(key, mark);
    if (mark) used.set(mark, (used.get(mark) ?? 0) + residentBytes(pid));
  }
  for (const key of bySession.keys()) if (!seen.has(key)) bySession.delete(key);
  return used;
}

/**
 * In one look, as the watch comes again: a leader in the middle of an exec is not waited for.
 * Undefined: it is in one, and has no environment yet (proc(5)).
 */
function markOfLeader(session: string): string | null | undefined {
  const text = readOrNull(`/proc/${session}/environ`);
  return text === '' ? undefined : markIn(text?.split('\0') ?? []);
}

/** KILL to every process that has this variable in its environment, whatever is its value. */
export function killByMark(variable: string): Killed {
  return killMarked((entries) => entries.some((entry) => entry.startsWith(`${variable}=`)));
}

function killMarked(isMeant: (entries: readonly string[]) => boolean): Killed {
  let lived = 0;
  let unknown = 0;
  for (const pid of pids()) {
    const status = statOf(pid);
    if (status === null || status.state === 'Z' || Number(pid) === process.pid) continue;
    const text = environmentOf(pid);
    if (text === undefined) unknown += 1;
    else if (text !== null && isMeant(text.split('\0')) && killOne(Number(pid))) lived += 1;
  }
  return { lived, unknown };
}

/** False when it ended before the signal came, or is a set-uid program beyond our reach. */
function killOne(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

function pids(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

/** The leader's start time makes a reused session id another session. Null when it has gone. */
function sessionKey(session: string): string | null {
  const leader = statOf(session);
  return leader === null ? null : `${session}@${leader.startTicks}`;
}

/** Value of the mark in a process's environment, which only its owner and root can read. */
function markIn(entries: readonly string[]): string | null {
  return entries.find((entry) => entry.startsWith(PREFIX))?.slice(PREFIX.length) ?? null;
}

interface Stat {
  readonly state: string;
  readonly session: string;
  readonly startTicks: string;
}

function statOf(pid: string): Stat | null {
  const fields = statFields(pid);
  if (fields === null) return null;
  return { state: fields[0] ?? '', session: fields[3] ?? '', startTicks: fields[19] ?? '' };
}

function residentBytes(pid: string): number {
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readOrNull(`/proc/${pid}/status`) ?? '');
  return Number(line?.[1] ?? 0) * STATUS_KIB;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // Processes end while one reads about them, and some are not ours to read.
  }
}
