// One file, folder or link of a job: what it needs, or what it left behind. Paths are relative and
// stay below the folder that they are about, whoever wrote them.

import { utf8Length } from '../base/utf8.ts';
import { isWhole } from '../base/whole.ts';
import { BLOB_HASH, type BlobHash } from '../model/blob.ts';
import { FILE_DEPTH_MAX, FILE_NAME_BYTES_MAX, FILE_PATH_BYTES_MAX } from '../model/limits.ts';
import { staysInside } from './links.ts';

export interface FileEntry {
  /** Relative to the folder of the job. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  /** Bytes of a file. */
  readonly size: number;
  /** Permissions, without those that change who one is. */
  readonly mode: number;
  /** For files. */
  readonly sha256?: BlobHash;
  /** For links. */
  readonly target?: string;
}

/** A NUL, or half of a pair, which no UTF-8 can say. */
const NO_TEXT = /[\0\p{Cs}]/u;

/** What is wrong with the path of an entry, in words; null: nothing. */
export function pathFlaw(path: string): string | null {
  const shown = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
  if (path === '') return 'a path is empty';
  if (NO_TEXT.test(path)) return `${shown} is no path`;
  if (utf8Length(path) > FILE_PATH_BYTES_MAX) return `${shown} is too long`;
  if (path.startsWith('/')) return `${shown} is not relative`;
  const names = path.split('/');
  if (names.length > FILE_DEPTH_MAX + 1) return `${shown} lies in too many folders`;
  for (const name of names) {
    if (name === '' || name === '.' || name === '..') return `${shown} has a part '${name}'`;
    if (utf8Length(name) > FILE_NAME_BYTES_MAX) return `${shown} has a name that is too long`;
  }
  return null;
}

/** What is wrong with an entry that somebody sent, in words; null: nothing. */
export function entryFlaw(value: unknown): string | null {
  if (!isRecord(value)) return 'an entry is no object';
  const { path, kind, size, mode, sha256, target } = value;
  if (typeof path !== 'string') return 'an entry has no path';
  const flaw = pathFlaw(path);
  if (flaw !== null) return flaw;
  const shown = JSON.stringify(path);
  if (!isWhole(size, 0, Number.MAX_SAFE_INTEGER)) return `${shown} has no size`;
  if (!isWhole(mode, 0, 0o777)) return `${shown} has no mode from 0 to 0777`;
  switch (kind) {
    case 'file':
      return BLOB_HASH.test(String(sha256)) ? null : `${shown} has no SHA-256`;
    case 'folder':
      return null;
    case 'link':
      return typeof target === 'string' && isTarget(path, target)
        ? null
        : `${shown} is a link that leads outside`;
    default:
      return `${shown} is neither file nor folder nor link`;
  }
}

function isTarget(path: string, target: string): boolean {
  const isPath = target !== '' && !NO_TEXT.test(target);
  return isPath && utf8Length(target) <= FILE_PATH_BYTES_MAX && staysInside(path, target);
}

/**
 * What is wrong with entries that are fine one by one, in words; null: nothing. By sorting, as
 * whoever sends them may send many that lie deep.
 */
export function togetherFlaw(entries: Iterable<FileEntry>): string | null {
  // What lies below a path comes right behind it: no path has a NUL.
  const keyed = [...entries].map((entry) => ({ entry, key: entry.path.replaceAll('/', '\0') }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  for (const [at, { entry, key }] of keyed.entries()) {
    const before = keyed[at - 1];
    if (before === undefined) continue;
    const { path, kind } = before.entry;
    if (before.key === key) return `${JSON.stringify(path)} is there twice`;
    // Through a link it would be written where the link leads.
    if (kind === 'folder' || !key.startsWith(`${before.key}\0`)) continue;
    return `${JSON.stringify(entry.path)} lies in ${JSON.stringify(path)}, which is a ${kind}`;
  }
  return null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
