// File contents on the head, by hash. What is there is whole and verified: it is written aside,
// synced and renamed. Who has sent a content holds it, by a second name of the same file; knowing a
// hash is no right. Nothing here knows of jobs: which blobs they name is asked of `names`.

import { mkdir, rm } from 'node:fs/promises';
import { err, ok, type Result } from '../../base/result.ts';
import type { References } from '../../files/blobs/references.ts';
import { diskBytes, type Piece } from '../../files/blobs/upload.ts';
import type { State } from '../../machine/state.ts';
import type { BlobHash } from '../../model/blob.ts';
import type { Refusal } from '../../model/errors.ts';
import type { UserName } from '../../model/ids.ts';
import type { Clock, Timer } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { DiskSync } from '../disk/disk-sync.ts';
import type { Engine } from '../engine.ts';
import { KeptTotal } from '../kept-total.ts';
import { Packs } from '../packs/packs.ts';
import { BlobPlaces } from './blob-places.ts';
import { BlobRoom, type Giver } from './blob-room.ts';
import { bytesIdle, type Shortage, type SweepWorld, sweepBlobs } from './blob-sweep.ts';
import { type BlobFile, Contents, type OpenBlob } from './contents.ts';
import { Holdings } from './holdings.ts';
import { type ByteSource, receivePiece } from './receive.ts';
import { receiveMany, type SentContents } from './receive-many.ts';
import { Uploads } from './uploads.ts';

/** How often idle blobs are looked for. */
const SWEEP_MS = 3_600_000;
const NOTHING_SHORT: Shortage = { bytes: 0 };
/** Questions that are answered in one turn: a millisecond or two. */
const ASKED_PER_TURN = 100;

export interface BlobStoreOptions {
  /** Made when it is not there. */
  readonly directory: string;
  /** The quota of all blobs together. */
  readonly bytesMax: number;
  /** Stays free on the disk. */
  readonly diskFreeMin: number;
  /** What live jobs, retained ones and archives name. */
  readonly names: Pick<References, 'isNamed' | 'isNamedBy' | 'isNamedIn'>;
  /** Resolves when `names` has all that there is: nothing goes before. */
  readonly namesFilled: () => Promise<void>;
  /** Part of that quota that is kept free for what jobs leave; default none. */
  readonly outputBytesMin?: number;
  /** What one user may keep of it whom no admin has given more or less; default all. */
  readonly userBytesMax?: number;
  /** What can be done without when room is short, the least missed first. */
  readonly givers: readonly Giver[];
  readonly clock: Clock;
  /** `Engine.certainNow`; absent: by the clock. */
  readonly certainNow?: () => number;
  readonly log: Log;
}

/** What is sent: `isOutput`: by a node, of what a job leaves. */
export interface SentPiece extends Piece {
  readonly isOutput?: boolean;
}

/** A blob that a user has to send, and from where on. */
export interface Lacking {
  readonly hash: BlobHash;
  readonly offset: number;
}

/** A reader: a user, or a node that may read only what one thing `by` names. */
export interface BlobReader {
  readonly user: string;
  readonly by: string | null;
}

/** How far the head has what a user sends. */
export interface Progress {
  readonly offset: number;
  /** All of it is there and verified: the user may read and name it. */
  readonly isHeld: boolean;
}

export class BlobStore {
  readonly #options: BlobStoreOptions;
  readonly #places: BlobPlaces;
  readonly #uploads: Uploads;
  readonly #packs: Packs;
  readonly #contents: Contents;
  readonly #disk: DiskSync;
  readonly #total: KeptTotal;
  #timer: Timer | null = null;
  #sweeping: { readonly short: Shortage; readonly done: Promise<void> } | null = null;
  #counting: Promise<void> | null = null;
  #isClosing = false;
  #isCounted = true;
  readonly #holdings = new Holdings();
  #state: Pick<State, 'users'> | null = null;
  readonly #room: BlobRoom;

