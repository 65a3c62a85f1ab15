// Notes of ended processes in shared memory that no launcher will ever take over, as the state
// directory with their secret is gone: a launcher was killed, and its directory removed.

import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ENDS_PREFIX, FIRST_BYTES, mountNamespace, ownerIn } from './launcher-fallback/ends.ts';

/** A state directory may be away for a moment: unmounted, or being moved. */
const AGE_MIN_MS = 3_600_000;
const SAFE_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Removes those of this user, and returns their paths. What cannot be judged stays. */
export function removeOldEnds(now: number, prefix = ENDS_PREFIX): string[] {
  const folder = dirname(prefix);
  const names = listed(folder).filter((name) => name.startsWith(basename(prefix)));
  const old = names
    .map((name) => join(folder, name))
    .filter((path) => isOwnAndOld(path, now) && isLost(path, path.slice(prefix.length)));
  for (const path of old) rmSync(path, { force: true });
  return old;
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // A machine without shared memory: nothing is noted there either.
  }
}

function isOwnAndOld(path: string, now: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.uid !== process.geteuid?.()) return false;
  return now - found.mtimeMs > AGE_MIN_MS;
}

/** Nothing lies beside the socket, or another secret. */
function isLost(path: string, secret: string): boolean {
  const owner = ownerIn(firstBytes(path));
  if (owner === null || owner.mounts !== mountNamespace()) return false;
  try {
    return readFileSync(`${owner.socketPath}.lock`, 'latin1') !== secret;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR';
  }
}

function firstBytes(path: string): Buffer {
  const bytes = Buffer.alloc(FIRST_BYTES);
  const file = openSync(path, SAFE_READ);
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}
