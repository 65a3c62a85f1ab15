// Makes the files of a task from contents that are here: in a folder that only the agent can reach
// until all is there, so that nobody can put a link in the way.

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  lchownSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { chmod, chown, copyFile } from 'node:fs/promises';
import path from 'node:path';
import type { FileEntry } from '../files/entry.ts';
import type { BlobHash } from '../model/blob.ts';
import { BLOB_PACKED_BYTES_MAX } from '../model/limits.ts';
import type { Owner } from '../ports/files.ts';
import { inParallel } from '../transfer/in-parallel.ts';
import { breath } from '../transfer/local-file.ts';
import type { CopyTo, NearContents } from './near-files.ts';

export interface Layout {
  readonly entries: readonly FileEntry[];
  readonly pathOf: (hash: BlobHash) => string;
  /** Contents that are in no file yet. */
  readonly inMemory?: Pick<ReadonlyMap<BlobHash, Uint8Array>, 'get'>;
  /** Large contents that are elsewhere on this machine. */
  readonly near?: NearContents;
  /** Is there, and the agent's alone. */
  readonly folder: string;
  readonly owner: Owner | null;
}

/** Copies under way: a disk has several hands. */
const AT_ONCE = 8;
/** Copied at once. */
const SMALL_BYTES = BLOB_PACKED_BYTES_MAX;
/** A clone where the file system has them: then it takes neither time nor room. */
const COPY = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL;
const ANEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Permissions of folders that are in a path only. */
const FOLDER_MODE = 0o755;
/** Never those that change who one is. */
const MODE_MASK = 0o777;

/** Rejects with the error of the file system; then what is there is not whole. */
export async function layOut({
  entries,
  pathOf,
  inMemory,
  near,
  folder,
  owner,
}: Layout): Promise<void> {
  const modes = new Map<string, number>();
  for (const { path: name, kind, mode } of entries) {
    for (const above of foldersAbove(name)) {
      if (!modes.has(above)) modes.set(above, FOLDER_MODE);
    }
    if (kind === 'folder') modes.set(name, mode & MODE_MASK);
  }
  // By name, so that what is above comes first.
  const folders = [...modes.keys()].sort();
  for (const name of folders) mkdirSync(path.join(folder, name), { mode: 0o700 });
  const large: [FileEntry, Laying][] = [];
  for (const entry of entries) {
    await breath();
    const target = path.join(folder, entry.path);
    if (entry.kind === 'link') layLink(entry, target, owner);
    if (entry.kind !== 'file') continue;
    const hash = entry.sha256 as BlobHash;
    const bytes = inMemory?.get(hash);
    const laying = { from: bytes ?? near?.get(hash) ?? pathOf(hash), target, owner };
    if (entry.size <= SMALL_BYTES) laySmall(entry, laying);
    else large.push([entry, laying]);
  }
  await inParallel(large, AT_ONCE, ([entry, laying]) => layLarge(entry, laying));
  // Last, and the innermost first: in a folder that cannot be written nothing could be made.
  for (const name of folders.reverse()) {
    const target = path.join(folder, name);
    chmodSync(target, modes.get(name) ?? FOLDER_MODE);
    if (owner !== null) chownSync(target, owner.uid, owner.gid);
  }
}

interface Laying {
  /** The file's bytes, the file that has them, or what copies them. */
  readonly from: string | Uint8Array | CopyTo;
  readonly target: string;
  readonly owner: Owner | null;
}

/** At once: handing it to a pool of threads would take longer. */
function laySmall({ mode }: FileEntry, { from, target, owner }: Laying): void {
  if (typeof from === 'string') {
    copyFileSync(from, target, COPY);
    if (owner !== null) chownSync(target, owner.uid, owner.gid);
    chmodSync(target, mode & MODE_MASK);
    return;
  }
  const fd = openSync(target, ANEW, 0o600);
  try {
    // Only large ones are copied by others.
    writeFileSync(fd, from as Uint8Array);
    // Before the mode, as a change of owner takes bits away.
    if (owner !== null) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode & MODE_MASK);
  } finally {
    closeSync(fd);
  }
}

async function layLarge({ mode }: FileEntry, { from, target, owner }: Laying): Promise<void> {
  if (typeof from === 'function') await from(target);
  else await copyFile(String(from), target, COPY);
  if (owner !== null) await chown(target, owner.uid, owner.gid);
  await chmod(target, mode & MODE_MASK);
}

function layLink({ target: to }: FileEntry, target: string, owner: Owner | null): void {
  symlinkSync(to ?? '', target);
  if (owner !== null) lchownSync(target, owner.uid, owner.gid);
}

function foldersAbove(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}
