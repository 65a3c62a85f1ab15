// Brings what tasks have left into folders of this machine: what is there is compared, and only
// what is missing or differs is fetched.

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
import { fileProblem } from '../../config/file-problem.ts';
import { takeLock } from '../../connect/lock-file.ts';
import type { ManifestEntry } from '../../files/manifest.ts';
import { type Selection, select } from '../../files/select.ts';
import type { BlobHash } from '../../model/blob.ts';
import { refuse } from '../../model/errors.ts';
import { Failure, failure, usage } from '../../model/failure.ts';
import { asideOf, type Wanted } from '../arriving.ts';
import { downloadFiles } from '../download.ts';
import type { TransferContext } from '../transfer-context.ts';
import { compare, type Placed, type TaskFiles } from './compare.ts';
import { makeFolder } from './make-folder.ts';
import type { TaskOutputs } from './outputs.ts';

/** Named in one message; all of them are tried again by the same command. */
const SHOWN_MAX = 20;

/** What a task left, and the folder that it gets below the place. */
export interface FoundOutputs extends TaskOutputs {
  readonly below: readonly string[];
}

/** What is chosen of it. `shown`: how the place is told. */
export function placedIn(
  { task, below, entries, problem }: FoundOutputs,
  { place, selection, shown }: { place: string; selection: Selection; shown: string },
): TaskFiles {
  const { taken } = select<ManifestEntry>(entries, selection);
  const files = { task, place, placeShown: shown, below: path.join(...below), entries: taken };
  return problem === undefined ? files : { ...files, problem };
}

/** What to do next, in the words of whoever asked. */
export interface Hints {
  /** Something stands in the way. */
  readonly inTheWay: string;
  readonly noRoom: string;
}

/** Throws one failure with all that stands in the way, before anything is written. */
export async function compareAll(
  transfer: TransferContext,
  tasks: readonly TaskFiles[],
  hints: Hints,
): Promise<Placed[]> {
  const all = tasks.flatMap(({ entries }) => entries);
  const line = transfer.progress('comparing');
  line.start(all.reduce((sum, { size }) => sum + size, 0));
  const placed: Placed[] = [];
  const problems: string[] = [];
  try {
    for (const task of tasks) {
      const compared = await compare(task, line.moved);
      for (const one of compared.placed) placed.push(one);
      problems.push(...compared.problems);
    }
  } catch (error) {
    throw asFailure('look at', error, tasks[0]?.place);
  } finally {
    line.stop();
  }
  if (problems.length === 0) return placed;
  throw usage(problems.join('\n'), hints.inTheWay);
}

/** What was brought, and what could not be. */
export interface Brought {
  /** All that is in its place now. */
  readonly placed: readonly Placed[];
  readonly flawed: readonly Flawed[];
}

/** Throws when there is anything that did not come. `lost`: what is lacking besides, in words. */
export function checkWhole({ flawed }: Brought, lost: readonly string[], hint: string): void {
  const all = [...lost, ...flawed.map(({ placed: { shown }, why }) => `${shown}: ${why}`)];
  if (all.length === 0) return;
  const names = all.slice(0, SHOWN_MAX);
  if (all.length > SHOWN_MAX) names.push(`and ${all.length - SHOWN_MAX} more`);
  const details = { count: String(all.length), what: names.join('\n') };
  throw failure(refuse('outputs.partial', details, hint));
}

/** Compares and fetches, while nobody else does the same there. */
export async function bring(
  transfer: TransferContext,
  tasks: readonly TaskFiles[],
  { place, hints }: { place: string; hints: Hints },
): Promise<Brought> {
  const release = lock(place, tasks);
  try {
    const placed = await compareAll(transfer, tasks, hints);
    if (placed.length === 0) return { placed, flawed: [] };
    try {
      checkRoom(place, bytesToFetch(placed), hints.noRoom);
      const flawed = await fetchAll(transfer, placed);
      const left = new Set(flawed.map((one) => one.placed));
      return { placed: placed.filter((one) => !left.has(one)), flawed };
    } catch (error) {
      throw asFailure('write', error, place);
    }
  } finally {
    release();
  }
}

function bytesToFetch(placed: readonly Placed[]): number {
  const missing = placed.filter(({ entry, here }) => entry.kind === 'file' && here !== 'there');
  return missing.reduce((sum, { entry }) => sum + entry.size, 0);
}

/** Two at once would write the same files. */
function lock(place: string, tasks: readonly TaskFiles[]): () => void {
  const releases: (() => void)[] = [];
  const release = (): void => {
    for (const one of releases) one();
  };
  try {
    makeFolder(place);
    for (const job of new Set(tasks.map(({ task }) => task.split('[')[0] ?? task))) {
      const taken = takeLock(path.join(place, `.${job}.pull.lock`), 'user');
      if (taken.ok) releases.push(taken.release);
      else throw failure(refuse('pull.busy', { job, folder: place, pid: holderOf(taken.holder) }));
    }
  } catch (error) {
    release();
    throw asFailure('write', error, place);
  }
  return release;
}

function holderOf(holder: { readonly pid: number } | null): string {
  return holder === null ? 'unknown' : String(holder.pid);
}

function asFailure(verb: string, error: unknown, place = ''): unknown {
  const { syscall, path: file = place } = error as NodeJS.ErrnoException;
  if (error instanceof Failure || syscall === undefined) return error;
  return usage(`cannot ${verb} ${file}: ${fileProblem(error)}`);
}

// Brings what is missing or differs: each file whole and verified before it gets its place.

/** Mode of fetched folders: their new owner may write to them, whatever mode they had. */
const OWN = 0o700;

/** A file that did not come. */
interface Flawed {
  readonly placed: Placed;
  /** In words. */
  readonly why: string;
}

/**
 * Puts everything into its place, and gives what is there the modes and times it should have. What
 * the head has not whole is left out and given back; what lies in its place stays.
 */
async function fetchAll(
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
function checkRoom(folder: string, bytes: number, hint: string): void {
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
