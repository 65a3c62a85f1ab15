// Gives the middle of a file that somebody is writing back to the disk: its size, its beginning and
// its end stay.

import { spawn } from 'node:child_process';
import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';

export interface Middle {
  readonly from: number;
  /** Bytes at the end that stay. */
  readonly keep: number;
}

/** How often an end that has grown meanwhile is read again. */
const LOOKS_MAX = 3;

/** Whether fallocate(1) is there, and the file system of the last file could do it. */
let canPunch = true;

/** `file`: opened for reading and writing. Its writers notice nothing. */
export async function emptyMiddle(file: number, middle: Middle): Promise<void> {
  canPunch &&= await punch(file, middle);
  if (!canPunch) cutAndRestore(file, middle);
}

/** Node has no call for it. What is written at the end in the same moment is not touched. */
function punch(file: number, { from, keep }: Middle): Promise<boolean> {
  const length = fstatSync(file).size - keep - from;
  if (length <= 0) return Promise.resolve(true);
  const range = ['--offset', `${from}`, '--length', `${length}`];
  const child = spawn('fallocate', ['--punch-hole', ...range, '/proc/self/fd/3'], {
    stdio: ['ignore', 'ignore', 'ignore', file],
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

/**
 * Where nothing can be punched (BusyBox, some file systems). What is written between the look at
 * the end and the cut, some millionths of a second, is lost, and zeros stand in its place.
 */
export function cutAndRestore(file: number, { from, keep }: Middle): void {
  let end = readEnd(file, { from, keep });
  for (let look = 1; look < LOOKS_MAX && fstatSync(file).size > end.size; look += 1) {
    end = readEnd(file, { from, keep });
  }
  ftruncateSync(file, from);
  // Its writer may have been quicker: what it has written in between is not to be cut again.
  ftruncateSync(file, Math.max(end.size, fstatSync(file).size));
  if (end.bytes.length > 0) writeSync(file, end.bytes, 0, end.bytes.length, end.at);
}

function readEnd(file: number, { from, keep }: Middle) {
  const { size } = fstatSync(file);
  const at = Math.max(from, size - keep);
  const bytes = Buffer.alloc(Math.max(0, size - at));
  return { size, at, bytes: bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at)) };
}
