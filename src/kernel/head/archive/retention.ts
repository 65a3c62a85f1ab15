// Which archived tasks go: all that are too old, and then, until what is left has room, the oldest
// of those users who keep more than an equal share of it. What a user leaves takes nothing from who
// keeps less.

import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { Shares } from '../../files/blobs/shares.ts';
import { absent } from '../disk/disk-errors.ts';
import type { ArchivePlaces, Shelf } from './archive-places.ts';
import { isOfBatch, shelfOf } from './batch-folder.ts';
import { type KeptAmount, ownerOf, readAmount, readSummary } from './shelves.ts';

/** Room is made down to this share: a look reads every summary, and new tasks come often. */
const LEFT_SHARE = 0.95;

export interface KeptTask {
  readonly shelf: Shelf;
  /** Where its files are. */
  readonly folder: string;
  readonly owner: string;
  readonly bytes: number;
  readonly storedAt: number;
}

/** Room that is wanted of one user, beside what is too much. */
export interface Wanted {
  readonly owner: string;
  readonly bytes: number;
}

export interface RetentionRule {
  readonly now: number;
  readonly ageMs: number;
  readonly bytesMax: number;
  /** Default none. */
  readonly wanted?: readonly Wanted[];
}

/** Every task that has a folder, in no particular order. */
export async function* keptTasks(places: ArchivePlaces): AsyncGenerator<KeptTask> {
  for (const name of await readdir(places.jobs)) {
    const jobId = Number(name);
    const folder = path.join(places.jobs, name);
    const plain = await readAmount(folder);
    if (plain !== null) {
      const shelf = { jobId, index: 0, isArray: false };
      yield { shelf, folder, ...(await amountOf(folder, plain)) };
      continue;
    }
    for (const child of await readdir(folder, { withFileTypes: true })) {
      // A link leads to a batch, which is looked at there.
      if (!child.isDirectory()) continue;
      const shelf = { jobId, index: Number(child.name), isArray: true };
      const home = path.join(folder, child.name);
      const summary = await readAmount(home);
      if (summary !== null) yield { shelf, folder: home, ...(await amountOf(home, summary)) };
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
        // Only the summary says which job a damaged one is of: it goes with its batch.
        if (summary === null || summary === 'damaged') continue;
        const home = path.join(folder, job);
        yield { shelf: shelfOf(summary), folder: home, ...(await amountOf(home, summary)) };
      }
    }
  }
}

/** Folders of batches that were there for so long; those without jobs have no use any more. */
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

async function amountOf(folder: string, summary: KeptAmount) {
  const { bytes, storedAt } = summary;
  return { owner: await ownerOf(folder, summary), bytes, storedAt };
}

/** Oldest first. */
export function planRetention(kept: readonly KeptTask[], rule: RetentionRule): KeptTask[] {
  const { now, ageMs, bytesMax, wanted = [] } = rule;
  const inOrder = [...kept].sort((a, b) => a.storedAt - b.storedAt);
  const goes = new Set<KeptTask>(inOrder.filter((task) => now - task.storedAt >= ageMs));
  for (const { owner, bytes } of wanted) {
    let short = bytes;
    for (const task of inOrder) {
      if (short <= 0) break;
      if (task.owner !== owner || goes.has(task)) continue;
      goes.add(task);
      short -= task.bytes;
    }
  }
  const left = inOrder.filter((task) => !goes.has(task));
  const shares = new Shares(bytesByOwner(left), { bytesMax, leftShare: LEFT_SHARE });
  for (const task of left) if (shares.takes(task.owner, task.bytes)) goes.add(task);
  return inOrder.filter((task) => goes.has(task));
}

/** What is kept of whom. */
export function bytesByOwner(kept: readonly KeptTask[]): Map<string, number> {
  const byOwner = new Map<string, number>();
  for (const { owner, bytes } of kept) byOwner.set(owner, (byOwner.get(owner) ?? 0) + bytes);
  return byOwner;
}
