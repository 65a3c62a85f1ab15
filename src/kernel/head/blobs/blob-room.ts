// Room for what comes. It is taken as bytes arrive, never for what is only announced: else one
// request would keep the room from everybody, or take away what others have. Who needs room gets it
// from what nothing needs, and from what the same user can do without.

import { statfsSync } from 'node:fs';
import {
  bytesToFree,
  diskBytes,
  endedForOutput,
  type Incoming,
  ownToFree,
  type Room,
  refuseBytes,
  roomAhead,
} from '../../files/blobs/upload.ts';
import type { Refusal } from '../../model/errors.ts';
import { BLOB_IDLE_PRESSED_MS } from '../../model/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Shortage } from './blob-sweep.ts';
import type { Holdings } from './holdings.ts';
import type { UploadFile, Uploads } from './uploads.ts';

/** How old the known free space may be while bytes come: each of very many pieces asks for it. */
const DISK_KNOWN_MS = 100;
/** And what is known of idle contents when somebody announces one: all files are looked at. */
const IDLE_KNOWN_MS = 10_000;

/** What can be done without when room is short. */
export interface Giver {
  /** Bytes of this user, at most. */
  readonly mayGive: (user: string) => number;
  /** Lets go of so many bytes of this user's, the least missed first; false: it has nothing. */
  readonly give: (user: string, bytes: number) => boolean | Promise<boolean>;
}

/** What needs room. */
export interface Need {
  readonly user: string;
  /** What a job leaves goes before what anybody sends: it waits for nobody's upload. */
  readonly isOutput: boolean;
}

export interface BlobRoomParts {
  /** On the disk of all blobs. */
  readonly directory: string;
  readonly bytesMax: number;
  /** Part of them that is kept free for what jobs leave. */
  readonly outputBytesMin: number;
  readonly diskFreeMin: number;
  readonly uploads: Uploads;
  /** Bytes of all blobs that are whole. */
  readonly bytesKept: () => number;
  readonly holdings: Holdings;
  /** What one user may have. */
  readonly quotaOf: (user: string) => number;
  /** The least missed first. */
  readonly givers: readonly Giver[];
  /** Removes what nothing needs, as far as so much is short; false: what was short elsewhere. */
  readonly sweep: (short: Shortage) => Promise<boolean>;
  /** How much a sweep would remove: of anybody's, or of one user. */
  readonly bytesIdle: (of?: string) => Promise<number>;
  readonly clock: Clock;
}

export class BlobRoom {
  readonly #parts: BlobRoomParts;
  /** On the monotonic clock. */
  readonly #giveFrom = new Map<string, number>();
  #disk = { free: 0, lookedAt: Number.NEGATIVE_INFINITY };
  /** By user; `''`: of anybody's. */
  readonly #idle = new Map<string, { readonly bytes: number; readonly lookedAt: number }>();

  constructor(parts: BlobRoomParts) {
    this.#parts = parts;
  }

