// The folder of a batch: what it says of the batch as a whole, and the folders of its jobs, each of
// the last start of its job. All of it in one turn, so that nobody sees a half of it.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { BATCH_FILE, BUILD_FOLDER } from '../../files/manifest.ts';
import { codeOf } from '../disk/disk-errors.ts';
import type { ArchivePlaces, BatchShelf, Shelf } from './archive-places.ts';
import { type KeptSummary, summaryNow } from './shelves.ts';

/** Names beside those of jobs. */
const OWN_NAMES: ReadonlySet<string> = new Set([BATCH_FILE, BUILD_FOLDER]);

/** A task of a batch, and what is known of that. */
interface InBatch {
  readonly shelf: Shelf & { readonly batch: BatchShelf };
  readonly owner: string;
  /** All jobs of the batch; empty: they are not known any more. */
  readonly jobNames: () => readonly string[];
}

/** Batches whose jobs end at the same time. */
const RECORDS_KNOWN_MAX = 100;

/** A folder that is ready to be one of a job. */
export interface Made extends InBatch {
  readonly aside: string;
  readonly epoch: number;
}

export interface Placed {
  /** False: a later start of the job has its files there. */
  readonly isPlaced: boolean;
  /** What is out of sight, to be removed. */
  readonly trash: readonly string[];
  /** How much of it counted as archived. */
  readonly bytesGone: number;
  /** Folders that `openBatch` has put a name into. */
  readonly above: readonly string[];
}

/** Puts a folder where it belongs; that of an earlier start of the job makes room for it. */
export function placeInBatch(places: ArchivePlaces, made: Made): Placed {
  const { aside, shelf, epoch } = made;
  const above = openBatch(places, made);
  const home = places.home(shelf);
  const isThere = existsSync(home);
  const there = isThere ? summaryIfWhole(home) : null;
  if (there !== null && isLater(there, { jobId: shelf.jobId, epoch })) {
    return { isPlaced: false, trash: [places.discard(aside)], bytesGone: 0, above };
  }
  const trash = isThere ? [places.discard(home)] : [];
  renameSync(aside, home);
  if (there !== null) unlink(places, home, shelfOf(there));
  link(places, shelf);
  return { isPlaced: true, trash, bytesGone: there?.bytes ?? 0, above };
}

/** The way to it by the number of its task. */
export function link(places: ArchivePlaces, shelf: Shelf): void {
  const from = places.task(shelf);
  const to = path.relative(path.dirname(from), places.home(shelf));
  // Most are new, in a folder that is there.
  if (isLinked(to, from)) return;
  mkdirSync(path.dirname(from), { recursive: true, mode: 0o700 });
  if (targetOf(from) === to) return;
  rmSync(from, { force: true });
  symlinkSync(to, from);
}

function isLinked(to: string, from: string): boolean {
  try {
    symlinkSync(to, from);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOENT') throw error;
    return false;
  }
}

/** Takes the folder of a job out of sight, and that of the batch with the last of them. */
export function discardJob(places: ArchivePlaces, home: string, shelf: Shelf): string[] {
  const trash = [places.discard(home)];
  unlink(places, home, shelf);
  const batch = path.dirname(home);
  return [...trash, ...discardEmpty(places, batch)];
}

/** The folder of a batch, unless a job has files there. */
export function discardEmpty(places: ArchivePlaces, folder: string): string[] {
  if (!existsSync(folder) || hasJobs(folder)) return [];
  const trash = places.discard(folder);
  const namespace = path.dirname(folder);
  removeEmpty(namespace);
  if (!existsSync(namespace)) places.shown?.hide(path.basename(namespace));
  return [trash];
}

/** Not all names are read: a batch may have very many jobs, and each of them asks. */
function hasJobs(batchFolder: string): boolean {
  const folder = opendirSync(batchFolder);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (!isOfBatch(entry.name)) return true;
    }
    return false;
  } finally {
    folder.closeSync();
  }
}

