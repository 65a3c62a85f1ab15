// The folders of a gateway's jobs, on a file system that it shares with the site's nodes. In a
// job's folder is one of its user, who may have anything there: the gateway, as root, follows no
// link in it, waits for no pipe, and keeps outside of it what it has to believe later.

import {
  chownSync,
  closeSync,
  constants,
  fstatSync,
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
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;
/** What an open says of a link, and of a socket. */
const NO_FILE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ELOOP', 'ENXIO']);

export function siteFolders(top: string): SiteFolders {
  mkdirSync(top, { recursive: true, mode: 0o711 });
  const own = (launchId: number): string => join(top, String(launchId));
  const path = (launchId: number): string => join(own(launchId), 'run');
  const scriptFile = (launchId: number): string => join(path(launchId), 'script');
  return {
    path,
    list: () =>
      readdirSync(top)
        .filter((name) => /^\d+$/.test(name))
        .map(Number),
    scriptFile,
    make(launchId, user, script, files = {}) {
      mkdirSync(own(launchId), { mode: 0o711 });
      mkdirSync(path(launchId), { mode: 0o700 });
      const all: [string, string][] = [[scriptFile(launchId), script]];
      for (const name in files) all.push([join(path(launchId), name), files[name] as string]);
      for (const [file, text] of all) writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
      if (user === null) return;
      // The folder last: until then nobody else can have anything there.
      for (const file of [...all.map(([one]) => one), path(launchId)]) {
        chownSync(file, user.uid, user.gid);
      }
    },
    note: (launchId, name, text) => writeWhole(own(launchId), name, text),
    noted: (launchId, name) => readShort(join(own(launchId), name)),
    read: (launchId, name) => readShort(join(path(launchId), name)),
    claim: (launchId) => takeClaim(join(path(launchId), 'claim')),
    remove: (launchId) => rmSync(own(launchId), { recursive: true, force: true }),
  };
}

/**
 * Whole or not at all, but not synced: what a crash of the file system's machine takes is found
 * again by the job's name, and a job whose folder is gone does not begin.
 */
function writeWhole(folder: string, name: string, text: string): void {
  const fresh = join(folder, `${name}.new`);
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, join(folder, name));
}

/** Returns null when there is no file of this name. */
function readShort(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, READ);
  } catch (error) {
    if (NO_FILE.has((error as NodeJS.ErrnoException).code)) return null;
    throw error;
  }
  try {
    if (!fstatSync(file).isFile()) return null;
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
