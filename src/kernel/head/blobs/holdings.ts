// How many bytes each user has on the head: contents that they have sent, and that their jobs have
// left. A content that several hold counts for each of them.

import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { diskBytes } from '../../files/blobs/upload.ts';
import type { BlobHash } from '../../model/blob.ts';
import { absent } from '../disk/disk-errors.ts';
import type { Packs } from '../packs/packs.ts';
import type { BlobPlaces } from './blob-places.ts';

export interface HoldingsWorld {
  readonly places: BlobPlaces;
  readonly packs: Packs;
  readonly isClosing: () => boolean;
}

export class Holdings {
  readonly #bytes = new Map<string, number>();

  /** Bytes held by a user; users without any are not in the table. */
  of(user: string): number {
    return this.#bytes.get(user) ?? 0;
  }

  /** Adds bytes to a user's holding; takes away when negative. */
  add(user: string, bytes: number): void {
    const left = this.of(user) + bytes;
    if (left > 0) this.#bytes.set(user, left);
    else this.#bytes.delete(user);
  }

  /** Users who hold anything, as far as it has been counted. */
  users(): string[] {
    return [...this.#bytes.keys()];
  }

  /** Looks at all that is there. What comes meanwhile may count twice, until the next time. */
  async count({ places, packs, isClosing }: HoldingsWorld): Promise<void> {
    const before = new Map(this.#bytes);
    const found = new Map<string, number>();
    for (const { user, size } of packs.holders()) {
      found.set(user, (found.get(user) ?? 0) + diskBytes(size));
    }
    for (const user of await readdir(places.holders).catch(absent<string[]>([]))) {
      for await (const { hash, size } of heldBy(places, user)) {
        if (isClosing()) return;
        if (packs.isHeld(user, hash)) continue;
        found.set(user, (found.get(user) ?? 0) + diskBytes(size));
      }
    }
    for (const user of new Set([...before.keys(), ...found.keys(), ...this.users()])) {
      this.add(user, (found.get(user) ?? 0) - (before.get(user) ?? 0));
    }
  }
}

async function* heldBy(places: BlobPlaces, user: string) {
  const own = path.join(places.holders, user);
  for (const front of await readdir(own)) {
    for (const rest of await readdir(path.join(own, front))) {
      const hash = `${front}${rest}` as BlobHash;
      const status = await stat(places.held(user, hash)).catch(absent(null));
      if (status !== null) yield { hash, size: status.size };
    }
  }
}
