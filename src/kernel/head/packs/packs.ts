// Small contents, many in one file: thousands of files of some bytes come with one write and one
// sync, and are no files by themselves. Which are there is in memory; what is removed goes from
// there, and with its pack once little of that is left. A head that starts again may find some of
// it once more, as idle contents that nobody names.

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { StoredBlob } from '../../files/blobs/garbage.ts';
import type { BlobHash } from '../../model/blob.ts';
import { PACKED_CONTENTS_MAX, PACKED_SIZE_MAX } from '../../model/limits.ts';
import { Pack, type PlacedGroup } from './pack.ts';
import type { SmallContent } from './pack-format.ts';

interface PackSizes {
  /** Then a new one is begun. */
  readonly packBytesMax: number;
  /** Smaller ones are left as they are. */
  readonly tidiedBytesMin: number;
  /** Written again, of a pack that goes, in one turn. */
  readonly movedBytes: number;
}

const SIZES: PackSizes = {
  packBytesMax: 64 * 1_048_576,
  tidiedBytesMin: 4 * 1_048_576,
  movedBytes: 1_048_576,
};
const MOVED_MAX = 1000;

interface PackEntry {
  pack: Pack;
  offset: number;
  readonly size: number;
  /** Users who have sent this content. */
  users: readonly string[];
  /** Which pack says so of each of them, so that no pack goes with the only word of it. */
  saidBy: readonly Pack[];
  touchedAt: number;
}

/** What a pack is needed for. */
interface Needed {
  readonly bytes: number;
  /** Contents of which it says who holds them. */
  readonly byUser: ReadonlyMap<string, readonly BlobHash[]>;
}

export class Packs {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #sizes: PackSizes;
  readonly #entries = new Map<BlobHash, PackEntry>();
  readonly #packs = new Map<number, Pack>();
  /** The one that is written to. */
  #last: Pack | null = null;
  #lastId = 0;
  /** Groups of each that are not on the disk yet: nobody sees them, and they are needed. */
  readonly #written = new Map<Pack, number>();
  /** Mostly one user: a list for each of very many contents would be the same list. */
  readonly #alone = new Map<string, readonly string[]>();
  readonly #saidAlone = new WeakMap<Pack, readonly Pack[]>();

  constructor(folder: string, now: () => number, sizes: PackSizes = SIZES) {
    this.#folder = folder;
    this.#sizes = sizes;
    this.#now = now;
  }

