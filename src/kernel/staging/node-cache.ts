// Contents that tasks of this node have needed, for the next ones that need them. What is here came
// whole and verified; each is looked at again before it is used, and what is damaged is fetched
// anew.

import { constants, existsSync, mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { mkdir, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { type CachedBlob, findUnneeded } from '../files/blobs/cache.ts';
import { diskBytes } from '../files/blobs/upload.ts';
import type { BlobHash } from '../model/blob.ts';
import { BLOB_PACKED_BYTES_MAX } from '../model/limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { asideOf } from '../transfer/arriving.ts';
import { breath, hashOpen } from '../transfer/local-file.ts';
import { sealOf } from './seal.ts';
import { SmallCache } from './small-cache.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface NodeCacheOptions {
  /** Made when it is not there. */
  readonly directory: string;
  /** The quota; what is being laid out is kept beyond it, for as long as that takes. */
  readonly bytesMax: number;
  /** Contents up to this size lie many in one file; default `BLOB_PACKED_BYTES_MAX`. */
  readonly smallBytesMax?: number;
  readonly bootId: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Content {
  readonly hash: BlobHash;
  readonly size: number;
}

/** A content that is not here, and where it has to be put once it is verified. */
export interface Missing extends Content {
  readonly path: string;
}

/** Contents that are here and stay until they are let go. */
export interface Holding {
  /** File of a large content. */
  pathOf(hash: BlobHash): string;
  /** Bytes of a small content; null: damaged, to be fetched again; undefined: none of these. */
  bytesOf(hash: BlobHash): Uint8Array | null | undefined;
  release(): void;
}

/** Brings contents: large ones into their files, small ones by `keepSmall`. */
export type Fetch = (large: readonly Missing[], small: readonly Content[]) => Promise<void>;

interface CacheEntry extends CachedBlob {
  size: number;
  usedAt: number;
  users: number;
}

/** Long after a download that was cut off, nobody goes on with it. */
const PART_AGE_MS = 86_400_000;
/** Files looked at in one turn: a millisecond or two. */
const LOOKED_PER_TURN = 100;
/** Characters in the name of a whole content: the rest of its hash. */
const NAME_LENGTH = 62;
/** Share of the quota for small contents. */
const SMALL_SHARE = 0.25;
/** A use is noted on the disk only when the last was so long ago. */
const NOTED_MS = 600_000;

export class NodeCache {
  readonly #options: NodeCacheOptions;
  readonly #entries = new Map<BlobHash, CacheEntry>();
  /** On their way; each is fetched by one task for all that need it. */
  readonly #coming = new Map<BlobHash, Promise<void>>();
  #loaded: Promise<void> | null = null;
  readonly #small: SmallCache;
  readonly #smallBytesMax: number;

  constructor(options: NodeCacheOptions) {
    const { directory, bytesMax, smallBytesMax = BLOB_PACKED_BYTES_MAX, clock } = options;
    this.#options = options;
    this.#smallBytesMax = smallBytesMax;
    const small = { directory: path.join(directory, 'small'), bytesMax: bytesMax * SMALL_SHARE };
    this.#small = new SmallCache({ ...small, clock });
  }

  /** Bytes that all contents take up. */
  get bytes(): number {
    let { bytes } = this.#small;
    for (const { size } of this.#entries.values()) bytes += diskBytes(size);
    return bytes;
  }

  /** To be called by whoever fetches it, and has verified it. */
  keepSmall(hash: BlobHash, bytes: Uint8Array): void {
    this.#small.add(hash, bytes);
  }

  #isSmall({ size }: Content): boolean {
    return size <= this.#smallBytesMax;
  }

  /** Resolves when all of them are here. `fetch` brings what is not. */
  async hold(contents: readonly Content[], fetch: Fetch, signal: AbortSignal): Promise<Holding> {
    // One that failed is tried again by the next task: the disk may have been full.
    this.#loaded ??= this.#load().catch((error: unknown) => {
      this.#loaded = null;
      throw error;
    });
    await this.#loaded;
    const all = new Map(contents.map((content) => [content.hash, content]));
    const small = new Map([...all].filter(([, content]) => this.#isSmall(content)));
    const wanted = new Map([...all].filter(([hash]) => !small.has(hash)));
    for (const content of wanted.values()) this.#entryOf(content).users += 1;
    const letGoSmall = this.#small.hold([...small.keys()]);
    const release = (): void => {
      letGoSmall();
      const usedAt = this.#options.clock.now();
      for (const hash of wanted.keys()) this.#letGo(hash, usedAt);
      this.#makeRoom().catch((error: unknown) => {
        this.#options.log.warn({ error }, 'cached files could not be removed');
      });
    };
    try {
      await this.#ensure([...all.values()], fetch, signal);
    } catch (error) {
      release();
      for (const hash of wanted.keys()) this.#forgetMissing(hash);
      throw error;
    }
    const bytesOf = (hash: BlobHash) => (small.has(hash) ? this.#small.read(hash) : undefined);
    return { pathOf: (hash) => this.#pathOf(hash), bytesOf, release };
  }

  /**
   * Everything that is not in use: the disk is full. What has come in part of the contents in
   * `keep` stays, for who goes on with it at once.
   */
  async clear(keep: ReadonlySet<BlobHash> = new Set()): Promise<void> {
    this.#small.makeRoom(0);
    await this.#remove(findUnneeded(this.#entries.values(), 0));
    await this.#removeParts(keep);
  }

  async #ensure(contents: readonly Content[], fetch: Fetch, signal: AbortSignal): Promise<void> {
    let left = await this.#lacking(contents);
    while (left.length > 0) {
      const mine = left.filter(({ hash }) => !this.#coming.has(hash));
      if (mine.length > 0) await this.#bring(mine, fetch);
      const others = left.flatMap(({ hash }) => this.#coming.get(hash) ?? []);
      // What another task could not get is tried once more, in this one's name.
      await unlessAborted(Promise.all(others), signal);
      left = await this.#lacking(left);
    }
  }

  async #bring(contents: readonly Content[], fetch: Fetch): Promise<void> {
    let done = (): void => undefined;
    const coming = new Promise<void>((resolve) => {
      done = resolve;
    });
    for (const { hash } of contents) this.#coming.set(hash, coming);
    try {
      await this.#makeRoom();
      const small = contents.filter((content) => this.#isSmall(content));
      const large = contents.filter((content) => !this.#isSmall(content));
      const missing = large.map((content) => ({ ...content, path: this.#pathOf(content.hash) }));
      const folders = new Set(missing.map((one) => path.dirname(one.path)));
      for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
      await fetch(missing, small);
      for (const { hash } of large) {
        await breath();
        this.#seal(hash);
      }
    } finally {
      for (const { hash } of contents) this.#coming.delete(hash);
      done();
    }
  }

  /** Those that are not here as they should be. */
  async #lacking(contents: readonly Content[]): Promise<Content[]> {
    const lacking: Content[] = [];
    for (const [at, content] of contents.entries()) {
      if (at % LOOKED_PER_TURN === LOOKED_PER_TURN - 1) await new Promise(setImmediate);
      if (!(await this.#isGood(content))) lacking.push(content);
    }
    return lacking;
  }

  async #isGood(content: Content): Promise<boolean> {
    const { hash, size } = content;
    if (this.#coming.has(hash)) return false;
    if (this.#isSmall(content)) return this.#small.has(hash);
    const file = this.#pathOf(hash);
    const status = statSync(file, { throwIfNoEntry: false });
    if (status === undefined) return false;
    const seal = sealOf(hash, this.#options.bootId);
    if (status.isFile() && status.size === size && status.mtimeMs === seal * 1000) return true;
    if (status.isFile() && (await hashOfFile(file)) === hash) {
      this.#seal(hash);
      return true;
    }
    this.#options.log.warn({ hash, file }, 'a cached file is damaged; it is fetched again');
    await rm(file, { recursive: true, force: true });
    return false;
  }

  #seal(hash: BlobHash): void {
    const { clock, bootId } = this.#options;
    const file = this.#pathOf(hash);
    utimesSync(file, clock.now() / 1000, sealOf(hash, bootId));
    this.#entryOf({ hash, size: statSync(file).size });
  }

  #entryOf({ hash, size }: Content): CacheEntry {
    const known = this.#entries.get(hash);
    if (known !== undefined) return Object.assign(known, { size });
    const entry: CacheEntry = { hash, size, usedAt: this.#options.clock.now(), users: 0 };
    this.#entries.set(hash, entry);
    return entry;
  }

  #letGo(hash: BlobHash, usedAt: number): void {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return;
    entry.users -= 1;
    const isNew = usedAt - entry.usedAt > NOTED_MS;
    entry.usedAt = usedAt;
    if (isNew) void this.#note(hash, usedAt);
  }

  /** Forgets a content that did not come: nothing takes up room. */
  #forgetMissing(hash: BlobHash): void {
    const isIdle = this.#entries.get(hash)?.users === 0;
    if (isIdle && !existsSync(this.#pathOf(hash))) this.#entries.delete(hash);
  }

  /** For the next agent, which knows nothing else. A time of change that is wrong stays so. */
  async #note(hash: BlobHash, usedAt: number): Promise<void> {
    const file = this.#pathOf(hash);
    try {
      await utimes(file, usedAt / 1000, (await stat(file)).mtimeMs / 1000);
    } catch (error) {
      this.#options.log.debug({ error, file }, 'the use of a cached file could not be noted');
    }
  }

  /** What is still to come counts as well: whoever waits for it uses it. */
  async #makeRoom(): Promise<void> {
    this.#small.makeRoom(this.#small.bytesMax);
    const { bytesMax } = this.#options;
    await this.#remove(findUnneeded(this.#entries.values(), bytesMax - this.#small.bytes));
  }

  async #remove(unneeded: readonly CachedBlob[]): Promise<void> {
    for (const { hash } of unneeded) {
      // Looked at again: files were removed meanwhile.
      if (this.#entries.get(hash)?.users !== 0) continue;
      this.#entries.delete(hash);
      // In the same turn: whoever asks for it next must not find what is about to go.
      rmSync(this.#pathOf(hash), { force: true });
      await breath();
    }
  }

  /** On a full disk nobody may ever come back for them, and they would keep it full. */
  async #removeParts(keep: ReadonlySet<BlobHash>): Promise<void> {
    const root = path.join(this.#options.directory, 'sha256');
    const parts: string[] = [];
    for (const folder of existsSync(root) ? await readdir(root) : []) {
      const names = await readdir(path.join(root, folder));
      const here = names.filter((name) => name.length !== NAME_LENGTH);
      parts.push(...here.map((name) => path.join(root, folder, name)));
    }
    // In one turn: another task may begin with one of them in the next.
    const wanted = [...keep, ...this.#coming.keys()];
    const kept = new Set(wanted.map((hash) => asideOf({ path: this.#pathOf(hash), hash })));
    for (const file of parts) if (!kept.has(file)) rmSync(file, { force: true });
  }

  #pathOf(hash: BlobHash): string {
    return path.join(this.#options.directory, 'sha256', hash.slice(0, 2), hash.slice(2));
  }

  /** What earlier agents left. */
  async #load(): Promise<void> {
    const root = path.join(this.#options.directory, 'sha256');
    await mkdir(root, { recursive: true, mode: 0o700 });
    this.#small.load();
    const oldest = this.#options.clock.now() - PART_AGE_MS;
    for (const folder of await readdir(root)) {
      for (const name of await readdir(path.join(root, folder))) {
        const file = path.join(root, folder, name);
        const { size, atimeMs, mtimeMs } = await stat(file);
        const hash = `${folder}${name}` as BlobHash;
        if (name.length === NAME_LENGTH)
          this.#entries.set(hash, { hash, size, usedAt: atimeMs, users: 0 });
        else if (mtimeMs < oldest) await rm(file, { force: true });
      }
    }
    await this.#makeRoom();
  }
}

async function hashOfFile(file: string): Promise<BlobHash> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  return hashOpen(handle.fd, (await handle.stat()).size);
}