  constructor(options: BlobStoreOptions) {
    const { directory, bytesMax, log } = options;
    this.#options = options;
    this.#places = new BlobPlaces(directory);
    this.#disk = new DiskSync(directory);
    this.#uploads = new Uploads(this.#places);
    this.#total = new KeptTotal({ directory, bytesMax, what: 'files', log });
    const added = (bytes: number): void => this.#total.add(bytes);
    this.#packs = new Packs(this.#places.packs, () => options.clock.now());
    const { clock } = options;
    const holdings = this.#holdings;
    const kept = { places: this.#places, packs: this.#packs, clock, added, holdings };
    this.#contents = new Contents(kept);
    this.#room = new BlobRoom({
      outputBytesMin: 0,
      ...options,
      uploads: this.#uploads,
      bytesKept: () => this.#total.bytes,
      holdings,
      quotaOf: (user: string) => this.quotaOf(user),
      sweep: (short) => this.sweep(short),
      bytesIdle: (of) => bytesIdle(this.#sweepWorld(), of),
    });
  }

  /** Makes the folders, and finds incomplete uploads and packs. Looks at no other blob. */
  async prepare(): Promise<void> {
    const { contents, holders, uploads, trash } = this.#places;
    // What a head that was killed was about to remove.
    await rm(trash, { recursive: true, force: true });
    for (const folder of [contents, holders, uploads, trash]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    await this.#uploads.prepare();
    this.#packs.prepare();
    this.#isCounted = await this.#total.read();
  }

  /** What admins have given users is known there. */
  attach({ state }: Pick<Engine, 'state'>): void {
    this.#state = state;
  }

  /** To be called when the head serves: now there is time to look at files. */
  begin(): void {
    this.#timer = this.#options.clock.after(SWEEP_MS, () => {
      this.begin();
      void this.sweep(NOTHING_SHORT);
    });
    if (!this.#isCounted) void this.sweep(NOTHING_SHORT);
    void this.count();
  }

