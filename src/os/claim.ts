// One program per state directory: a pid file that a reused pid cannot fool.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Claims the file for this process until `release`. Throws with the other's pid when the one that
 * claimed it is still alive; what a crash left behind is taken over.
 */
export function claim(path: string, what: string): { release(): void } {
  const holder = readHolder(path);
  if (holder !== null && holder.pid !== process.pid && startOf(holder.pid) === holder.start) {
    throw new Error(`${what} runs already, as process ${holder.pid}`);
  }
  rmSync(path, { force: true });
  // Two that start at the same instant: `wx` lets one of them through.
  writeFileSync(path, `${process.pid} ${startOf(process.pid)}\n`, { flag: 'wx', mode: 0o600 });
  return { release: () => rmSync(path, { force: true }) };
}

function readHolder(path: string): { pid: number; start: string } | null {
  const match = /^(\d+) (\d+)/.exec(readOrEmpty(path));
  return match === null ? null : { pid: Number(match[1]), start: match[2] as string };
}

/** Clock ticks after boot at which the process began (proc(5), field 22); empty when it is gone. */
function startOf(pid: number): string {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? '' : (fields[19] ?? '');
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // Not there: nobody holds it.
  }
}
