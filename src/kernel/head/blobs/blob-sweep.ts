// Takes away blobs that may go (files/blobs/garbage.ts), looking at every one that is there. What
// is decided is looked at again right before it is done, in one turn of the event loop: nobody can
// name, send or ask for a blob in between.

import { existsSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  findGarbage,
  type GarbageRule,
  type Keeping,
  mayGo,
  type StoredBlob,
} from '../../files/blobs/garbage.ts';
import { diskBytes } from '../../files/blobs/upload.ts';
import type { BlobHash } from '../../model/blob.ts';
import { BLOB_IDLE_MS, BLOB_IDLE_PRESSED_MS } from '../../model/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import { absent } from '../disk/disk-errors.ts';
import type { Packs } from '../packs/packs.ts';
import type { BlobPlaces } from './blob-places.ts';
import type { Holdings } from './holdings.ts';
import type { Uploads } from './uploads.ts';

export interface SweepWorld {
  readonly places: BlobPlaces;
  readonly uploads: Uploads;
  readonly packs: Packs;
  readonly keeping: Keeping;
  readonly holdings: Holdings;
  readonly clock: Clock;
  /** `Engine.certainNow`: what goes is gone. */
  readonly certainNow: () => number;
  /** The head stops: what was not looked at stays. */
  readonly isClosing: () => boolean;
}

export interface Swept {
  /** Size of all blobs that were there, as they count. */
  readonly bytesFound: number;
  readonly bytesGone: number;
  readonly count: number;
  /** False: it was cut short, and has not seen all. */
  readonly isComplete: boolean;
}

/** Bytes that have to go if anything may; 0: only what is idle goes. */
export interface Shortage {
  readonly bytes: number;
  /** Only blobs that this user holds are removed; absent: blobs of anybody. */
  readonly user?: string;
}

export async function sweepBlobs(
  world: SweepWorld,
  { bytes: short, user }: Shortage,
): Promise<Swept> {
  const isTheirs = (hash: BlobHash): boolean => user === undefined || isHeld(world, user, hash);
  const now = world.certainNow();
  const times = { now, idleMs: BLOB_IDLE_MS, idlePressedMs: BLOB_IDLE_PRESSED_MS };
  const freed = await sweepUploads(world, { ...times, bytesToFree: short }, user);
  const rule = { ...times, bytesToFree: Math.max(0, short - freed) };
  const packed = packedBlobs(world);
  const candidates: StoredBlob[] = packed.filter(
    (blob) => mayGo(blob, world.keeping, rule) && isTheirs(blob.hash),
  );
  const holders = await readdir(world.places.holders);
  let bytesFound = packed.reduce((sum, { size }) => sum + diskBytes(size), 0);
  for await (const blob of storedBlobs(world)) {
    bytesFound += diskBytes(blob.size);
    if (!mayGo(blob, world.keeping, rule) || !isTheirs(blob.hash)) continue;
    if (!isArchived(world, blob, holders)) candidates.push(blob);
    // When room is short the archive may let go of it next.
    else if (short === 0) touch(world, blob);
  }
  const isComplete = !world.isClosing();
  let [bytesGone, count] = [0, 0];
  for (const blob of isComplete ? findGarbage(candidates, world.keeping, rule) : []) {
    const removal = { blob, rule, holders };
    const trash = isPacked(blob) ? removePacked(world, removal) : remove(world, removal);
    if (trash === null) continue;
    bytesGone += diskBytes(blob.size);
    count += 1;
    if (trash !== '') await rm(trash, { force: true });
  }
  return { bytesFound, bytesGone, count, isComplete };
}

/** What a sweep would remove if as much as possible were short: of anybody's, or of one user. */
export async function bytesIdle(world: SweepWorld, of?: string): Promise<number> {
  const isTheirs = (hash: BlobHash): boolean => of === undefined || isHeld(world, of, hash);
  const now = world.certainNow();
  const idlePressedMs = BLOB_IDLE_PRESSED_MS;
  const rule = { now, idleMs: BLOB_IDLE_MS, idlePressedMs, bytesToFree: Number.MAX_SAFE_INTEGER };
  const holders = await readdir(world.places.holders);
  let bytes = 0;
  for (const { isActive, touchedAt, taken, user } of world.uploads.all()) {
    if (of !== undefined && user !== of) continue;
    if (!isActive && now - touchedAt >= idlePressedMs) bytes += diskBytes(taken);
  }
  for (const blob of packedBlobs(world)) {
    if (mayGo(blob, world.keeping, rule) && isTheirs(blob.hash)) bytes += diskBytes(blob.size);
  }
  for await (const blob of storedBlobs(world)) {
    if (!mayGo(blob, world.keeping, rule) || !isTheirs(blob.hash)) continue;
    if (isArchived(world, blob, holders)) continue;
    bytes += diskBytes(blob.size);
  }
  return bytes;
}

