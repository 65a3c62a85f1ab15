// What nodes have stored of tasks that are not done, which names contents: in one log, and on the
// disk before the node hears that it may go.

import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { present } from '../../base/assert.ts';
import type { Outputs } from '../../files/job-manifest.ts';
import type { ArchivePlaces, Shelf } from './archive-places.ts';
import { PartsLog } from './parts-log.ts';

/** What one node has stored of one start of a task. */
export interface StoredPart extends Outputs {
  readonly version: 1;
  readonly epochId: string;
  readonly shelf: Shelf;
  readonly epoch: number;
  readonly node: string;
  readonly nodeRank: number;
  readonly owner: string;
  readonly jobName: string;
  readonly storedAt: number;
}

/** A part without what may be large. */
export type PartName = Pick<
  StoredPart,
  'epochId' | 'shelf' | 'epoch' | 'node' | 'nodeRank' | 'owner'
>;

export class Parts {
  readonly #places: ArchivePlaces;
  #opened: PartsLog | null = null;

  constructor(places: ArchivePlaces) {
    this.#places = places;
  }

  /** Takes in what a head of an earlier release has left: a file for each part. */
  async prepare(): Promise<void> {
    const log = new PartsLog(this.#places.partsLog);
    this.#opened = log;
    for (const name of await readdir(this.#places.parts)) {
      const file = path.join(this.#places.parts, name);
      if (file === this.#places.partsLog) continue;
      // One that was not written to its end: its node was never told.
      const part = name.endsWith('.new') ? null : readPart(await readFile(file, 'utf8'));
      if (part !== null) await log.put(keyOf(part), part);
      await rm(file, { force: true });
    }
  }

  /** Each, one after the other. */
  *all(): Generator<StoredPart> {
    for (const key of this.#log.keys) {
      const part = this.#log.read(key) as StoredPart | null;
      if (part?.version === 1) yield part;
    }
  }

  /** Writes a part. A reader meanwhile sees the old or the new one, also when two writers meet. */
  write(part: StoredPart): Promise<void> {
    return this.#log.put(keyOf(part), part);
  }

  read(name: PartName): StoredPart | null {
    return this.#log.read(keyOf(name)) as StoredPart | null;
  }

  remove(names: readonly PartName[]): void {
    this.#log.drop(names.map(keyOf));
  }

  /** What was removed stays so, also when the machine loses power. */
  settle(): Promise<void> {
    return this.#log.settle();
  }

  async close(): Promise<void> {
    await this.#opened?.close();
    this.#opened = null;
  }

  get #log(): PartsLog {
    return present(this.#opened, 'the archive is open');
  }
}

function keyOf({ epochId, nodeRank }: Pick<StoredPart, 'epochId' | 'nodeRank'>): string {
  return `${epochId}.${nodeRank}`;
}

function readPart(text: string): StoredPart | null {
  try {
    const part = JSON.parse(text) as StoredPart;
    return part.version === 1 ? part : null;
  } catch {
    return null;
  }
}
