// Which parts are on the disk, by task, and that the contents they name are theirs.

import type { References } from '../../files/blobs/references.ts';
import type { BlobHash } from '../../model/blob.ts';
import type { Shelf } from './archive-places.ts';
import type { PartName, Parts, StoredPart } from './parts.ts';

export class StoredParts {
  readonly #parts: Parts;
  readonly #names: References;
  readonly #byTask = new Map<string, Map<string, PartName>>();

  constructor(parts: Parts, names: References) {
    this.#parts = parts;
    this.#names = names;
  }

  /** Reads what an earlier head has left. */
  async prepare(): Promise<void> {
    await this.#parts.prepare();
    for (const part of this.#parts.all()) this.note(part);
  }

  /** The largest id of a job of which there is one; 0: there is none. */
  get largestJobId(): number {
    let largest = 0;
    for (const { jobId } of this.shelves()) largest = Math.max(largest, jobId);
    return largest;
  }

  get isEmpty(): boolean {
    return this.#byTask.size === 0;
  }

  /** Tasks of which there are parts. */
  *shelves(): Generator<Shelf> {
    for (const parts of this.#byTask.values()) {
      const [first] = parts.values();
      if (first !== undefined) yield first.shelf;
    }
  }

  has(shelf: Shelf): boolean {
    return this.#byTask.has(keyOf(shelf));
  }

  of(shelf: Shelf): PartName[] {
    return [...(this.#byTask.get(keyOf(shelf))?.values() ?? [])];
  }

  isNoted(part: StoredPart): boolean {
    return this.#byTask.get(keyOf(part.shelf))?.has(partKey(part)) === true;
  }

  note(part: StoredPart): void {
    const { epochId, shelf, epoch, node, nodeRank, owner } = part;
    const key = keyOf(shelf);
    const parts = this.#byTask.get(key) ?? new Map<string, PartName>();
    parts.set(partKey(part), { epochId, shelf, epoch, node, nodeRank, owner });
    this.#byTask.set(key, parts);
    this.name(part);
  }

  /** Names the contents of a part that is not noted yet, so that they stay. */
  name(part: StoredPart): void {
    const hashes = part.entries.flatMap(({ sha256 }) => (sha256 === undefined ? [] : [sha256]));
    this.#names.set(namingOf(part), part.owner, hashes as BlobHash[]);
  }

  /** Takes `name` back: the part could not be written. */
  unname(part: StoredPart): void {
    if (!this.isNoted(part)) this.#names.remove(namingOf(part));
  }

  read(name: PartName): StoredPart | null {
    return this.#parts.read(name);
  }

  drop(names: readonly PartName[]): void {
    this.#parts.remove(names);
    for (const name of names) {
      const key = keyOf(name.shelf);
      const parts = this.#byTask.get(key);
      parts?.delete(partKey(name));
      if (parts?.size === 0) this.#byTask.delete(key);
      this.#names.remove(namingOf(name));
    }
  }
}

export function keyOf({ jobId, index }: Pick<Shelf, 'jobId' | 'index'>): string {
  return `${jobId} ${index}`;
}

function partKey({ epochId, nodeRank }: Pick<StoredPart, 'epochId' | 'nodeRank'>): string {
  return `${epochId}.${nodeRank}`;
}

function namingOf(part: Pick<StoredPart, 'epochId' | 'nodeRank'>): string {
  return `part ${partKey(part)}`;
}
