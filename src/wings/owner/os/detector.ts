// What the detectors have in common: one way each to see whether somebody uses this machine.

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import type { Sign, Wanted } from '../ports/presence.ts';

export interface Instant {
  /** Wall clock, ms since 1970. */
  readonly at: number;
  readonly monotonic: number;
}

export interface Detector {
  readonly of: Wanted;
  /** One look; never throws. */
  look(now: Instant): Sign[];
  close?(): void;
}

/** Names come from devices and users: on one line, and of a length that fits into a table. */
const WORDS_LENGTH_MAX = 120;
/** PROC_PID_INIT_INO of the kernel: the machine's own process table. */
const FIRST_PIDS = 'pid:[4026531836]';

export function plain(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, WORDS_LENGTH_MAX);
}

/** `permission denied (EACCES)` and the like. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : (WORDS[code] ?? code);
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there (ENOENT)',
  EACCES: 'permission denied (EACCES)',
  EPERM: 'permission denied (EPERM)',
};

/** What is there may be anybody's: a pipe would keep the agent waiting for ever. */
const UNMOVED = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** No file of a system that is read here has as much. */
const BYTES_MAX = 4 * 1_048_576;

/** The first `BYTES_MAX` of a regular file, in latin1. Null: it is unreadable, no file, or gone. */
export function readOrNull(path: string): string | null {
  let file: number | null = null;
  try {
    file = openSync(path, UNMOVED);
    return fstatSync(file).isFile() ? readAll(file) : null;
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** By pieces: files of /proc do not say how long they are. */
function readAll(file: number): string {
  const pieces: string[] = [];
  const piece = Buffer.allocUnsafe(65_536);
  for (let total = 0; total < BYTES_MAX; ) {
    const bytes = readSync(file, piece);
    if (bytes === 0) break;
    pieces.push(piece.subarray(0, bytes).toString('latin1'));
    total += bytes;
  }
  return pieces.join('');
}

/** None where there is no such directory. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** In a container only what is inside can be seen: whoever sits at the machine is outside. */
export function isContainer(): boolean {
  try {
    return readlinkSync('/proc/self/ns/pid') !== FIRST_PIDS;
  } catch {
    return false; // Without /proc nothing else works either, and says so.
  }
}
