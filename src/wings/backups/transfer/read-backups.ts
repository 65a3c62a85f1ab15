// The whole backups in a folder. Whatever else lies there is nobody's business here.

import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BackedUp, parseEntries } from '../api/backed-up.ts';
import { type BackupHeader, HEADER_FILE, LIST_FILE, parseHeader } from '../api/backup-header.ts';
import { instantOf } from '../core/backup-name.ts';
import { readPlain } from './plain-file.ts';
import { unlessGone } from './tree.ts';

export const HEADER_BYTES_MAX = 1_048_576;
/** Some million files. */
const LIST_BYTES_MAX = 1_073_741_824;

export interface WholeBackup {
  readonly name: string;
  readonly folder: string;
  readonly header: BackupHeader;
}

/** The oldest first; a folder that is not there has none. Of one head, where `head` says which. */
export function readBackups(folder: string, head?: string): WholeBackup[] {
  const names = unlessGone(() => readdirSync(folder)) ?? [];
  return names
    .filter((name) => instantOf(name) !== null)
    .sort()
    .flatMap((name) => readBackup(join(folder, name), name) ?? [])
    .filter(({ header }) => head === undefined || header.head === head);
}

/** Returns null when what is there is no whole backup that this release can read. */
function readBackup(folder: string, name: string): WholeBackup | null {
  const text = readHeader(join(folder, HEADER_FILE));
  const header = text === null ? null : parseHeader(text);
  return header?.ok === true ? { name, folder, header: header.value } : null;
}

/** Returns null when there is none, it is somebody else's, or it is no file of a header's size. */
function readHeader(file: string): string | null {
  try {
    return readPlain(file, HEADER_BYTES_MAX)?.toString('utf8') ?? null;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return null;
    throw error;
  }
}

/** Throws where the list is not the one that the header speaks of. */
export function entriesOf({ folder, header }: Pick<WholeBackup, 'folder' | 'header'>): BackedUp[] {
  const path = join(folder, LIST_FILE);
  const text = readPlain(path, LIST_BYTES_MAX);
  if (text === null) throw new Error(`${path} is no plain file`);
  const isTheOne = createHash('sha256').update(text).digest('hex') === header.listSha256;
  const entries = parseEntries(text.toString('utf8'));
  if (!isTheOne || !entries.ok) throw new Error(`${path} is damaged`);
  return entries.value;
}
