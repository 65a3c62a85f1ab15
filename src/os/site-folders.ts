// The folders of a gateway's jobs, on a file system that it shares with the site's nodes.

import {
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SiteFolders } from '../ports/sites.ts';

const READ_MAX = 65_536;

export function siteFolders(top: string): SiteFolders {
  mkdirSync(top, { recursive: true, mode: 0o711 });
  const path = (launchId: number): string => join(top, String(launchId));
  return {
    path,
    list: () =>
      readdirSync(top)
        .filter((name) => /^\d+$/.test(name))
        .map(Number),
    make(launchId, user) {
      mkdirSync(path(launchId), { mode: 0o700 });
      if (user !== null) chownSync(path(launchId), user.uid, user.gid);
    },
    write: (launchId, name, text) => writeWhole(path(launchId), name, text),
    read: (launchId, name) => readShort(join(path(launchId), name)),
    claim: (launchId) => takeClaim(join(path(launchId), 'claim')),
    remove: (launchId) => rmSync(path(launchId), { recursive: true, force: true }),
  };
}

/**
 * Whole or not at all, but not synced: what a crash of the file system's machine takes is found again
 * by the job's name, and a job whose folder is gone does not begin.
 */
function writeWhole(folder: string, name: string, text: string): void {
  const fresh = join(folder, `${name}.new`);
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, join(folder, name));
}

function readShort(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(READ_MAX);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, READ_MAX, 0));
  } finally {
    closeSync(file);
  }
}

/** Making a directory is atomic on every file system, NFS too. */
function takeClaim(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