/** What nobody goes on with. Returns how many bytes that were. */
async function sweepUploads(
  { uploads }: SweepWorld,
  rule: GarbageRule,
  of: string | undefined,
): Promise<number> {
  let freed = 0;
  const oldestFirst = uploads.all().sort((a, b) => a.touchedAt - b.touchedAt);
  for (const upload of oldestFirst) {
    if (of !== undefined && upload.user !== of) continue;
    const idleMs = rule.now - upload.touchedAt;
    const isShort = freed < rule.bytesToFree && idleMs >= rule.idlePressedMs;
    if (upload.isActive || (idleMs < rule.idleMs && !isShort)) continue;
    freed += diskBytes(upload.taken);
    await uploads.remove(upload);
  }
  return freed;
}

interface PackedBlob extends StoredBlob {
  readonly isPacked: true;
}

function packedBlobs({ packs }: SweepWorld): PackedBlob[] {
  return [...packs.all()].map((blob) => ({ ...blob, isPacked: true }));
}

function isPacked(blob: StoredBlob): blob is PackedBlob {
  return 'isPacked' in blob;
}

/** Nothing is left to be removed then; null when it has to stay after all. */
function removePacked(world: SweepWorld, { blob, rule }: Removal): '' | null {
  const { places, packs, keeping, certainNow, holdings } = world;
  const asItIs = packs.look(blob.hash);
  if (asItIs === null || !mayGo(asItIs, keeping, { ...rule, now: certainNow() })) return null;
  for (const user of packs.holdersOf(blob.hash)) {
    // What its file says of a holder goes with that.
    if (!existsSync(places.held(user, blob.hash))) holdings.add(user, -diskBytes(blob.size));
  }
  packs.remove(blob.hash);
  return '';
}

async function* storedBlobs({ places, isClosing }: SweepWorld): AsyncGenerator<StoredBlob> {
  for (const front of await readdir(places.contents)) {
    for (const rest of await readdir(path.join(places.contents, front))) {
      if (isClosing()) return;
      const hash = `${front}${rest}` as BlobHash;
      const status = await stat(places.content(hash)).catch(absent(null));
      if (status === null) continue;
      yield { hash, size: status.size, touchedAt: status.mtimeMs };
    }
  }
}

interface Removal {
  readonly blob: StoredBlob;
  readonly rule: GarbageRule;
  /** All users who hold anything. */
  readonly holders: readonly string[];
}

/** Where it is now, out of everybody's reach; null when it has to stay after all. */
function remove(world: SweepWorld, { blob, rule, holders }: Removal): string | null {
  const { places, keeping } = world;
  const content = places.content(blob.hash);
  const status = statSync(content, { throwIfNoEntry: false });
  if (status === undefined) return null;
  const asItIs = { ...blob, touchedAt: status.mtimeMs };
  if (!mayGo(asItIs, keeping, { ...rule, now: world.certainNow() })) return null;
  // Its holders first: killed in between, it is a blob that nobody holds and that goes the next
  // time.
  if (isArchived(world, blob, holders)) return null;
  for (const user of holders) {
    const isGone = unlinked(places.held(user, blob.hash));
    const isCounted = isGone && !world.packs.isHeld(user, blob.hash);
    if (isCounted) world.holdings.add(user, -diskBytes(blob.size));
  }
  return places.discard(content);
}

/** True when the file has names besides the store's and the holders': names in the archive. */
function isArchived({ places }: SweepWorld, { hash }: StoredBlob, holders: readonly string[]) {
  const status = statSync(places.content(hash), { throwIfNoEntry: false });
  let names = (status?.nlink ?? 1) - 1;
  for (const user of holders) {
    if (names === 0) return false;
    const held = statSync(places.held(user, hash), { throwIfNoEntry: false });
    if (held?.ino === status?.ino) names -= 1;
  }
  return names > 0;
}

/** Not looked at again for a while: there may be very many. */
function touch({ places, clock }: SweepWorld, { hash }: StoredBlob): void {
  const now = clock.now() / 1000;
  const file = places.content(hash);
  if (existsSync(file)) utimesSync(file, now, now);
}

function isHeld({ places, packs }: SweepWorld, user: string, hash: BlobHash): boolean {
  return packs.isHeld(user, hash) || existsSync(places.held(user, hash));
}

function unlinked(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch (error) {
    return absent(false)(error);
  }
}
