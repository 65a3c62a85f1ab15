// Everything in the folder of a task that has ended. Its user may have other programs that change
// it meanwhile, so no link is followed, and what is not the user's own is not for us to give away.

import {
  type BigIntStats,
  closeSync,
  fstatSync,
  lstatSync,
  opendirSync,
  readlinkSync,
} from 'node:fs';
import { pathFlaw } from '../files/entry.ts';
import { staysInside } from '../files/links.ts';
import { whyLocked } from '../files/manifest.ts';
import type { OutsideCount } from '../files/outside.ts';
import { versionOf } from '../files/verified.ts';
import { FILE_DEPTH_MAX, FILE_ENTRIES_MAX } from '../model/limits.ts';
import { breath } from '../transfer/local-file.ts';
import { openFolder, pathIn } from './open-path.ts';

export interface Found {
  /** Relative, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  readonly size: number;
  readonly mode: number;
  /** Ms since 1970. */
  readonly modifiedAt: number;
  /** Another one: it has been written to, or replaced. */
  readonly version: string;
  /** Where a link leads. */
  readonly target?: string;
}

/** Something that cannot be kept. */
export interface Unfit {
  readonly path: string;
  readonly why: string;
}

const MODE_MASK = 0o777n;
/** Names of a folder. */
const READ_AT_ONCE = 256;

export interface Search {
  readonly directory: string;
  /** Null = whoever's it is. */
  readonly uid: number | null;
  /** Whether anybody wants what has this path. */
  readonly isWanted: (path: string) => boolean;
  /** Told of files and links that nobody wants, and of files that are kept. Absent: nobody asks. */
  readonly unwanted?: OutsideCount | undefined;
  /** Gives up when it says so. */
  readonly signal: AbortSignal;
}

/** Throws when the folder itself cannot be read. */
export async function findOutputs(search: Search): Promise<{ found: Found[]; unfit: Unfit[] }> {
  const walk = new Walk(search);
  const top = openFolder(search.directory);
  try {
    const { uid } = fstatSync(top);
    if (search.uid !== null && uid !== search.uid) throw new Error(`it belongs to uid ${uid}`);
    await walk.enter(top, '', 0);
    return walk;
  } finally {
    closeSync(top);
  }
}

class Walk {
  readonly found: Found[] = [];
  readonly unfit: Unfit[] = [];
  readonly #search: Search;

  constructor(search: Search) {
    this.#search = search;
  }

  async enter(folder: number, before: string, depth: number): Promise<void> {
    for (const name of await namesIn(folder)) {
      const path = `${before}${name}`;
      if (this.found.length >= FILE_ENTRIES_MAX) {
        this.unfit.push({ path: before === '' ? '.' : before, why: TOO_MANY });
        return;
      }
      await this.#look(folder, { name, path, depth });
    }
  }

  async #look(
    folder: number,
    { name, path, depth }: { name: Buffer; path: string; depth: number },
  ): Promise<void> {
    const place = pathIn(folder, name);
    await breath();
    this.#search.signal.throwIfAborted();
    const isWanted = this.#search.isWanted(path);
    const status = this.#ask(path, isWanted, () => lstatSync(place, { bigint: true }));
    if (status === null) return;
    const flaw = this.#flawOf(name, path, status);
    if (flaw !== null) {
      if (isWanted || status.isDirectory()) this.unfit.push({ path, why: flaw });
      return;
    }
    if (status.isDirectory()) {
      if (isWanted) this.found.push({ ...describe(path, status), kind: 'folder', size: 0 });
      await this.#enterBelow(place, path, depth + 1);
      return;
    }
    const { size, mtimeNs: modifiedNs, birthtimeNs: madeNs } = status;
    if (!isWanted) this.#search.unwanted?.add(path, Number(size), { modifiedNs, madeNs });
    else if (status.isSymbolicLink()) this.#addLink(place, path, status);
    else {
      this.found.push({ ...describe(path, status), kind: 'file', size: Number(size) });
      this.#search.unwanted?.keep(path, Number(size), { modifiedNs });
    }
  }

  #addLink(place: Buffer, path: string, status: BigIntStats): void {
    const bytes = this.#ask(path, true, () => readlinkSync(place, { encoding: 'buffer' }));
    if (bytes === null) return;
    const target = bytes.toString();
    const isText = Buffer.from(target).equals(bytes);
    if (!isText || !staysInside(path, target)) {
      this.unfit.push({ path, why: `it is a link that leaves the folder, to ${target}` });
    } else this.found.push({ ...describe(path, status), kind: 'link', size: 0, target });
  }

  /** Returns null when it is gone, or nobody can say; that is no reason to lose all others. */
  #ask<T>(path: string, isWanted: boolean, ask: () => T): T | null {
    try {
      return ask();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && isWanted) {
        this.unfit.push({ path, why: whyLocked(error) ?? `it cannot be read (${message})` });
      }
      return null;
    }
  }

  async #enterBelow(place: Buffer, path: string, depth: number): Promise<void> {
    if (depth > FILE_DEPTH_MAX) {
      this.unfit.push({ path, why: `it lies ${depth} folders deep; ${FILE_DEPTH_MAX} at most` });
      return;
    }
    let folder: number;
    try {
      folder = openFolder(place);
    } catch (error) {
      const why = whyLocked(error) ?? `it cannot be read (${(error as Error).message})`;
      this.unfit.push({ path, why });
      return;
    }
    try {
      const { uid } = fstatSync(folder);
      if (this.#isAnothers(uid)) this.unfit.push({ path, why: `it belongs to uid ${uid}` });
      else await this.enter(folder, `${path}/`, depth);
    } finally {
      closeSync(folder);
    }
  }

  #flawOf(name: Buffer, path: string, status: BigIntStats): string | null {
    if (!Buffer.from(name.toString()).equals(name)) return 'its name is not UTF-8';
    const isSpecial = !status.isFile() && !status.isDirectory() && !status.isSymbolicLink();
    if (isSpecial) return 'it is a device, pipe or socket';
    if (this.#isAnothers(Number(status.uid))) return `it belongs to uid ${status.uid}`;
    return pathFlaw(path);
  }

  #isAnothers(uid: number): boolean {
    return this.#search.uid !== null && uid !== this.#search.uid;
  }
}

const TOO_MANY = `there are more than ${FILE_ENTRIES_MAX} files; pack them, or choose with --out`;

/** Sorted, so that the same folder gives the same answer; as bytes, for not all are text. */
async function namesIn(folder: number): Promise<Buffer[]> {
  const names: Buffer[] = [];
  const encoding = 'buffer' as 'utf8';
  const directory = opendirSync(`/proc/self/fd/${folder}`, { encoding, bufferSize: READ_AT_ONCE });
  try {
    for (let one = directory.readSync(); one !== null; one = directory.readSync()) {
      names.push(one.name as unknown as Buffer);
      await breath();
      // One more than can be kept, so that it is seen that there are more.
      if (names.length > FILE_ENTRIES_MAX) break;
    }
  } finally {
    directory.closeSync();
  }
  return names.sort(Buffer.compare);
}

function describe(path: string, status: BigIntStats) {
  return {
    path,
    mode: Number(status.mode & MODE_MASK),
    modifiedAt: Number(status.mtimeMs),
    version: versionOf(status),
  };
}
