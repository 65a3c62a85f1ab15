// One at a time works on the daemons of a directory: `weft up`, `weft down`, or a keeper that
// starts one again.

import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { namingFile } from '../config/file-problem.ts';
import { folderOf, markOf, type ProcessMark, readHolder } from './process-file.ts';

/** What the holder of the lock wrote; a keeper is done in a moment. */
interface Holder extends ProcessMark {
  readonly isKeeper?: boolean;
}

export type Taken =
  | { readonly ok: true; release(): void }
  | { readonly ok: false; readonly holder: Holder | null };

/** Takes the lock, or says who has it. What a process that is gone left behind does not count. */
export function takeLock(file: string, as: 'keeper' | 'user'): Taken {
  const own = `${file}.${process.pid}`;
  const mark = { ...markOf(process.pid), isKeeper: as === 'keeper', folder: folderOf(file) };
  try {
    namingFile(file, () => writeFileSync(own, JSON.stringify(mark), { mode: 0o600 }));
    // A link is made whole or not at all: nobody reads a file that is not written yet.
    if (tryLink(own, file)) return { ok: true, release: () => rmSync(file, { force: true }) };
    const holder = readHolder(file) as Holder | null;
    if (holder !== null && holder.pid !== process.pid) return { ok: false, holder };
    setAside(file);
    if (tryLink(own, file)) return { ok: true, release: () => rmSync(file, { force: true }) };
    return { ok: false, holder: readHolder(file) as Holder | null };
  } finally {
    rmSync(own, { force: true });
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Another one may have been faster, and the file be its own by now: then it is put back. */
function setAside(file: string): void {
  const aside = `${file}.old.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return;
  }
  const holder = readHolder(aside);
  if (holder !== null && holder.pid !== process.pid) tryLink(aside, file);
  rmSync(aside, { force: true });
}
