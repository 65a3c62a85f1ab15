// What is in a folder, with what tells whether a file has changed. Symbolic links are not followed.

import { lstatSync, opendirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';

export type Found =
  | { readonly kind: 'file'; readonly path: string; readonly stats: Stats }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number };

/**
 * Everything below `root` that `isSelected` takes, each folder before what is in it. Paths have no
 * root. What goes while it looks is left out; sockets and the like have no content to keep.
 */
export function* walk(root: string, isSelected: (path: string) => boolean): Generator<Found> {
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of namesIn(join(root, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (!isSelected(path)) continue;
      const found = look(root, path);
      if (found === null) continue;
      if (found.kind === 'folder') folders.push(path);
      yield found;
    }
  }
}

function namesIn(folder: string): string[] {
  const names = unlessGone(() => {
    const open = opendirSync(folder);
    try {
      const all: string[] = [];
      for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
        all.push(entry.name);
      }
      return all;
    } finally {
      open.closeSync();
    }
  });
  return (names ?? []).sort();
}

function look(root: string, path: string): Found | null {
  return unlessGone(() => {
    const stats = lstatSync(join(root, path));
    if (stats.isDirectory()) return { kind: 'folder', path, mode: stats.mode & 0o777 };
    if (stats.isFile()) return { kind: 'file', path, stats };
    if (!stats.isSymbolicLink()) return null;
    return { kind: 'link', path, target: readlinkSync(join(root, path)) };
  });
}

/** Returns null when it went in between, as files of a head that runs do. */
export function unlessGone<T>(what: () => T): T | null {
  try {
    return what();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}
