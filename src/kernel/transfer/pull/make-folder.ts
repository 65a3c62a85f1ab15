// A folder of this machine, made with those above it that are missing.

import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { usage } from '../../model/failure.ts';

/** Not with mkdir's own recursion: where nothing can be made, as in /proc, that never ends. */
export function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  try {
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process may have been faster.
    if (code === 'EEXIST' && isFolder(folder)) return;
    if (code !== 'ENOENT') throw error;
    const above = path.dirname(folder);
    if (isFolder(above)) throw usage(`cannot write ${folder}: no folder can be made in ${above}`);
    makeFolder(above);
    makeFolder(folder);
  }
}

function isFolder(at: string): boolean {
  return statSync(at, { throwIfNoEntry: false })?.isDirectory() === true;
}
