// The folder of one batch in an archive: which versions there are, and which of their jobs are
// done.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  BATCH_FILE,
  MANIFEST_FILE,
  type Manifest,
  parseManifest,
} from '../../../../kernel/files/manifest.ts';
import { parseBatch } from '../../../../kernel/model/batch.ts';
import { removeTree } from '../files/remove.ts';
import { PARTIAL, REPLACED, writeDurably } from './job-archive.ts';

/** What the folder says of the batch as a whole. */
export interface BatchRecord {
  readonly version: 1;
  readonly namespace: string;
  readonly name: string;
  readonly origin: 'weft' | 'distribute';
  readonly begunAt: number;
  readonly jobs: readonly string[];
}

/** `sweep_01`, `sweep_01@2`, …: folders of these names that are there, the newest last. */
export function versionsOf(namespaceFolder: string, name: string): string[] {
  const own = namesIn(namespaceFolder).filter((one) => versionIn(one, name) !== null);
  return own.sort((a, b) => (versionIn(a, name) ?? 0) - (versionIn(b, name) ?? 0));
}

/** The name for a version after all of these. */
export function nextVersion(versions: readonly string[], name: string): string {
  const last = versions.at(-1);
  return last === undefined ? name : `${name}@${(versionIn(last, name) ?? 1) + 1}`;
}

/** Null: the folder is none of this batch. */
function versionIn(folder: string, name: string): number | null {
  const read = parseBatch(`_/${folder}`);
  return read.ok && read.value.name === name ? (read.value.version ?? 1) : null;
}

/** Makes the folder, with what it says of the batch. */
export async function beginBatch(folder: string, record: BatchRecord): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await writeDurably(path.join(folder, BATCH_FILE), `${JSON.stringify(record, null, 1)}\n`);
}

/** How many of its jobs completed, by what the folder says; null: it is no folder of a batch. */
export function completedIn(
  folder: string,
): { readonly done: number; readonly jobs: number } | null {
  const jobs = jobsIn(folder);
  if (jobs === null) return null;
  const isDone = (job: string) => readArchived(folder, job).manifest?.outcome === 'completed';
  return { done: jobs.filter(isDone).length, jobs: jobs.length };
}

function jobsIn(folder: string): readonly string[] | null {
  try {
    const record: unknown = JSON.parse(readFileSync(path.join(folder, BATCH_FILE), 'utf8'));
    const { jobs } = record as Partial<BatchRecord>;
    return Array.isArray(jobs) && jobs.every((job) => typeof job === 'string') ? jobs : null;
  } catch {
    return null; // Not there, or not whole: nothing can be said of it.
  }
}

/** What a run that was cut off left half-made. */
export async function removeHalves(folder: string): Promise<void> {
  const isHalf = (name: string) => name.startsWith(PARTIAL) || name.startsWith(REPLACED);
  for (const name of namesIn(folder).filter(isHalf)) await removeTree(path.join(folder, name));
}

/** None where there is no such folder. */
export function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** What is archived of a job, if that can be believed; `wrong` says why it cannot. */
export interface Archived {
  readonly manifest: Manifest | null;
  readonly wrong: string | null;
}

const NOTHING: Archived = { manifest: null, wrong: null };

export function readArchived(batchFolder: string, job: string): Archived {
  const folder = path.join(batchFolder, job);
  let text: string;
  try {
    text = readFileSync(path.join(folder, MANIFEST_FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return existsSync(folder) ? { manifest: null, wrong: 'it has no manifest' } : NOTHING;
  }
  const read = parseManifest(text);
  if (!read.ok) return { manifest: null, wrong: `of its manifest, ${read.error}` };
  if (read.value.job !== job)
    return { manifest: null, wrong: 'its manifest is that of another job' };
  const wrong = wrongFile(folder, read.value);
  return wrong === null ? { manifest: read.value, wrong } : { manifest: null, wrong };
}

/** Sizes tell what was cut off or removed; contents are compared where they are fetched. */
function wrongFile(folder: string, { entries, logs }: Manifest): string | null {
  for (const { path: name, kind, size, pathBytes } of [...entries, ...logs]) {
    if (kind !== 'file' || pathBytes !== undefined) continue;
    const found = statSync(path.join(folder, name), { throwIfNoEntry: false });
    if (found === undefined) return `its ${name} is missing`;
    if (found.size !== size) return `its ${name} has ${found.size} bytes, not ${size}`;
  }
  return null;
}