  /** Null when so many bytes fit, or could be made to. Nothing goes for them yet. */
  async announce(need: Need, bytes: number): Promise<Refusal | null> {
    const room = this.#room(need, 'now');
    const short = bytesToFree(room, bytes);
    if (short === 0) return null;
    const { givers } = this.#parts;
    const given = givers.reduce((sum, { mayGive }) => sum + mayGive(need.user), 0);
    const isNever = bytes > Math.min(room.bytesMax, room.user.bytesMax);
    if (!isNever && given >= short) return null;
    const of = ownToFree(room, bytes) > 0 ? need.user : '';
    const ended = of === '' ? this.#bytesEnded(need) : 0;
    if (!isNever && given + ended + (await this.#bytesIdle(of)) >= short) return null;
    return refuseBytes(this.#room(need, 'now'), bytes);
  }

  /** Takes room for bytes that have come of an upload; null: it is there. */
  async takeFor(need: Need, upload: UploadFile, bytes: number): Promise<Refusal | null> {
    const { uploads } = this.#parts;
    const { size, taken } = upload;
    const incoming: Incoming = { size, taken };
    const more = diskBytes(taken + bytes) - diskBytes(taken);
    const refusal = await this.take(need, more, roomAhead(incoming, more));
    if (refusal === null) uploads.take(upload, bytes);
    return refusal;
  }

  /** Null when so many bytes that have come fit. If something has to go, then for so many. */
  async take(need: Need, bytes: number, ahead = bytes): Promise<Refusal | null> {
    if (bytesToFree(this.#room(need), bytes) === 0) return null;
    const { bytesMax, user } = this.#room(need, 'now');
    if (bytes > Math.min(bytesMax, user.bytesMax)) return refuseBytes(this.#room(need), bytes);
    await this.#make(need, ahead);
    return refuseBytes(this.#room(need, 'now'), bytes);
  }

  async #make(need: Need, bytes: number): Promise<void> {
    const short = bytesToFree(this.#room(need, 'now'), bytes);
    if (short === 0) return;
    await this.#sweep(need, bytes);
    // What can be sent again goes before what cannot.
    if (need.isOutput) await this.#endUploads(need, bytes);
    await this.#askGivers(need, bytes);
    if (need.isOutput) await this.#endUploads(need, bytes);
  }

  /** A user who has too much gives of their own. */
  async #sweep(need: Need, bytes: number): Promise<void> {
    for (;;) {
      const room = this.#room(need, 'now');
      const own = ownToFree(room, bytes);
      const short = bytesToFree(room, bytes);
      if (own === 0 && short === 0) return;
      const { user } = need;
      if (await this.#parts.sweep(own > 0 ? { bytes: own, user } : { bytes: short })) break;
    }
  }

  async #askGivers(need: Need, bytes: number): Promise<void> {
    const { clock, givers } = this.#parts;
    const { user } = need;
    const now = clock.monotonic();
    if (now < (this.#giveFrom.get(user) ?? now)) return;
    this.#giveFrom.delete(user);
    let hasAny = false;
    for (const { give } of givers) {
      const left = bytesToFree(this.#room(need, 'now'), bytes);
      if (left === 0) return;
      if (!(await give(user, left))) continue;
      hasAny = true;
      await this.#sweep(need, bytes);
    }
    // Contents that somebody asked for just now stay for a while: until then more would go for
    // nothing.
    const isShort = hasAny && bytesToFree(this.#room(need, 'now'), bytes) > 0;
    if (isShort) this.#giveFrom.set(user, now + BLOB_IDLE_PRESSED_MS);
  }

  /** What jobs leave does not wait for what users send: that ends, and can be sent again. */
  async #endUploads(need: Need, bytes: number): Promise<void> {
    const { uploads } = this.#parts;
    if (ownToFree(this.#room(need, 'now'), bytes) > 0) return;
    if (bytesToFree(this.#room(need, 'now'), bytes) > this.#bytesEnded(need)) return;
    const largestFirst = uploads
      .all()
      .filter(isSent)
      .sort((a, b) => b.taken - a.taken);
    for (const upload of largestFirst) {
      if (bytesToFree(this.#room(need, 'now'), bytes) === 0) return;
      upload.endedFor = endedForOutput(this.#room(need), upload.size);
      await uploads.remove(upload);
    }
  }

  #bytesEnded({ isOutput }: Need): number {
    if (!isOutput) return 0;
    const all = this.#parts.uploads.all().filter(isSent);
    return all.reduce((sum, { taken }) => sum + taken, 0);
  }

  async #bytesIdle(of: string): Promise<number> {
    const { clock, bytesIdle } = this.#parts;
    const now = clock.monotonic();
    const known = this.#idle.get(of);
    if (known !== undefined && now - known.lookedAt < IDLE_KNOWN_MS) return known.bytes;
    const bytes = await bytesIdle(of === '' ? undefined : of);
    this.#idle.set(of, { bytes, lookedAt: now });
    return bytes;
  }

  #room({ user, isOutput }: Need, of: 'now' | 'lately' = 'lately'): Room {
    const { bytesMax, outputBytesMin, bytesKept, uploads, holdings, quotaOf } = this.#parts;
    const own = { name: user, bytesMax: quotaOf(user) };
    return {
      bytesUsed: bytesKept() + uploads.bytes,
      bytesMax: isOutput ? bytesMax : bytesMax - outputBytesMin,
      diskFree: Math.max(0, this.#diskFree(of === 'now') - (isOutput ? 0 : outputBytesMin)),
      user: { ...own, bytesUsed: holdings.of(user) + uploads.bytesOf(user) },
    };
  }

  #diskFree(isNow: boolean): number {
    const { clock, directory, diskFreeMin } = this.#parts;
    const now = clock.monotonic();
    if (isNow || now - this.#disk.lookedAt >= DISK_KNOWN_MS) {
      const { bavail, bsize } = statfsSync(directory);
      this.#disk = { free: Math.max(0, bavail * bsize - diskFreeMin), lookedAt: now };
    }
    return this.#disk.free;
  }
}

/** By a user, of whom it can be asked again. */
function isSent({ isOutput, taken }: UploadFile): boolean {
  return !isOutput && taken > 0;
}
