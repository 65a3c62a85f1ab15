// Which archived tasks go: all that are too old, and then the oldest until what is left has room.

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ArchivePlaces, Shelf } from './archive-places.ts';
import { readSummary } from './shelves.ts';

/** Room is made down to this share: a look reads every summary, and not each new task may need one. */
const LEFT_SHARE = 0.95;

export interface KeptTask {
  readonly shelf: Shelf;
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
      const { bytes, storedAt } = plain;
      yield { shelf: { jobId, index: 0, isArray: false }, bytes, storedAt };
      continue;
    }
    for (const child of await readdir(folder)) {
      const summary = await readSummary(path.join(folder, child));
      if (summary === null) continue;
      const { bytes, storedAt } = summary;
      yield { shelf: { jobId, index: Number(child), isArray: true }, bytes, storedAt };
    }
  }
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
