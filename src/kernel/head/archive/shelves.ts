// Reading the archive: which tasks of a job have files there, and which files.

import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { JobManifest, TaskArchive } from '../../files/job-manifest.ts';
import { absent, codeOf } from '../disk/disk-errors.ts';
import { type ArchivePlaces, manifestIn, type Shelf, summaryIn } from './archive-places.ts';

/** Files read in one turn: a millisecond or two. */
const READ_PER_TURN = 32;
/** Entries of one answer: some megabytes. */
const LISTED_FILES_MAX = 10_000;

/** What a folder says of itself in short. */
export interface KeptSummary extends TaskArchive {
  /** Absent: made before there were folders of batches. */
  readonly jobId?: number;
  /** Absent: made before what is kept was counted by user. */
  readonly owner?: string;
}

/** Tasks of a job that have files there, by index, from this index on. */
export async function listShelves(
  places: ArchivePlaces,
  jobId: number,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<TaskArchive[]> {
  const folder = places.job(jobId);
  const plain = listed(folder, null);
  if (plain !== null) return from === 0 ? [shown(plain)] : [];
  const names = await readdir(folder).catch(absent<string[]>([]));
  const indices = names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((index) => index >= from)
    .sort((a, b) => a - b);
  const found: TaskArchive[] = [];
  for (const [at, index] of indices.entries()) {
    if (found.length === limit) break;
    if (at % READ_PER_TURN === READ_PER_TURN - 1) await new Promise(setImmediate);
    const summary = listed(path.join(folder, String(index)), index);
    if (summary !== null && isOf(summary, jobId, index)) found.push(shown(summary));
  }
  return found;
}

/** One that a disk has spoilt is listed as empty: whoever asks for its files is told. */
function listed(folder: string, index: number | null): KeptSummary | null {
  try {
    return summaryNow(folder);
  } catch (error) {
    if (error instanceof SyntaxError) return { ...SPOILT, index };
    throw error;
  }
}

const SPOILT = {
  epoch: 0,
  outcome: 'failed',
  files: 0,
  bytes: 0,
  leftOut: 0,
  storedAt: 0,
  isPartial: true,
} as const;

export interface ReadPage {
  readonly tasks: readonly TaskArchive[];
  /** Each is that of the task at its place. */
  readonly manifests: readonly JobManifest[];
  /** How many tasks of the page were looked at. */
  readonly count: number;
}

/** The first tasks of a page that have not too many files together, and at least one of them. */
export async function readPage(
  places: ArchivePlaces,
  jobId: number,
  page: readonly TaskArchive[],
): Promise<ReadPage> {
  const tasks: TaskArchive[] = [];
  const manifests: JobManifest[] = [];
  let [count, files] = [0, 0];
  for (const task of page) {
    files += task.files;
    if (count > 0 && files > LISTED_FILES_MAX) break;
    count += 1;
    if (count % READ_PER_TURN === 0) await new Promise(setImmediate);
    const { index } = task;
    const shelf = { jobId, index: index ?? 0, isArray: index !== null };
    const manifest = readWhole(places.task(shelf), shelf);
    if (manifest === 'damaged') {
      // Alone in its answer and without a manifest: whoever asks for that is told.
      if (count === 1) tasks.push(task);
      else count -= 1;
      break;
    }
    // It has gone just now.
    if (manifest === null) continue;
    tasks.push(task);
    manifests.push(manifest);
  }
  return { tasks, manifests, count };
}

/** The largest id of a job that has a folder here; 0: none has. */
export async function largestJobId({ jobs }: ArchivePlaces): Promise<number> {
  let largest = 0;
  for (const name of await readdir(jobs)) {
    const jobId = Number.parseInt(name, 10);
    if (jobId > largest) largest = jobId;
  }
  return largest;
}

/** What retention has to know of a folder. */
export type KeptAmount = Pick<KeptSummary, 'bytes' | 'storedAt' | 'owner'>;

/** Returns null when there is no such folder. */
export async function readSummary(folder: string): Promise<KeptSummary | 'damaged' | null> {
  const text = await firstOf(folder, (file) => readFile(file, 'utf8'));
  if (text === null) return null;
  const summary = parsed<KeptSummary>(text);
  const isWhole = Number.isFinite(summary?.bytes) && Number.isFinite(summary?.storedAt);
  return summary !== null && isWhole ? summary : 'damaged';
}

/** The same; one that is damaged goes when it is old, as nobody's and as if it were empty. */
export async function readAmount(folder: string): Promise<KeptAmount | null> {
  const summary = await readSummary(folder);
  if (summary !== 'damaged') return summary;
  const status = await firstOf(folder, (file) => stat(file));
  return status === null ? null : { owner: '', bytes: 0, storedAt: status.mtimeMs };
}

/** The same at once; throws a SyntaxError when a disk has spoilt it. */
export function summaryNow(folder: string): KeptSummary | null {
  const summary = readJson<KeptSummary>(summaryIn(folder));
  if (summary !== null) return summary;
  const manifest = readJson<JobManifest>(manifestIn(folder));
  return manifest === null ? null : summaryOf(manifest);
}

/** The answer of its summary, or of the manifest of a task with few files, which has none. */
async function firstOf<T>(folder: string, ask: (file: string) => Promise<T>): Promise<T | null> {
  const summary = await ask(summaryIn(folder)).catch(absent(null));
  return summary ?? (await ask(manifestIn(folder)).catch(absent(null)));
}

/** What a manifest says in short. */
export function summaryOf(manifest: JobManifest): KeptSummary {
  const { jobId, index, owner, epoch, outcome, files, bytes, leftOut } = manifest;
  const { storedAt, isPartial } = manifest;
  return { jobId, index, owner, epoch, outcome, files, bytes, leftOut, storedAt, isPartial };
}

/** The owner of a folder's files; of an earlier release by its manifest. '': nobody knows. */
export async function ownerOf(folder: string, { owner }: KeptAmount): Promise<string> {
  if (owner !== undefined) return owner;
  const text = await readFile(manifestIn(folder), 'utf8').catch(absent(null));
  const said: unknown = text === null ? '' : parsed<JobManifest>(text)?.owner;
  return typeof said === 'string' ? said : '';
}

/** Returns null when a disk has spoilt it. */
function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Returns null when nothing of this task is there. */
export function readManifest(folder: string, { jobId, index, isArray }: Shelf): JobManifest | null {
  const manifest = readJson<JobManifest>(manifestIn(folder));
  if (manifest === null || !isArray) return manifest;
  return isOf(manifest, jobId, index) ? manifest : null;
}

/** The same of one that a disk may have spoilt. */
export function readWhole(folder: string, shelf: Shelf): JobManifest | 'damaged' | null {
  try {
    return readManifest(folder, shelf);
  } catch (error) {
    if (error instanceof SyntaxError) return 'damaged';
    throw error;
  }
}

/** What is behind a task's link may be of a later start of the job, which is another's task. */
function isOf(found: Pick<KeptSummary, 'jobId' | 'index'>, jobId: number, index: number): boolean {
  return (found.jobId ?? jobId) === jobId && found.index === index;
}

function shown({ jobId: _, owner: __, ...summary }: KeptSummary): TaskArchive {
  return summary;
}

/** At once, in some hundredths of a millisecond: a pool of threads would take longer. */
function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
