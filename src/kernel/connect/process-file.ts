// Files that say which process a daemon is: pid and start time, so that a pid that was given to
// another program meanwhile is never taken for the daemon, nor ended in its place.

import {
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { namingFile } from '../config/file-problem.ts';

export interface ProcessMark {
  readonly pid: number;
  /** Field 22 of proc(5) stat: clock ticks since boot. */
  readonly startTicks: number;
  /** Ticks count from the boot: the same number means another process after the next one. */
  readonly bootId: string;
  /** Which folder it serves, as `folderOf` has it; absent: written by an older release. */
  readonly folder?: string;
}

const POLL_MS = 15;

/** Fields of proc(5)'s stat from the third on, the state. Throws when there is no such process. */
export function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in parentheses may hold blanks and parentheses itself.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The mark of a live process; null when there is none or it is a zombie. */
export function markOf(pid: number): ProcessMark | null {
  try {
    const fields = statFields(pid);
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return { pid, startTicks: Number(fields[19]), bootId: bootId() };
  } catch {
    return null; // No such process.
  }
}

let thisBoot: string | null = null;

/** Read once: no process outlives its boot. */
function bootId(): string {
  thisBoot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return thisBoot;
}

/** The folder of a file, by what a copy of it does not have. */
export function folderOf(file: string): string {
  const { dev, ino } = statSync(path.dirname(file), { bigint: true });
  return `${dev}:${ino}`;
}

/**
 * Others look while it is written: they see the old mark or the new one. On a full disk the new one
 * takes the room of the old one, so that what has run there can be started again.
 */
export function writeMark(file: string, pid: number): void {
  const fresh = `${file}.new`;
  const mark = markOf(pid);
  const own = mark === null ? null : { ...mark, folder: folderOf(file) };
  const write = (to: string) => writeFileSync(to, `${JSON.stringify(own)}\n`, { mode: 0o600 });
  try {
    write(fresh);
  } catch {
    rmSync(fresh, { force: true });
    return namingFile(file, () => write(file));
  }
  renameSync(fresh, file);
}

/**
 * The process that a file names, if that very process is alive and serves this folder: in a copy of
 * the folder the files name the processes of the original (N20).
 */
export function readLiveMark(file: string): ProcessMark | null {
  const mark = readMark(file);
  return mark !== null && serves(mark, file) ? mark : null;
}

/**
 * The process that holds a lock. One of an older release, which names no folder, is believed
 * wherever it works: it may be at work on what the lock guards, and no process is ended for a lock.
 */
export function readHolder(file: string): ProcessMark | null {
  const mark = readMark(file);
  return mark !== null && (mark.folder === undefined || serves(mark, file)) ? mark : null;
}

/** The process that a file names, if that very process is alive. */
function readMark(file: string): ProcessMark | null {
  let mark: ProcessMark | null;
  try {
    mark = JSON.parse(readFileSync(file, 'utf8')) as ProcessMark | null;
  } catch {
    return null; // Never started, or a file cut off by a crash: nothing that could be ended.
  }
  return mark !== null && isAlive(mark) ? mark : null;
}

function serves({ pid, folder }: ProcessMark, file: string): boolean {
  if (folder !== undefined) return folder === folderOf(file);
  // Without a word of its own: what it has open, or was started with, is in the folder above.
  const above = path.dirname(path.dirname(realpathSync(file))) + path.sep;
  const used = usedBy(pid);
  return used === null || used.some((one) => one.startsWith(above));
}

/** Paths that a process works with; null: it is another user's. */
function usedBy(pid: number): string[] | null {
  const of = `/proc/${pid}`;
  try {
    const words = readFileSync(`${of}/cmdline`, 'utf8').split('\0');
    const open = readdirSync(`${of}/fd`).flatMap((one) => linkOf(`${of}/fd/${one}`));
    return [...words, ...open, ...linkOf(`${of}/cwd`)];
  } catch {
    return null;
  }
}

function linkOf(file: string): string[] {
  try {
    return [readlinkSync(file)];
  } catch {
    return []; // Closed meanwhile.
  }
}

/** Processes that files name and that are alive, by pid: one may have many names. */
export function liveMarks(files: readonly string[]): Map<number, ProcessMark> {
  const marks = files.map(readLiveMark).filter((mark) => mark !== null);
  return new Map(marks.map((mark) => [mark.pid, mark]));
}

export function isAlive(mark: ProcessMark): boolean {
  const now = markOf(mark.pid);
  return now !== null && now.startTicks === mark.startTicks && now.bootId === mark.bootId;
}

/** Sends a signal and waits; KILL after the grace. Resolves when the process is gone. */
export async function endProcess(
  mark: ProcessMark,
  { signal, graceMs }: { signal: NodeJS.Signals; graceMs: number },
): Promise<'ended' | 'killed'> {
  send(mark, signal);
  if (await goneWithin(mark, graceMs)) return 'ended';
  send(mark, 'SIGKILL');
  await goneWithin(mark, 5000);
  return 'killed';
}

function send(mark: ProcessMark, signal: NodeJS.Signals): void {
  if (!isAlive(mark)) return;
  try {
    process.kill(mark.pid, signal);
  } catch (error) {
    // It ended between the two lines above: just what is wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function goneWithin(mark: ProcessMark, limitMs: number): Promise<boolean> {
  const until = performance.now() + limitMs;
  while (isAlive(mark)) {
    if (performance.now() > until) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Removes a file that names a process that is gone. */
export function removeMark(file: string): void {
  rmSync(file, { force: true });
}