  /** Finds what is there. */
  prepare(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const ids = readdirSync(this.#folder).filter((name) => /^[1-9]\d*$/.test(name));
    for (const id of ids.map(Number).sort((a, b) => a - b)) {
      const pack = new Pack(this.#fileOf(id), 'open');
      for (const group of pack.recover()) this.#note(pack, group);
      this.#packs.set(id, pack);
      [this.#last, this.#lastId] = [pack, id];
    }
  }

  async close(): Promise<void> {
    for (const pack of this.#packs.values()) await pack.close();
    this.#packs.clear();
    this.#last = null;
  }

  /** Whether a content belongs here: others are files of their own. */
  takes(size: number): boolean {
    return size <= PACKED_SIZE_MAX && this.#entries.size < PACKED_CONTENTS_MAX;
  }

  isHeld(user: string, hash: BlobHash): boolean {
    return this.#entries.get(hash)?.users.includes(user) === true;
  }

  /** Everybody who has sent it. */
  holdersOf(hash: BlobHash): readonly string[] {
    return this.#entries.get(hash)?.users ?? [];
  }

  /** The size of a content; null when it is not in a pack. */
  touch(hash: BlobHash): number | null {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return null;
    entry.touchedAt = this.#now();
    return entry.size;
  }

  /** Null when it is not here. */
  read(hash: BlobHash): Buffer | null {
    const entry = this.#entries.get(hash);
    return entry === undefined ? null : entry.pack.read(entry.offset, entry.size);
  }

  /**
   * Appends contents; resolves with the number of new ones once all are on the disk, and rejects
   * when none is.
   */
  async append(user: string, contents: readonly SmallContent[]): Promise<readonly number[]> {
    return this.#write(user, contents, null);
  }

  /** `from`: the pack that these are moved from. */
  async #write(
    user: string,
    contents: readonly SmallContent[],
    from: Pack | null,
  ): Promise<readonly number[]> {
    const pack = this.#current();
    const group = pack.append(user, contents);
    this.#written.set(pack, (this.#written.get(pack) ?? 0) + 1);
    try {
      await pack.settle();
      // Before the pack counts as written: a tidying that goes on in the same turn would not see
      // them.
      return this.#note(pack, group, from);
    } catch (error) {
      // What a disk says of the same bytes the next time is not to be trusted.
      if (pack === this.#last) this.#last = null;
      throw error;
    } finally {
      const left = (this.#written.get(pack) ?? 1) - 1;
      if (left > 0) this.#written.set(pack, left);
      else this.#written.delete(pack);
    }
  }

  *all(): Generator<StoredBlob> {
    for (const [hash, { size, touchedAt }] of this.#entries) yield { hash, size, touchedAt };
  }

  /** Every content once for each of its holders. */
  *holders(): Generator<{ readonly user: string; readonly size: number }> {
    for (const { users, size } of this.#entries.values()) {
      for (const user of users) yield { user, size };
    }
  }

  /** State of it now; null when it is gone. */
  look(hash: BlobHash): StoredBlob | null {
    const entry = this.#entries.get(hash);
    return entry === undefined ? null : { hash, size: entry.size, touchedAt: entry.touchedAt };
  }

  remove(hash: BlobHash): void {
    this.#entries.delete(hash);
  }

  /** Gives the disk back what removed contents take up. */
  async tidy(): Promise<void> {
    // What needs no room before what does: the disk may be full.
    const used = new Set([...this.#entries.values()].flatMap(({ saidBy }) => saidBy));
    const emptyFirst = [...this.#packs].sort(([, a], [, b]) => +used.has(a) - +used.has(b));
    for (const [id, pack] of emptyFirst) {
      if (this.#written.has(pack)) continue;
      // Looked at now: what was moved before, and what came meanwhile, may lie in this one.
      const needed = this.#neededOf(pack);
      const isSparse = pack.length >= this.#sizes.tidiedBytesMin && needed.bytes < pack.length / 2;
      if (needed.byUser.size > 0 && !isSparse) continue;
      if (pack === this.#last) {
        if (!isSparse) continue;
        this.#last = null;
      }
      await this.#move(pack, needed);
      // What cannot be read keeps its pack, and is not lost for good.
      if (this.#neededOf(pack).byUser.size > 0) continue;
      this.#packs.delete(id);
      await pack.close();
      rmSync(pack.path, { force: true });
    }
  }

  #neededOf(pack: Pack): Needed {
    const byUser = new Map<string, BlobHash[]>();
    let bytes = 0;
    for (const [hash, { size, users, saidBy }] of this.#entries) {
      for (const [at, user] of users.entries()) {
        if (saidBy[at] !== pack) continue;
        bytes += size;
        const own = byUser.get(user);
        if (own === undefined) byUser.set(user, [hash]);
        else own.push(hash);
      }
    }
    return { bytes, byUser };
  }

  /** Writes what is needed of a pack into another one. */
  async #move(from: Pack, { byUser }: Needed): Promise<void> {
    for (const [user, all] of byUser) {
      for (const some of this.#portions(all)) await this.#write(user, some, from);
    }
  }

  *#portions(hashes: readonly BlobHash[]): Generator<SmallContent[]> {
    let some: SmallContent[] = [];
    let length = 0;
    for (const hash of hashes) {
      const bytes = this.read(hash);
      if (bytes === null) continue;
      some.push({ hash, bytes });
      length += bytes.length;
      if (length < this.#sizes.movedBytes && some.length < MOVED_MAX) continue;
      yield some;
      [some, length] = [[], 0];
    }
    if (some.length > 0) yield some;
  }

  /** `from`: what is there is elsewhere now. Gives the sizes of those that were not here. */
  #note(pack: Pack, { user, rows, at }: PlacedGroup, from: Pack | null = null): number[] {
    const added: number[] = [];
    for (const { hash, size, offset } of rows) {
      const entry = this.#entries.get(hash);
      if (entry === undefined) {
        // Removed while it was moved.
        if (from !== null) continue;
        const touchedAt = this.#now();
        const place = { pack, offset: at + offset, saidBy: this.#saidAloneBy(pack) };
        this.#entries.set(hash, { ...place, size, users: this.#aloneOf(user), touchedAt });
        added.push(size);
        continue;
      }
      if (entry.pack === from) Object.assign(entry, { pack, offset: at + offset });
      this.#noteHolder(entry, user, pack, from);
    }
    return added;
  }

  #noteHolder(entry: PackEntry, user: string, pack: Pack, from: Pack | null): void {
    const at = entry.users.indexOf(user);
    if (at === -1) {
      entry.users = [...entry.users, user];
      entry.saidBy = [...entry.saidBy, pack];
    } else if (entry.saidBy[at] === from) {
      const isAlone = entry.saidBy.length === 1;
      entry.saidBy = isAlone ? this.#saidAloneBy(pack) : entry.saidBy.with(at, pack);
    }
  }

  #current(): Pack {
    if (this.#last !== null && this.#last.length < this.#sizes.packBytesMax) return this.#last;
    const id = this.#lastId + 1;
    const pack = new Pack(this.#fileOf(id), 'make');
    this.#packs.set(id, pack);
    [this.#last, this.#lastId] = [pack, id];
    return pack;
  }

  #fileOf(id: number): string {
    return path.join(this.#folder, String(id));
  }

  #aloneOf(user: string): readonly string[] {
    const known = this.#alone.get(user) ?? [user];
    this.#alone.set(user, known);
    return known;
  }

  #saidAloneBy(pack: Pack): readonly Pack[] {
    const known = this.#saidAlone.get(pack) ?? [pack];
    this.#saidAlone.set(pack, known);
    return known;
  }
}
