// Taking a cluster's files away, where something may hold a folder in its place.

import { lstatSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { fileProblem, isSystemError } from '../../config/file-problem.ts';

/** What could not be removed, and why, for people. */
export interface Staying {
  readonly file: string;
  readonly why: string;
}

/** Removes a file or a folder with all in it. A folder that is a mount point stays, empty. */
export function removeWhole(file: string): Staying[] {
  try {
    rmSync(file, { recursive: true, force: true });
    return [];
  } catch {
    // It gives up at the first that stays, and does not say why: the rest goes one by one.
  }
  const isFolder = lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  const staying = isFolder ? entriesOf(file).flatMap(removeWhole) : [];
  return staying.length > 0 ? staying : removeOne(file, isFolder ? rmdirSync : unlinkSync);
}

/** Removes a folder with nothing in it. */
export function removeEmpty(folder: string): Staying[] {
  return removeOne(folder, rmdirSync);
}

function removeOne(file: string, remove: (file: string) => void): Staying[] {
  try {
    remove(file);
    return [];
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return [];
    return [{ file, why: error.code === 'EBUSY' ? 'it is a mount point' : fileProblem(error) }];
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => path.join(folder, name));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return []; // Why it stays is told by its own removal.
  }
}