/** A folder, unless something is in it. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}

/** Whether a name in the folder is none of a job. */
export function isOfBatch(name: string): boolean {
  return OWN_NAMES.has(name);
}

/** Whether a task's place is a link to one of a batch, and to which. */
export function homeBehind(task: string): string | null {
  const target = targetOf(task);
  return target === null ? null : path.resolve(path.dirname(task), target);
}

/**
 * The folder is that of this batch afterwards: one of another batch of its name gets another name.
 * Gives the folders above in which a name is new, for whoever makes it durable.
 */
export function openBatch(
  places: ArchivePlaces,
  { shelf: { batch }, owner, jobNames }: InBatch,
): readonly string[] {
  const folder = places.batch(batch);
  const record = readRecord(places, folder);
  const isOther = record !== null && (record.owner !== owner || record.begunAt !== batch.begunAt);
  // No batch has such a name: behind the `@` there is a number.
  if (isOther) renameSync(folder, `${folder}@begun-${record.begunAt}`);
  else if (record !== null) return [];
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { namespace, name, version, origin, begunAt } = batch;
  const fresh = { version: 1, namespace, name: version === 1 ? name : `${name}@${version}` };
  const text = JSON.stringify({ ...fresh, origin, owner, begunAt, jobs: jobNames() }, null, 1);
  writeFileSync(path.join(folder, BATCH_FILE), `${text}\n`, { mode: 0o600 });
  places.shown?.show(namespace);
  return [path.dirname(folder), places.batches];
}

/** Whether the folder of that name is this batch's: an earlier one of its name may be there. */
export function isFolderOf(
  places: ArchivePlaces,
  { owner, ...batch }: Pick<BatchShelf, 'namespace' | 'name' | 'version' | 'begunAt'> & Record,
): boolean {
  const record = readRecord(places, places.batch(batch));
  return record?.owner === owner && record.begunAt === batch.begunAt;
}

interface Record {
  readonly owner: string;
  readonly begunAt: number;
}

interface KnownRecord extends Record {
  readonly version: string;
}

/** Records by folder: one record names all jobs of a batch, and each of these jobs asks for it. */
const known = new WeakMap<ArchivePlaces, Map<string, KnownRecord>>();

/** Returns null when there is none, or it was cut off. */
function readRecord(places: ArchivePlaces, folder: string): Record | null {
  const file = path.join(folder, BATCH_FILE);
  const status = statSync(file, { throwIfNoEntry: false });
  if (status === undefined) return null;
  const version = [status.ino, status.size, status.mtimeMs, status.ctimeMs].join();
  const records = known.get(places) ?? new Map<string, KnownRecord>();
  known.set(places, records);
  const last = records.get(folder);
  if (last?.version === version) return last;
  const read = readJson<Record>(file);
  if (records.size >= RECORDS_KNOWN_MAX) records.clear();
  if (read !== null) records.set(folder, { owner: read.owner, begunAt: read.begunAt, version });
  return read;
}

function summaryIfWhole(folder: string): KeptSummary | null {
  try {
    return summaryNow(folder);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

function isLater(there: KeptSummary, { jobId, epoch }: { jobId: number; epoch: number }): boolean {
  const { jobId: other = 0 } = there;
  return other > jobId || (other === jobId && there.epoch > epoch);
}

/** By what its folder says. */
export function shelfOf({ jobId = 0, index }: KeptSummary): Shelf {
  return { jobId, index: index ?? 0, isArray: index !== null };
}

/** The way by the number of a task whose files are no longer there. */
function unlink(places: ArchivePlaces, home: string, shelf: Shelf): void {
  const task = places.task(shelf);
  if (homeBehind(task) !== home) return;
  rmSync(task);
  removeEmpty(path.dirname(task));
}

/** Returns null when it is no link, or not there. */
function targetOf(file: string): string | null {
  const status = lstatSync(file, { throwIfNoEntry: false });
  return status?.isSymbolicLink() === true ? readlinkSync(file) : null;
}
