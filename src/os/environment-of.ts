// The environment of a process, also when it is asked for in the middle of an exec, when there is
// none: who belongs to a task is seen by it, and nobody may be overlooked.

import { readFileSync } from 'node:fs';

/** An exec takes a part of a millisecond; one that lasts may hold us up only for so many of them. */
const LOOKS_MAX = 20;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/**
 * As the kernel keeps it, entries ended by NULs. Null: there is no such process, or it is not ours
 * to read. Undefined: it is in the middle of an exec that lasts, as nothing gives it a CPU.
 */
export function environmentOf(pid: number | string): string | null | undefined {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const environment = readProc(`/proc/${pid}/environ`);
    if (environment !== '' || !willHave(pid)) return environment;
  }
  return undefined;
}

/** What proc(5) says in `stat` from field 3 on, the state: the name before it may hold anything. */
export function statFields(pid: number | string): string[] | null {
  const text = readProc(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/**
 * Whether a process whose environment was just read as empty has one meanwhile, or will: it has
 * memory (field 23), and an environment between 50 and 51. In the middle of an exec these two are
 * first 0, then equal; where code begins (26) is set when all is done, and told as 1 of what is
 * beyond our reach.
 */
function willHave(pid: number | string): boolean {
  const fields = statFields(pid) ?? [];
  const [size, code, begin, end] = [fields[20], fields[23], fields[47], fields[48]];
  if (!(Number(size) > 0) || code === '1') return false;
  if (code === '0') Atomics.wait(PAUSE, 0, 0, 1);
  return code === '0' || begin !== end;
}

/** A process may end between any two looks, or be another's: then there is nothing to read. */
function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
