// Which archived tasks go: all that are too old, and then the oldest until what is left has room.

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ArchivePlaces, Shelf } from './archive-places.ts';
import { readSummary } from './shelves.ts';

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
  let goes = 0;
  for (const { bytes, storedAt } of inOrder) {
    if (now - storedAt < ageMs && left <= bytesMax) break;
    left -= bytes;
    goes += 1;
  }
  return { inOrder, goes };
}
