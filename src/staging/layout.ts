// Makes the files of a task from contents that are here: in a folder that only the agent can reach
// until all is there, so that nobody can put a link in the way.

import { constants } from 'node:fs';
import { chmod, chown, copyFile, lchown, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { FileEntry } from '../core/files/entry.ts';
import type { BlobHash } from '../core/model/blob.ts';
import type { Owner } from '../ports/files.ts';
import { inParallel } from '../transfer/in-parallel.ts';

export interface Layout {
  readonly entries: readonly FileEntry[];
  readonly pathOf: (hash: BlobHash) => string;
  /** Is there, and the agent's alone. */
  readonly folder: string;
  readonly owner: Owner | null;
}

/** Copies under way: a disk has several hands. */
const AT_ONCE = 8;
/** Permissions of folders that are in a path only. */
const FOLDER_MODE = 0o755;
/** Never those that change who one is. */
const MODE_MASK = 0o777;

/** Rejects with the error of the file system; then what is there is not whole. */
export async function layOut({ entries, pathOf, folder, owner }: Layout): Promise<void> {
  const modes = new Map<string, number>();
  for (const { path: name, kind, mode } of entries) {
    for (const above of foldersAbove(name)) {
      if (!modes.has(above)) modes.set(above, FOLDER_MODE);
    }
    if (kind === 'folder') modes.set(name, mode & MODE_MASK);
  }
  // By name, so that what is above comes first.
  const folders = [...modes.keys()].sort();
  for (const name of folders) await mkdir(path.join(folder, name), { mode: 0o700 });
  const others = entries.filter(({ kind }) => kind !== 'folder');
  await inParallel(others, AT_ONCE, async (entry) => {
    const target = path.join(folder, entry.path);
    if (entry.kind === 'link') await layLink(entry, target, owner);
    else await layFile(entry, { from: pathOf(entry.sha256 as BlobHash), target, owner });
  });
  // Last, and the innermost first: in a folder that cannot be written nothing could be made.
  for (const name of folders.reverse()) {
    const target = path.join(folder, name);
    await chmod(target, modes.get(name) ?? FOLDER_MODE);
    if (owner !== null) await chown(target, owner.uid, owner.gid);
  }
}

async function layFile(
  { mode }: FileEntry,
  { from, target, owner }: { from: string; target: string; owner: Owner | null },
): Promise<void> {
  // A clone where the file system has them: then it takes neither time nor room.
  await copyFile(from, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  // Before the mode, as a change of owner takes bits away.
  if (owner !== null) await chown(target, owner.uid, owner.gid);
  await chmod(target, mode & MODE_MASK);
}

async function layLink({ target: to }: FileEntry, target: string, owner: Owner | null) {
  await symlink(to ?? '', target);
  if (owner !== null) await lchown(target, owner.uid, owner.gid);
}

function foldersAbove(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}
