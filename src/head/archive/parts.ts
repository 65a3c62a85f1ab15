// What nodes have stored of tasks that are not done: a file each, which names contents. It is on the
// disk before the node hears that it may go.

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Outputs } from '../../core/batch/job-manifest.ts';
import type { DiskSync } from '../disk/disk-sync.ts';
import type { ArchivePlaces, Shelf } from './archive-places.ts';

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
  readonly #disk: DiskSync;
  #written = 0;

  constructor(places: ArchivePlaces, disk: DiskSync) {
    this.#places = places;
    this.#disk = disk;
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

  /** Whoever reads meanwhile sees the part that was there or this one, also when two write it at once. */
  async write(part: Part): Promise<void> {
    const file = this.#file(part);
    this.#written += 1;
    const fresh = `${file}.${this.#written}.new`;
    try {
      writeFileSync(fresh, JSON.stringify(part), { mode: 0o600 });
      // Before it is on the disk: if that never comes to be, its node has not been told, and stores again.
      renameSync(fresh, file);
    } catch (error) {
      rmSync(fresh, { force: true });
      throw error;
    }
    await this.#disk.settle([file, this.#places.parts]);
  }

  async read(name: PartName): Promise<Part | null> {
    return readPart(await readFile(this.#file(name), 'utf8'));
  }

  async remove(names: readonly PartName[]): Promise<void> {
    for (const name of names) rmSync(this.#file(name), { force: true });
    if (names.length > 0) await this.#disk.settle([this.#places.parts]);
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
