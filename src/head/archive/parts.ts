// What nodes have stored of tasks that are not done: a file each, which names contents. It is on the
// disk before the node hears that it may go.

import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Outputs } from '../../core/batch/job-manifest.ts';
import type { ArchivePlaces, Shelf } from './archive-places.ts';
import { replaceDurably, syncFolder } from './durable.ts';

/** What one node has stored of one start of a task. */
export interface Part extends Outputs {
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
export type PartName = Pick<Part, 'epochId' | 'shelf' | 'epoch' | 'node' | 'nodeRank' | 'owner'>;

export class Parts {
  readonly #places: ArchivePlaces;

  constructor(places: ArchivePlaces) {
    this.#places = places;
  }

  /** Each, one after the other; one that cannot be read is removed: its node was never told. */
  async *all(): AsyncGenerator<Part> {
    for (const name of await readdir(this.#places.parts)) {
      const file = path.join(this.#places.parts, name);
      const part = name.endsWith('.new') ? null : readPart(await readFile(file, 'utf8'));
      if (part === null) await rm(file, { force: true });
      else yield part;
    }
  }

  async write(part: Part): Promise<void> {
    await replaceDurably(this.#file(part), JSON.stringify(part));
  }

  async read(name: PartName): Promise<Part | null> {
    return readPart(await readFile(this.#file(name), 'utf8'));
  }

  async remove(names: readonly PartName[]): Promise<void> {
    for (const name of names) await rm(this.#file(name), { force: true });
    if (names.length > 0) await syncFolder(this.#places.parts);
  }

  #file({ epochId, nodeRank }: PartName): string {
    return this.#places.part(epochId, nodeRank);
  }
}

function readPart(text: string): Part | null {
  try {
    const part = JSON.parse(text) as Part;
    return part.version === 1 ? part : null;
  } catch {
    return null;
  }
}
