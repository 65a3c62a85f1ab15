// Puts a backup back: each file is compared with its digest while it is copied, and the folder gets
// its name when all of it is there.

import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { plural } from '../../../kernel/base/plural.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import { takeLock } from '../../../kernel/connect/lock-file.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure, usage } from '../../../kernel/model/failure.ts';
import type { BackedUp, BackedUpFile } from '../api/backed-up.ts';
import { type BackupHeader, HEAD_FOLDER, HEADER_FILE, parseHeader } from '../api/backup-header.ts';
import { asOwnerOf } from './as-owner.ts';
import { copyBack, digestOf, syncPath } from './copy-file.ts';
import { readPlain } from './plain-file.ts';
import { entriesOf, HEADER_BYTES_MAX, readBackups } from './read-backups.ts';
import { unlessGone } from './tree.ts';

export interface OpenBackup {
  readonly folder: string;
  readonly header: BackupHeader;
  readonly entries: readonly BackedUp[];
}

/** Throws a failure where there is no whole backup, or one of a newer release. */
export function openBackup(folder: string): OpenBackup {
  const file = join(folder, HEADER_FILE);
  // Read as whoever may have put something else there: root sees no more of it than they do.
  const said = unlessGone(() => ({
    is: asOwnerOf(folder, () => readPlain(file, HEADER_BYTES_MAX)),
  }));
  if (said === null) throw noBackup(folder);
  if (said.is === null) throw damaged(folder, `${HEADER_FILE} is no plain file of a header's size`);
  const header = parseHeader(said.is.toString('utf8'));
  if (!header.ok) throw damaged(folder, `${HEADER_FILE} ${header.error}`);
  try {
    const opened = { folder, header: header.value };
    return { ...opened, entries: asOwnerOf(folder, () => entriesOf(opened)) };
  } catch (error) {
    throw damaged(folder, (error as Error).message);
  }
}

function noBackup(folder: string): Error {
  if (!existsSync(folder)) return usage(`there is no folder ${folder}`);
  const names = readBackups(folder).map(({ name }) => name);
  if (names.length === 0) return usage(`${folder} is no backup: it has no ${HEADER_FILE}`);
  return usage(
    `${folder} has ${plural(names.length, 'backup')}; name one of them: ${names.join(', ')}`,
  );
}

const damaged = (folder: string, what: string) =>
  failure(refuse('backup.damaged', { folder, what }));

/** What is missing or differs, in words; empty: everything is as it was written. */
export function problemsOf({ folder, entries }: OpenBackup): string[] {
  return entries.flatMap((entry) => {
    if (entry.kind !== 'file') return [];
    const problem = problemOf(join(folder, HEAD_FOLDER, entry.path), entry);
    return problem === null ? [] : [`${entry.path} ${problem}`];
  });
}

function problemOf(path: string, { sha256 }: BackedUpFile): string | null {
  const digest = unlessGone(() => digestOf(path));
  if (digest === null) return 'is missing';
  return digest === sha256 ? null : 'differs from what was written';
}

/**
 * `to`: the head's folder, which is not there or empty. Throws a failure; then nothing is left of
 * it. For root it is done as the user whose folders are on the way there, and belongs to that user.
 */
export function restore(backup: OpenBackup, named: string, freeIn = freeBytes): void {
  asOwnerOf(named, () => restoreThere(backup, named, freeIn));
}

function restoreThere(backup: OpenBackup, named: string, freeIn: (folder: string) => number): void {
  const to = placeOf(named);
  checkEmpty(to);
  const parent = dirname(to);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  checkRoom(backup.header, parent, freeIn(parent));
  const taken = takeLock(`${to}.restoring`, 'user');
  if (!taken.ok) throw inUse(to, taken.holder?.pid);
  try {
    // Once more: another restore may have ended, or a head begun, since the first look.
    checkEmpty(to);
    putInPlace(backup, to);
  } finally {
    taken.release();
  }
}

/** Where the folder is a link to another disk, it goes to that disk. */
const placeOf = (named: string): string => unlessGone(() => realpathSync(named)) ?? named;

/** Throws a failure where `restore` would, before anything is fetched for it. */
export function checkFree(named: string): void {
  asOwnerOf(named, () => checkEmpty(placeOf(named)));
}

function checkEmpty(to: string): void {
  if ((unlessGone(() => readdirSync(to)) ?? []).length === 0) return;
  throw failure(refuse('restore.not_empty', { folder: to }));
}

/** What another one has put there so far would be removed as left of one that was cut off. */
function inUse(to: string, pid: number | undefined): Error {
  const who = pid === undefined ? '' : ` (process ${pid})`;
  return usage(
    `another restore is putting a backup to ${to}${who}`,
    'Let it end, or end it first.',
  );
}

function putInPlace(backup: OpenBackup, to: string): void {
  const half = `${to}.half`;
  // What a restore that was cut off has left.
  rmSync(half, { recursive: true, force: true });
  try {
    putBack(backup, half);
    rmSync(to, { recursive: true, force: true });
    renameSync(half, to);
    syncPath(dirname(to));
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    throw error;
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function checkRoom({ bytes }: BackupHeader, folder: string, free: number): void {
  if (bytes <= free) return;
  const sizes = { needed: formatSize(bytes), free: formatSize(free) };
  throw failure(refuse('restore.no_room', { folder, ...sizes }));
}

function putBack({ folder, entries }: OpenBackup, half: string): void {
  mkdirSync(half, { mode: 0o700 });
  for (const entry of entries) {
    const to = join(half, entry.path);
    putEntry(entry, { from: join(folder, HEAD_FOLDER, entry.path), to, half, folder });
  }
  // Last: a folder that may not be written must first have what is in it.
  for (const entry of entries) {
    if (entry.kind === 'folder') chmodSync(join(half, entry.path), entry.mode);
  }
  for (const entry of entries) if (entry.kind !== 'link') syncPath(join(half, entry.path));
  syncPath(half);
}

interface Way {
  readonly from: string;
  readonly to: string;
  readonly half: string;
  readonly folder: string;
}

function putEntry(entry: BackedUp, { from, to, half, folder }: Way): void {
  if (entry.kind === 'folder') {
    mkdirSync(to, { mode: 0o700 });
  } else if (entry.kind === 'link') {
    symlinkSync(entry.target, to);
  } else if (entry.same !== undefined) {
    linkSync(join(half, entry.same), to);
  } else {
    const { bytes, sha256 } = entry;
    const copied = unlessGone(() => ({ is: copyBack({ folder, from, bytes }, to) }));
    if (copied?.is?.sha256 === sha256) return;
    const what = copied === null ? 'is missing' : 'differs from what was written';
    throw damaged(folder, `${entry.path} ${what}; nothing was put back`);
  }
}
