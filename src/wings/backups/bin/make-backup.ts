// Makes one backup: the files of the head, then its store, then the files once more for what came
// meanwhile. Whatever the store's copy knows of is therefore in it. Blocks its thread.

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join, sep } from 'node:path';
import { HEAD_FOLDER } from '../api/backup-header.ts';
import { nameOf } from '../core/backup-name.ts';
import { surplus } from '../core/retention.ts';
import { syncPath } from '../transfer/copy-file.ts';
import { entriesOf, readBackups } from '../transfer/read-backups.ts';
import { type Last, Making } from './making.ts';
import type { BackupOrder, Made, Progress } from './order.ts';

export interface BackupWorld {
  now(): number;
  tell(progress: Progress): void;
  /** Bytes that may be written on the disk of a folder. */
  free(folder: string): number;
}

/** Throws an error in words. Half a backup never has the name of a whole one. */
export function makeBackup(order: BackupOrder, { now, tell, free }: BackupWorld): Made {
  const head = headIdentity(order.from);
  prepareFolder(order);
  removeHalves(order.to, head);
  const name = nameOf(order.at);
  const folder = join(order.to, name);
  if (existsSync(folder)) throw new Error(`${folder} is there already; try again`);
  const half = join(order.to, `.half-${head}-${name}`);
  const making = new Making(order, { half, last: lastOf(order.to, head), tell, free });
  try {
    making.begin();
    const store = making.copyAll();
    const header = making.finish({ ...store, head, tookMs: now() - order.at });
    renameSync(half, folder);
    syncPath(order.to);
    return { name, folder, header, left: removeOld(order, head, name) };
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    throw error;
  }
}

/** The same for all backups of a head, also of one that was put back. */
export function headIdentity(from: string): string {
  return createHash('sha256')
    .update(readFileSync(join(from, 'stamp.key')))
    .digest('hex')
    .slice(0, 16);
}

function prepareFolder({ from, to }: BackupOrder): void {
  if (!existsSync(to)) mkdirSync(to, { mode: 0o700 });
  const [head, there] = [realpathSync(from), realpathSync(to)];
  if (`${there}${sep}`.startsWith(`${head}${sep}`)) {
    throw new Error(`${to} is inside the head's own folder ${from}; give a folder elsewhere`);
  }
}

/** What a head that was stopped in the middle has left. */
function removeHalves(to: string, head: string): void {
  for (const name of readdirSync(to)) {
    if (name.startsWith(`.half-${head}-`)) rmSync(join(to, name), { recursive: true, force: true });
  }
}

/** Null, or why old ones are left: the new one is made all the same. `made`: it stays anyway. */
function removeOld({ to, keep }: BackupOrder, head: string, made: string): string | null {
  try {
    const others = readBackups(to, head).filter(({ name }) => name !== made);
    for (const name of surplus(
      others.map((one) => one.name),
      keep - 1,
    )) {
      const half = join(to, `.half-${head}-${name}`);
      // Out of the way at once, so that one cut off in between is not taken for a whole one.
      renameSync(join(to, name), half);
      rmSync(half, { recursive: true, force: true });
    }
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The backup before, whose unchanged files are linked; null: there is none to trust. */
function lastOf(to: string, head: string): Last | null {
  const last = readBackups(to, head).at(-1);
  if (last === undefined) return null;
  try {
    const files = entriesOf(last).filter((entry) => entry.kind === 'file');
    return {
      folder: join(last.folder, HEAD_FOLDER),
      files: new Map(files.map((one) => [one.path, one])),
    };
  } catch {
    // A damaged backup is no base for the next one, which then copies everything.
    return null;
  }
}
