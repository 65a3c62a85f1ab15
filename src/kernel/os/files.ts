// The Files port. What lies in a user's directory is opened without following links, and removed
// as that user could remove it.

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import type { FileLook, Files, Owner } from '../ports/files.ts';
import { emptyMiddle } from './middle.ts';
import { removeTreeAside } from './tree-thread.ts';

/** A link as last component fails, a fifo does not block, a terminal does not become ours. */
const SAFE = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const SAFE_READ = constants.O_RDONLY | SAFE;
const SAFE_WRITE = constants.O_WRONLY | SAFE;
const SAFE_READ_WRITE = constants.O_RDWR | SAFE;
/** Unit of `st_blocks` (stat(2)), and what a file system rounds up by. */
const BLOCK_BYTES = 512;
const BLOCK_SLACK_BYTES = 65_536;
const NOTHING = new Uint8Array(0);

export const systemFiles: Files = {
  makeDirectory,
  writeFile,
  size,
  look,
  read: readSafely,
  empty,
  emptyFrom,
  removeFile: (path) => ignoring('ENOENT', () => unlinkSync(path)),
  removeTree: removeTreeAside,
  list: (path) => {
    let names: string[] = [];
    ignoring('ENOENT', () => {
      names = readdirSync(path);
    });
    return names;
  },
};

function makeDirectory(path: string, owner: Owner | null, mode: number): void {
  const made = mkdirSync(path, { recursive: true, mode });
  if (made !== undefined) {
    // mkdir obeys the umask; the mode here is meant.
    chmodSync(path, mode);
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
    return;
  }
  repairDirectory(path, owner, mode);
}

/** One that is there already: half made by us when we were killed, or shut by its owner. */
function repairDirectory(path: string, owner: Owner | null, mode: number): void {
  const status = lstatSync(path);
  if (!status.isDirectory()) {
    throw new Error(`${path} is not a directory; remove it`);
  }
  if (owner !== null && status.uid !== owner.uid) {
    if (status.uid !== process.getuid?.()) {
      const whose = `belongs to uid ${status.uid} and must belong to uid ${owner.uid}`;
      throw new Error(`the directory ${path} ${whose}; remove it`);
    }
    chownSync(path, owner.uid, owner.gid);
  }
  // Its parent is ours alone, so that nobody can have put a link in its place meanwhile.
  if ((status.mode & 0o700) !== (mode & 0o700)) chmodSync(path, mode);
}

function writeFile(path: string, text: string, owner: Owner | null, mode: number): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode, flag: 'wx' });
  chmodSync(path, mode);
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
}

function size(path: string): number | null {
  try {
    const status = statOrNull(path);
    return status?.isFile() === true ? status.size : null;
  } catch {
    return null; // Its owner has shut the directory: nothing there that can be read either.
  }
}

function look(path: string, uid: number | null): FileLook | null {
  try {
    const status = statOrNull(path);
    if (status?.isFile() !== true) return null;
    return { size: status.size, isPrivate: uid !== null && isPrivate(status, uid) };
  } catch {
    return null; // As for its size.
  }
}

function empty(path: string, uid: number): boolean {
  try {
    const status = statOrNull(path);
    if (status === null) return true;
    if (!isPrivate(status, uid)) return false;
    return status.size === 0 || cut(path, uid);
  } catch {
    return false; // Its owner has shut the directory, or swapped the file.
  }
}

/** Looked at again once open: between two look-ups the owner may put something else there. */
function cut(path: string, uid: number): boolean {
  const file = openSync(path, SAFE_WRITE);
  try {
    if (!isPrivate(fstatSync(file), uid)) return false;
    ftruncateSync(file, 0);
    return true;
  } finally {
    closeSync(file);
  }
}

function isPrivate(status: Stats, uid: number): boolean {
  return (
    status.isFile() && status.uid === uid && status.nlink === 1 && (status.mode & 0o7777) === 0o600
  );
}

function readSafely(
  path: string,
  uid: number | null,
  offset: number,
  bytesMax: number,
): Uint8Array {
  let file: number;
  try {
    file = openSync(path, SAFE_READ);
  } catch {
    return NOTHING; // Gone, a link, or not readable: the same answer, nothing safe to read.
  }
  try {
    const status = fstatSync(file);
    if (!status.isFile() || (uid !== null && status.uid !== uid)) return NOTHING;
    const bytes = new Uint8Array(Math.min(bytesMax, Math.max(0, status.size - offset)));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset));
  } finally {
    closeSync(file);
  }
}

async function emptyFrom(
  path: string,
  uid: number | null,
  offset: number,
  keep: number,
): Promise<void> {
  const file = openSync(path, SAFE_READ_WRITE);
  try {
    const before = fstatSync(file);
    if (!before.isFile() || (uid !== null && before.uid !== uid)) return;
    // Nothing there but a hole, and the end that was kept.
    if (before.blocks * BLOCK_BYTES <= offset + keep + BLOCK_SLACK_BYTES) return;
    await emptyMiddle(file, { from: offset, keep });
  } finally {
    closeSync(file);
  }
}

function statOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

function ignoring(code: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (codeOf(error) !== code) throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
