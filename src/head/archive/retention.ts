// Which archived tasks go: all that are too old, and then the oldest until what is left has room.

import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { TaskArchive } from '../../core/batch/job-manifest.ts';
import { absent } from '../blobs/disk-errors.ts';
import type { ArchivePlaces, Shelf } from './archive-places.ts';
import { isOfBatch, shelfOf } from './batch-folder.ts';
import { readSummary } from './shelves.ts';

/** Room is made down to this share: a look reads every summary, and not each new task may need one. */
const LEFT_SHARE = 0.95;

export interface KeptTask {
  readonly shelf: Shelf;
  /** Where its files are. */
  readonly folder: string;
  readonly bytes: number;
  readonly storedAt: number;
}

export interface RetentionRule {
  readonly now: number;
  readonly ageMs: number;
  readonly bytesMax: number;
}

/** Every task that has a folder, in no particular order. */
export async function* keptTasks(places: ArchivePlaces): AsyncGenerator<KeptTask> {
  for (const name of await readdir(places.jobs)) {
    const jobId = Number(name);
    const folder = path.join(places.jobs, name);
    const plain = await readSummary(folder);
    if (plain !== null) {
      yield { shelf: { jobId, index: 0, isArray: false }, folder, ...amountOf(plain) };
      continue;
    }
    for (const child of await readdir(folder, { withFileTypes: true })) {
      // A link leads to a batch, which is looked at there.
      if (!child.isDirectory()) continue;
      const shelf = { jobId, index: Number(child.name), isArray: true };
      const summary = await readSummary(path.join(folder, child.name));
      const amount = summary === null ? null : amountOf(summary);
      if (amount !== null) yield { shelf, folder: path.join(folder, child.name), ...amount };
    }
  }
  yield* keptOfBatches(places);
}

async function* keptOfBatches({ batches }: ArchivePlaces): AsyncGenerator<KeptTask> {
  for (const namespace of await readdir(batches)) {
    for (const batch of await readdir(path.join(batches, namespace))) {
      const folder = path.join(batches, namespace, batch);
      for (const job of await readdir(folder).catch(absent<string[]>([]))) {
        const summary = isOfBatch(job) ? null : await readSummary(path.join(folder, job));
        if (summary === null) continue;
        yield { shelf: shelfOf(summary), folder: path.join(folder, job), ...amountOf(summary) };
      }
    }
  }
}

/** Folders of batches that have been there for so long; those without jobs are of no use any more. */
export async function* oldBatches(
  { batches }: ArchivePlaces,
  { now, ageMs }: Pick<RetentionRule, 'now' | 'ageMs'>,
): AsyncGenerator<string> {
  for (const namespace of await readdir(batches)) {
    for (const batch of await readdir(path.join(batches, namespace))) {
      const folder = path.join(batches, namespace, batch);
      const status = await stat(folder).catch(absent(null));
      if (status !== null && now - status.mtimeMs >= ageMs) yield folder;
    }
  }
}

function amountOf({ bytes, storedAt }: TaskArchive): Pick<KeptTask, 'bytes' | 'storedAt'> {
  return { bytes, storedAt };
}

/** Oldest first; `goes`: how many of these from the front. */
export function planRetention(
  kept: readonly KeptTask[],
  { now, ageMs, bytesMax }: RetentionRule,
): { readonly inOrder: KeptTask[]; readonly goes: number } {
  const inOrder = [...kept].sort((a, b) => a.storedAt - b.storedAt);
  let left = inOrder.reduce((sum, { bytes }) => sum + bytes, 0);
  // What has room goes only while it leaves that share: no large task goes for a little spare room.
  const least = left > bytesMax ? bytesMax * LEFT_SHARE : Number.POSITIVE_INFINITY;
  let goes = 0;
  for (const { bytes, storedAt } of inOrder) {
    const hasRoom = left <= bytesMax && left - bytes < least;
    if (now - storedAt < ageMs && hasRoom) break;
    left -= bytes;
    goes += 1;
  }
  return { inOrder, goes };
}