  /** Counts what each user has. */
  count(): Promise<void> {
    const { log } = this.#options;
    this.#counting ??= this.#holdings
      .count({ places: this.#places, packs: this.#packs, isClosing: () => this.#isClosing })
      .catch((error: unknown) => log.warn({ error: String(error) }, 'cannot count files of users'))
      .finally(() => {
        this.#counting = null;
      });
    return this.#counting;
  }

  /** Bytes that a user may have. */
  quotaOf(user: string): number {
    const { userBytesMax = Number.POSITIVE_INFINITY } = this.#options;
    return this.#state?.users.get(user as UserName)?.filesBytesMax ?? userBytesMax;
  }

  /** Bytes that a user has, whole or not. */
  bytesOf(user: string): number {
    return this.#holdings.of(user) + this.#uploads.bytesOf(user);
  }

  /** Everybody who has any. */
  holders(): readonly string[] {
    return this.#holdings.users();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#timer?.cancel();
    await this.#sweeping;
    await this.#counting;
    await this.#disk.close();
    await this.#packs.close();
    await this.#total.close();
  }

  /** Bytes that all blobs take up. */
  get bytes(): number {
    return this.#total.bytes;
  }

  /** Which of these the user has to send: those not there, and those not known to be theirs. */
  async lacking(user: string, hashes: readonly BlobHash[]): Promise<Lacking[]> {
    const lacking: Lacking[] = [];
    for (const [at, hash] of hashes.entries()) {
      if (at % ASKED_PER_TURN === ASKED_PER_TURN - 1) await new Promise(setImmediate);
      const { isHeld, offset } = this.progress(user, hash);
      if (!isHeld) lacking.push({ hash, offset });
    }
    return lacking;
  }

  /** What is there is kept for at least an hour from now, for whoever is about to name it. */
  progress(user: string, hash: BlobHash): Progress {
    const size = this.mayRead({ user, by: null }, hash) ? this.#contents.touch(hash) : null;
    if (size !== null) return { offset: size, isHeld: true };
    return { offset: this.#uploads.get(user, hash)?.offset ?? 0, isHeld: false };
  }

  /** True for the sender of the blob, and for the owner of something that names it. */
  mayRead({ user, by }: BlobReader, hash: BlobHash): boolean {
    const { names } = this.#options;
    if (by !== null) return names.isNamedIn(hash, by);
    return names.isNamedBy(hash, user) || this.#contents.isHeld(user, hash);
  }

  /** Null when it is not there. Spared by sweeps from now on, for as long as reading it takes. */
  sizeOf(hash: BlobHash): number | null {
    return this.#contents.touch(hash);
  }

  /** `Contents.linkTo`: for what keeps a content beyond all namings. */
  linkTo(hash: BlobHash, to: string): Promise<boolean> {
    return this.#contents.linkTo(hash, to);
  }

  /** `Contents.adopt`: for what `linkTo` has made. */
  adopt(hash: BlobHash, from: string): string[] {
    return this.#contents.adopt(hash, from);
  }

  /** All of a small content, for callers found to have the right to it; null: it is not there. */
  readSmall(hash: BlobHash): Uint8Array | null {
    return this.#contents.readSmall(hash);
  }

  /** Where those lie that this reader may read and that are files of their own. */
  async files(reader: BlobReader, hashes: readonly BlobHash[]): Promise<BlobFile[]> {
    const files: BlobFile[] = [];
    for (const [at, hash] of hashes.entries()) {
      if (at % ASKED_PER_TURN === ASKED_PER_TURN - 1) await new Promise(setImmediate);
      const file = this.mayRead(reader, hash) ? this.#contents.fileOf(hash) : null;
      if (file !== null) files.push(file);
    }
    return files;
  }

  /** Opens a blob without checking rights: call `mayRead` first. The caller closes the file. */
  open(hash: BlobHash): Promise<Result<OpenBlob, Refusal>> {
    return this.#contents.open(hash);
  }

  /**
   * Takes a piece of what `user` sends. With its last byte the blob is verified and held; a piece
   * that ends early, or whose connection breaks, is kept as far as it came.
   */
  async receive(
    user: string,
    hash: BlobHash,
    piece: SentPiece,
    source: ByteSource,
  ): Promise<Result<Progress, Refusal>> {
    const { clock } = this.#options;
    const need = { user, isOutput: piece.isOutput === true };
    const noRoom = await this.#room.announce(need, diskBytes(piece.size) - piece.offset);
    if (noRoom !== null) return err(noRoom);
    this.#contents.makeFolders(user, hash);
    const begun = await this.#uploads.begin(user, hash, piece, clock.now());
    if (!begun.ok) return begun;
    const { upload } = begun.value;
    upload.isOutput = need.isOutput;
    const received = await receivePiece(begun.value, source, {
      now: () => clock.now(),
      take: (bytes) => this.#room.takeFor(need, upload, bytes),
      keep: () => {
        this.#contents.keep(upload);
        this.#uploads.forget(upload);
      },
    });
    if (!received.ok) {
      const isOver = received.error.code !== 'blob.taken_over';
      if (isOver) await this.#uploads.remove(upload);
      return received;
    }
    const { isWhole } = received.value;
    if (isWhole) await this.#disk.settle(this.#contents.foldersOf([hash]));
    return ok({ offset: upload.offset, isHeld: isWhole });
  }

  /** Takes small contents one by one. What is whole is kept, also when a later one is not. */
  receiveMany(
    user: string,
    frames: SentContents,
    isOutput = false,
  ): Promise<Result<number, Refusal>> {
    return receiveMany(user, frames, {
      contents: this.#contents,
      disk: this.#disk,
      takeRoom: (bytes) => this.#room.take({ user, isOutput }, bytes),
    });
  }

  /**
   * Removes what may go, one at a time. False: another one went first, which may have removed
   * nothing of what is short here.
   */
  async sweep(short: Shortage): Promise<boolean> {
    const first = this.#sweeping;
    if (first !== null) {
      await first.done;
      return first.short.user === short.user && first.short.bytes >= short.bytes;
    }
    const { log } = this.#options;
    const done = this.#sweepNow(short)
      .catch((error: unknown) => log.warn({ error: String(error) }, 'cannot remove idle files'))
      .finally(() => {
        this.#sweeping = null;
      });
    this.#sweeping = { short, done };
    await done;
    return true;
  }

  async #sweepNow(short: Shortage): Promise<void> {
    await this.#options.namesFilled();
    const since = this.#total.bytes;
    const swept = await sweepBlobs(this.#sweepWorld(), short);
    await this.#packs.tidy();
    if (swept.isComplete) this.#total.counted(swept.bytesFound - swept.bytesGone, since);
    const { count, bytesGone: bytes } = swept;
    if (count > 0) this.#options.log.info({ count, bytes }, 'removed files that nothing names');
  }

  #sweepWorld(): SweepWorld {
    const { names, clock, certainNow = () => clock.now() } = this.#options;
    return {
      places: this.#places,
      uploads: this.#uploads,
      packs: this.#packs,
      clock,
      certainNow,
      holdings: this.#holdings,
      keeping: {
        isNamed: (hash) => names.isNamed(hash),
        isUploading: (hash) => this.#uploads.isUploading(hash),
      },
      isClosing: () => this.#isClosing,
    };
  }
}
