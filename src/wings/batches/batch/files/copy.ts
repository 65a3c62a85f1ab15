// Copies files and folders: as clones where the file system has them, with permissions and times.

import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readlink, rm, symlink, utimes } from 'node:fs/promises';
import { MODE_MASK, type WalkEntry, walk } from '../../../../kernel/transfer/walk.ts';

/**
 * Copies a file or everything in a folder; devices, pipes and sockets are left out. A folder that
 * is there already gets what is in the other one, and its files win.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  const stats = await lstat(from);
  if (!stats.isDirectory()) return copyOne(Buffer.from(from), Buffer.from(to));
  await mkdir(to, { recursive: true });
  const folders: (readonly [Buffer, number])[] = [];
  const start = Buffer.byteLength(from);
  for (const entry of walk(from)) {
    const target = Buffer.concat([Buffer.from(to), entry.full.subarray(start)]);
    if (entry.kind === 'folder') {
      await mkdir(target, { recursive: true, mode: 0o700 });
      folders.push([target, entry.stats.mode & MODE_MASK]);
    } else await copyEntry(entry, target);
  }
  // Last, and the innermost first: in a folder that cannot be written nothing could be made.
  for (const [folder, mode] of folders.reverse()) await chmod(folder, mode);
}

async function copyEntry(entry: WalkEntry, target: Buffer): Promise<void> {
  if (entry.kind === 'link') {
    await rm(target, { force: true });
    await symlink(await readlink(entry.full, { encoding: 'buffer' }), target);
  } else if (entry.kind === 'file') await copyOne(entry.full, target);
}

async function copyOne(from: Buffer, to: Buffer): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  const { mode, atime, mtime } = await lstat(from);
  await chmod(to, mode & MODE_MASK);
  await utimes(to, atime, mtime);
}
