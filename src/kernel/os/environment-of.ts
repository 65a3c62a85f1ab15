// The environment of a process, also when it is asked for in the middle of an exec, when there is
// none: who belongs to a task is seen by it, and nobody may be overlooked.

import { readFileSync } from 'node:fs';

/** An exec takes a part of a millisecond; one that lasts may hold us up for only so many. */
const LOOKS_MAX = 20;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
/**
 * One that hangs, for a page of a file server that is dead, does not hold up for ever what else
 * waits for an end: it was so at each look for five seconds, and no look was missing for long.
 */
const HANGS_AFTER_MS = 5_000;
const LOOK_AGAIN_MS = 2_000;
const EXECS_MAX = 1_000;
/** Execs that were under way when they were looked at, by pid. */
const execs = new Map<string, { readonly startTicks: string; since: number; seen: number }>();

/**
 * The environment that the kernel keeps, entries ended by NULs. Null: there is no such process, it
 * is not ours to read, or it has none. Undefined: it is in the middle of an exec that lasts, as
 * nothing gives it a CPU.
 */
export function environmentOf(pid: number | string): string | null | undefined {
  let why: Why = 'changed';
  for (let looks = 0; looks < LOOKS_MAX && why !== 'none'; looks += 1) {
    const environment = readProc(`/proc/${pid}/environ`);
    if (environment !== '') {
      execs.delete(`${pid}`);
      return environment;
    }
    why = whyEmpty(pid);
    if (why === 'exec') Atomics.wait(PAUSE, 0, 0, 1);
  }
  if (why === 'exec' && !hangs(`${pid}`)) return undefined;
  if (why !== 'exec') execs.delete(`${pid}`);
  return null;
}

function hangs(pid: string): boolean {
  const startTicks = statFields(pid)?.[19] ?? '';
  const now = performance.now();
  const known = execs.get(pid);
  if (known?.startTicks === startTicks && now - known.seen <= LOOK_AGAIN_MS) {
    known.seen = now;
    return now - known.since > HANGS_AFTER_MS;
  }
  if (execs.size >= EXECS_MAX) execs.clear();
  execs.set(pid, { startTicks, since: now, seen: now });
  return false;
}

/** What proc(5) says in `stat` from field 3 on, the state: the name before it may hold anything. */
export function statFields(pid: number | string): string[] | null {
  const text = readProc(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** `changed`: meanwhile there is something to read, unless it has let go of those pages. */
type Why = 'none' | 'exec' | 'changed';

/**
 * Why the environment of a process was just read as empty. It has memory (field 23), and an
 * environment between 50 and 51. In the middle of an exec these two are first 0, then equal; where
 * code begins (26) is set when all is done, and told as 1 of what is beyond our reach.
 */
function whyEmpty(pid: number | string): Why {
  const fields = statFields(pid) ?? [];
  const [size, code, begin, end] = [fields[20], fields[23], fields[47], fields[48]];
  if (!(Number(size) > 0) || code === '1') return 'none';
  if (code === '0') return 'exec';
  return begin === end ? 'none' : 'changed';
}

/** A process may end between any two looks, or be another's: then there is nothing to read. */
function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
