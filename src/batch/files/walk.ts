// Everything in a folder, in the order of names. Names are taken as bytes: not all are valid UTF-8.

import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';

export interface Entry {
  /** Relative, with `/`; what is not valid UTF-8 in it is replaced, and `isText` false. */
  readonly path: string;
  readonly isText: boolean;
  /** The whole path, for the system. */
  readonly full: Buffer;
  readonly kind: 'file' | 'folder' | 'link' | 'special';
  readonly stats: Stats;
  /** Of a link, as it is written. */
  readonly target: string | null;
}

const SLASH = Buffer.from('/');

/** Folders come before what is in them. Throws where a folder cannot be read. */
export function* walk(folder: string): Generator<Entry> {
  yield* walkBytes(Buffer.from(folder), '', true);
}

function* walkBytes(folder: Buffer, before: string, isText: boolean): Generator<Entry> {
  const names = readdirSync(folder, { encoding: 'buffer' }).sort(Buffer.compare);
  for (const name of names) {
    const entry = entryOf(folder, name, { before, isText });
    yield entry;
    if (entry.kind === 'folder') yield* walkBytes(entry.full, `${entry.path}/`, entry.isText);
  }
}

function entryOf(
  folder: Buffer,
  name: Buffer,
  { before, isText }: { before: string; isText: boolean },
): Entry {
  const full = Buffer.concat([folder, SLASH, name]);
  const text = name.toString();
  const stats = lstatSync(full);
  const kind = kindOf(stats);
  return {
    path: `${before}${text}`,
    isText: isText && Buffer.from(text).equals(name),
    full,
    kind,
    stats,
    target: kind === 'link' ? readlinkSync(full) : null,
  };
}

function kindOf(stats: Stats): Entry['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'special';
}
