// Everything in a folder, in the order of names. Names are taken as bytes: not all are valid UTF-8.

import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';

export interface WalkEntry {
  /** Relative, with `/`; what is not valid UTF-8 in it is replaced, and `isText` false. */
  readonly path: string;
  readonly isText: boolean;
  /** The whole path, for the system. */
  readonly full: Buffer;
  readonly kind: 'file' | 'folder' | 'link' | 'special';
  readonly stats: Stats;
  /** Where a link points, as it is written. */
  readonly target: string | null;
}

/** `path`: relative to where the walk began; empty for the folder itself. */
export type OnUnreadable = (path: string, error: unknown) => void;

/** Permissions that mean the same for anybody: not those that change who one is. */
export const MODE_MASK = 0o777;

const SLASH = Buffer.from('/');

/**
 * Folders come before what is in them. What cannot be read is told and passed over; without
 * `unreadable` the walk throws.
 */
export function* walk(folder: string, unreadable?: OnUnreadable): Generator<WalkEntry> {
  // A stack of its own: nested generators would pass each entry through every level.
  const levels = [new Level(Buffer.from(folder), '', true, unreadable)];
  for (;;) {
    const level = levels.at(-1);
    if (level === undefined) return;
    const entry = level.next();
    if (entry === null) levels.pop();
    else {
      yield entry;
      if (entry.kind === 'folder') {
        levels.push(new Level(entry.full, `${entry.path}/`, entry.isText, unreadable));
      }
    }
  }
}

/** What is left of one folder. */
class Level {
  readonly #folder: Buffer;
  readonly #before: string;
  readonly #isText: boolean;
  readonly #unreadable: OnUnreadable | undefined;
  readonly #names: Iterator<Buffer>;

  constructor(
    folder: Buffer,
    before: string,
    isText: boolean,
    unreadable: OnUnreadable | undefined,
  ) {
    this.#folder = folder;
    this.#before = before;
    this.#isText = isText;
    this.#unreadable = unreadable;
    const read = () => readdirSync(folder, { encoding: 'buffer' }).sort(Buffer.compare);
    this.#names = (this.#attempt(before.slice(0, -1), read) ?? []).values();
  }

  /** Null when there is nothing more. */
  next(): WalkEntry | null {
    for (;;) {
      const { done, value: name } = this.#names.next();
      if (done === true) return null;
      const path = `${this.#before}${name}`;
      const entry = this.#attempt(path, () => this.#entryOf(name, path));
      if (entry !== null) return entry;
    }
  }

  #entryOf(name: Buffer, path: string): WalkEntry {
    const full = Buffer.concat([this.#folder, SLASH, name]);
    const stats = lstatSync(full);
    const kind = kindOf(stats);
    return {
      path,
      isText: this.#isText && Buffer.from(name.toString()).equals(name),
      full,
      kind,
      stats,
      target: kind === 'link' ? readlinkSync(full) : null,
    };
  }

  #attempt<T>(path: string, read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (this.#unreadable === undefined) throw error;
      this.#unreadable(path, error);
      return null;
    }
  }
}

function kindOf(stats: Stats): WalkEntry['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'special';
}
