// Removes a directory of a user with all that is in it, never more than its owner could remove:
// links are not followed, also when they are put in the way meanwhile, and nothing of another mount
// goes.

import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readFileSync,
  rmdirSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { believed } from '../base/believed.ts';

const run = promisify(execFile);
/** A flag of Linux; Node has no name for it. Such an open asks nothing of what is mounted there. */
const O_PATH = 0o10000000;
const AS_PLACE = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Removed here, in some milliseconds; to start a program for them would take longer. */
const NAMES_MAX = 100;
/** No name is ever an argument: there may be too many, and not all are UTF-8. */
const DELETE_ALL = ['.', '-xdev', '-mindepth', '1', '-delete'];
/** A million files take about ten seconds. */
const REMOVE_TIMEOUT_MS = 10 * 60_000;

/** A process with a user's rights shows that user its variables: root's are none of theirs. */
const BARE = { PATH: '/usr/bin:/bin' };

/** Fine when it is gone. */
export async function removeTree(path: string): Promise<void> {
  const status = statusOf(path);
  if (status === null) return;
  if (!removedFew(path, status)) await removeAsOwner(path, status);
  rmdirSync(path);
}

/** Nothing is there, any more: most private folders are empty. Throws when it is no folder. */
export function isGoneAtOnce(path: string): boolean {
  const status = statusOf(path);
  // More than its own two names, where directories are counted so: one is in it.
  return status === null || (status.nlink <= 2 && removedEmpty(path));
}

function statusOf(path: string): Stats | null {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return null;
  if (!status.isDirectory()) throw new Error(`${path} is not a directory`);
  return status;
}

/** Whatever it cannot do, or should not, is left to the owner's own rights. */
function removedFew(path: string, { uid }: Stats): boolean {
  try {
    const place = openSync(path, AS_PLACE);
    try {
      const few = new FewNames(uid, mountOf(place));
      return fstatSync(place).uid === uid && few.removeBelow(place);
    } finally {
      closeSync(place);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return false;
  }
}

class FewNames {
  readonly #uid: number;
  readonly #mount: string;
  #left = NAMES_MAX;

  constructor(uid: number, mount: string) {
    this.#uid = uid;
    this.#mount = mount;
  }

  /** False: there is more than a few, or something that needs a look at whose it is. */
  removeBelow(place: number): boolean {
    // Node.js takes it, and its types do not have it for directories.
    const encoding = believed<BufferEncoding>('buffer');
    const folder = opendirSync(`/proc/self/fd/${place}`, { encoding });
    try {
      for (;;) {
        const entry = folder.readSync() as Dirent<Buffer> | null;
        if (entry === null) return true;
        this.#left -= 1;
        if (this.#left < 0 || !this.#remove(place, entry)) return false;
      }
    } finally {
      folder.closeSync();
    }
  }

  #remove(place: number, entry: Dirent<Buffer>): boolean {
    // In the directory that is open, wherever that is by now.
    const path = Buffer.concat([Buffer.from(`/proc/self/fd/${place}/`), entry.name]);
    if (!entry.isDirectory()) {
      unlinkSync(path);
      return true;
    }
    const below = openSync(path, AS_PLACE);
    try {
      // Its mount first: to ask a user's own file system anything else may take for ever.
      if (mountOf(below) !== this.#mount) return false;
      if (fstatSync(below).uid !== this.#uid || !this.removeBelow(below)) return false;
    } finally {
      closeSync(below);
    }
    rmdirSync(path);
    return true;
  }
}

/** The line of proc_pid_fdinfo(5) that says on which mount it lies. */
function mountOf(fd: number): string {
  return /^mnt_id:.*$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[0] ?? '';
}

/** By a process with its owner's rights only, which reaches nothing that the owner could not. */
async function removeAsOwner(path: string, { uid, gid }: Stats): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  const rights = isRoot ? { uid, gid, env: BARE } : {};
  const own = { ...rights, cwd: path, timeout: REMOVE_TIMEOUT_MS };
  try {
    await run('find', DELETE_ALL, own);
  } catch {
    // Directories that the job made read-only; `-R` from `.` follows no link. The second find
    // speaks.
    await run('chmod', ['-R', 'u+rwX', '.'], own).catch(() => undefined);
    await run('find', DELETE_ALL, own);
  }
}

function removedEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') return false;
    throw error;
  }
}
