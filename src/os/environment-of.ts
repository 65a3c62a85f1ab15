// The environment of a process, also when it is asked for in the middle of an exec, when there is
// none: who belongs to a task is seen by it, and nobody may be overlooked.

import { readFileSync } from 'node:fs';

/** An exec takes a part of a millisecond; one that hangs may hold us up only for so many of them. */
const LOOKS_MAX = 20;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** As the kernel keeps it, entries ended by NULs. Null: there is no such process, or it is not ours to read. */
export function environmentOf(pid: number | string): string | null {
  let environment = readProc(`/proc/${pid}/environ`);
  for (let looks = 0; environment === '' && looks < LOOKS_MAX && willHave(pid); looks += 1) {
    environment = readProc(`/proc/${pid}/environ`);
  }
  return environment;
}

/** What proc(5) says in `stat` from field 3 on, the state: the name before it may hold anything. */
export function statFields(pid: number | string): string[] | null {
  const text = readProc(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/**
 * Whether a process whose environment was just read as empty has one meanwhile, or will: in the
 * middle of an exec it has memory (field 23), but no end of an environment (51).
 */
function willHave(pid: number | string): boolean {
  const fields = statFields(pid) ?? [];
  const [begin, end] = [fields[47], fields[48]];
  // Where code begins (26) is told as 1 of what is beyond our reach.
  if (!(Number(fields[20]) > 0) || fields[23] === '1') return false;
  if (end === '0') Atomics.wait(PAUSE, 0, 0, 1);
  return end === '0' || begin !== end;
}

/** A process may end between any two looks, or be another's: then there is nothing to read. */
function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
