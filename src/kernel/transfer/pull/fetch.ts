// Brings what is missing or differs: each file whole and verified before it gets its place.

import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { formatBytes } from '../../base/size.ts';
import type { BlobHash } from '../../model/blob.ts';
import { usage } from '../../model/failure.ts';
import { asideOf, type Wanted } from '../arriving.ts';
import { downloadFiles } from '../download.ts';
import type { TransferContext } from '../transfer-context.ts';
import type { Placed } from './compare.ts';
import { makeFolder } from './make-folder.ts';

/** Mode of fetched folders: their new owner may write to them, whatever mode they had. */
const OWN = 0o700;

/** A file that did not come. */
export interface Flawed {
  readonly placed: Placed;
  /** In words. */
  readonly why: string;
}

/**
 * Puts everything into its place, and gives what is there the modes and times it should have. What
 * the head has not whole is left out and given back; what lies in its place stays.
 */
export async function fetchAll(
  transfer: TransferContext,
  placed: readonly Placed[],
): Promise<readonly Flawed[]> {
  makeFolders(placed);
  const wanted = placed.filter(({ entry, here }) => entry.kind === 'file' && here !== 'there');
  const { first, copies } = byContent(wanted);
  const line = transfer.progress('fetching');
  line.start(first.reduce((sum, { entry }) => sum + entry.size, 0));
  const whys = new Map<string, string>();
  try {
    await downloadFiles(transfer.access, first.map(wantedOf), {
      moved: line.moved,
      flawed: ({ hash }, { code }) => void whys.set(hash, WHYS[code] ?? code),
    });
  } finally {
    line.stop();
  }
  const whyOf = ({ entry }: Placed): string | undefined => whys.get(entry.sha256 ?? '');
  for (const { from, to } of copies) if (whyOf(to) === undefined) copyOver(from, to);
  const flawed = wanted.flatMap((one) => {
    const why = whyOf(one);
    return why === undefined ? [] : [{ placed: one, why }];
  });
  const left = new Set(flawed.map((one) => one.placed));
  for (const one of placed) if (one.entry.kind === 'file' && !left.has(one)) setMarks(one);
  for (const one of placed) if (one.entry.kind === 'link' && one.here !== 'there') makeLink(one);
  // The innermost first: what is made in a folder changes its time.
  const folders = placed.filter(({ entry }) => entry.kind === 'folder');
  for (const one of folders.toReversed()) setMarks(one);
  return flawed;
}

const WHYS: Readonly<Record<string, string>> = {
  'blob.damaged': 'its content is damaged on the head',
  'blob.not_found': 'its content is gone from the head',
};

/** Throws a failure when it is known before that there is no room. */
export function checkRoom(folder: string, bytes: number, hint: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (bytes <= free) return;
  throw usage(`${folder} has ${formatBytes(free)} free, ${formatBytes(bytes)} are to come`, hint);
}

function makeFolders(placed: readonly Placed[]): void {
  const made = new Set<string>();
  for (const { entry, full } of placed) {
    const folder = entry.kind === 'folder' ? full : path.dirname(full);
    if (!made.has(folder)) makeFolder(folder);
    made.add(folder);
  }
}

interface Copy {
  readonly from: Placed;
  readonly to: Placed;
}

/** Equal contents travel once. */
function byContent(wanted: readonly Placed[]): { first: Placed[]; copies: Copy[] } {
  const known = new Map<string, Placed>();
  const copies: Copy[] = [];
  for (const to of wanted) {
    const from = known.get(to.entry.sha256 ?? '');
    if (from === undefined) known.set(to.entry.sha256 ?? '', to);
    else copies.push({ from, to });
  }
  return { first: [...known.values()], copies };
}

function wantedOf({ entry, full }: Placed): Wanted {
  const { sha256, size, mode } = entry;
  return { hash: sha256 as BlobHash, size, path: full, mode };
}

function copyOver(from: Placed, to: Placed): void {
  const aside = asideOf(wantedOf(to));
  rmSync(aside, { force: true });
  copyFileSync(from.full, aside, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  renameSync(aside, to.full);
}

function makeLink({ entry, full }: Placed): void {
  rmSync(full, { force: true });
  symlinkSync(entry.target ?? '', full);
}

/** Only where they differ: a file that is there may be on a slow disk. */
function setMarks({ entry: { kind, mode, modifiedAt }, full }: Placed): void {
  const stats = lstatSync(full);
  const wanted = kind === 'folder' ? mode | OWN : mode;
  if ((stats.mode & 0o7777) !== wanted) chmodSync(full, wanted);
  if (!isSameTime(stats, modifiedAt)) utimesSync(full, modifiedAt / 1000, modifiedAt / 1000);
}

function isSameTime({ mtimeMs }: Stats, modifiedAt: number): boolean {
  return Math.floor(mtimeMs) === modifiedAt;
}
