// The Staging port of a real node: contents come from the head by way of the node's cache, and go
// to it as blobs.

import { mkdirSync, renameSync } from 'node:fs';
import { err, ok, type Result } from '../base/result.ts';
import { fileProblem } from '../config/file-problem.ts';
import type { FileEntry } from '../files/entry.ts';
import { entriesFor, type FileSet, ownFiles } from '../files/file-set.ts';
import type { BlobHash } from '../model/blob.ts';
import { Failure } from '../model/failure.ts';
import type { JobId } from '../model/ids.ts';
import {
  BLOB_PACKED_BYTES_MAX,
  OUTPUTS_INLINE_BYTES_MAX,
  OUTPUTS_INLINE_MAX,
} from '../model/limits.ts';
import type { LaunchOrder } from '../model/orders.ts';
import type { Stored } from '../model/staging.ts';
import type { Files, Owner } from '../ports/files.ts';
import type { Log } from '../ports/log.ts';
import type { Staging, StagingFailure } from '../ports/staging.ts';
import { downloadFiles } from '../transfer/download.ts';
import { type Named, receiveSmall } from '../transfer/download-pack.ts';
import type { HeadAccess } from '../transfer/head-access.ts';
import { uploadFiles } from '../transfer/upload.ts';
import { Changed, type Collection, collectOutputs } from './collect.ts';
import { FileSets } from './file-sets.ts';
import { GatheredFetches } from './gathered-fetches.ts';
import type { HeadLine } from './head-line.ts';
import { type Layout, layOut } from './layout.ts';
import { type NearContents, NearFiles, NotHere } from './near-files.ts';
import type { Content, Fetch, NodeCache } from './node-cache.ts';
import { reported } from './reported.ts';
import { Slots } from './slots.ts';

export interface HeadStagingOptions {
  readonly line: HeadLine;
  readonly cache: NodeCache;
  readonly files: Pick<Files, 'removeTree'>;
  readonly log: Log;
}

interface Laying extends Pick<Layout, 'entries' | 'folder' | 'owner'> {
  readonly access: HeadAccess;
  readonly jobId: JobId;
  readonly own: Own;
  readonly signal: AbortSignal;
}

/** What a task alone needs, each content once. */
interface Own {
  readonly contents: readonly Named[];
  readonly bytes: number;
}

/** Tasks whose files move at a time, in each direction. */
const TASKS_AT_ONCE = 16;
/** How often files that change while they are kept are looked at again. */
const TURNS_MAX = 3;
/** Files of one task that go from memory to their place, and their bytes. */
const OWN_MAX = 500;
const OWN_BYTES_MAX = 1_048_576;
const NOTHING_OWN: Own = { contents: [], bytes: 0 };
/** The disk has no room, or a quota of it none. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
/** Files that are named at most of those left out. */
const NAMED_MAX = 1000;

export class HeadStaging implements Staging {
  readonly #options: HeadStagingOptions;
  readonly #sets = new FileSets();
  readonly #near = new NearFiles();
  readonly #ownFiles = new GatheredFetches();
  readonly #bringing = new Slots(TASKS_AT_ONCE);
  readonly #storing = new Slots(TASKS_AT_ONCE);

  constructor(options: HeadStagingOptions) {
    this.#options = options;
  }

  async bring(
    order: LaunchOrder,
    into: { readonly directory: string; readonly owner: Owner | null },
    signal: AbortSignal,
  ): Promise<Result<null, StagingFailure>> {
    try {
      await this.#bringing.run(signal, () => this.#bring(order, into, signal));
      return ok(null);
    } catch (error) {
      return err(failureOf(error));
    }
  }

  async store(
    order: LaunchOrder,
    from: { readonly directory: string; readonly uid: number | null },
    signal: AbortSignal,
  ): Promise<Result<Stored, string>> {
    try {
      return ok(await this.#storing.run(signal, () => this.#storeStill(order, from, signal)));
    } catch (error) {
      return err(stagingProblemOf(error));
    }
  }

  async #bring(
    order: LaunchOrder,
    { directory, owner }: { readonly directory: string; readonly owner: Owner | null },
    signal: AbortSignal,
  ): Promise<void> {
    const { files, cache } = this.#options;
    const access = this.#options.line.access(order.epochId, signal);
    const set = await this.#setOf(order, access);
    const entries = entriesOf(set, order);
    const own = set === null ? NOTHING_OWN : smallOwn(set, order);
    const { jobId } = order.place;
    const aside = `${directory}.in`;
    // What an agent that was killed left of either.
    await files.removeTree(aside);
    await files.removeTree(directory);
    mkdirSync(aside, { mode: 0o700 });
    const laying = { access, jobId, entries, own, folder: aside, owner, signal };
    const anew = async (): Promise<void> => {
      await files.removeTree(aside);
      mkdirSync(aside, { mode: 0o700 });
    };
    const lay = async (): Promise<void> => {
      let near = await this.#findNear(access, entries);
      for (let turn = 1; ; turn += 1) {
        try {
          return await this.#lay(laying, near);
        } catch (error) {
          if (!(error instanceof NotHere) || turn === TURNS_MAX) throw error;
          near = new Map();
          await anew();
        }
      }
    };
    try {
      await lay();
    } catch (error) {
      if (!isFull(error)) throw error;
      // What others may need later is of less use than this task.
      await cache.clear(new Set(contentsOf(entries).map(({ hash }) => hash)));
      await anew();
      await lay().catch((again: unknown) => this.#leaveRoom(aside, again));
    }
    signal.throwIfAborted();
    renameSync(aside, directory);
  }

  #findNear(access: HeadAccess, entries: readonly FileEntry[]): Promise<NearContents> {
    if (!this.#options.line.isLocal) return Promise.resolve(new Map());
    return this.#near.find(access, contentsOf(entries));
  }

  async #lay(laying: Laying, near: NearContents): Promise<void> {
    const { access, jobId, own, signal, ...layout } = laying;
    const inMemory = await this.#ownFiles.fetch(jobId, { access, ...own, signal });
    const cached = contentsOf(layout.entries).filter(
      ({ hash }) => !inMemory.has(hash) && !near.has(hash),
    );
    const { cache } = this.#options;
    const fetch: Fetch = async (large, small) => {
      await downloadFiles(access, large);
      await receiveSmall(access, small, (hash, bytes) => cache.keepSmall(hash, bytes));
    };
    const held = await cache.hold(cached, fetch, signal);
    const get = (hash: BlobHash): Uint8Array | undefined => {
      const bytes = inMemory.get(hash) ?? held.bytesOf(hash);
      if (bytes === null) throw new NotHere(`${hash} is damaged in the cache`);
      return bytes;
    };
    try {
      await layOut({ ...layout, pathOf: held.pathOf, inMemory: { get }, near });
    } finally {
      held.release();
    }
  }

  /** Or the node would be full of what came in vain, and take no other task either. */
  async #leaveRoom(aside: string, error: unknown): Promise<never> {
    if (isFull(error)) {
      await this.#options.files.removeTree(aside);
      await this.#options.cache.clear();
    }
    throw error;
  }

  async #setOf({ staging }: LaunchOrder, access: HeadAccess): Promise<FileSet | null> {
    return staging?.inputs == null ? null : this.#sets.get(staging.inputs, access);
  }

  async #storeStill(
    order: LaunchOrder,
    from: { readonly directory: string; readonly uid: number | null },
    signal: AbortSignal,
  ): Promise<Stored> {
    for (let turn = 1; ; turn += 1) {
      signal.throwIfAborted();
      try {
        return await this.#store(order, from, signal);
      } catch (error) {
        if (!(error instanceof Changed || isGone(error)) || turn === TURNS_MAX) throw error;
      }
    }
  }

  async #store(
    order: LaunchOrder,
    from: { readonly directory: string; readonly uid: number | null },
    signal: AbortSignal,
  ): Promise<Stored> {
    const { epochId, staging } = order;
    const access = this.#options.line.access(epochId, signal);
    const isAll = staging?.outputs === null;
    const inputs = isAll ? entriesOf(await this.#setOf(order, access), order) : [];
    const wish = staging ?? { outputs: [], bytesMax: null };
    const isOfBatch = order.batch !== undefined;
    const collected = await collectOutputs({ ...from, wish, isOfBatch, inputs, signal });
    const contents = contentsAlong(collected);
    if (contents === null) await uploadFiles(access, collected.files);
    await this.#tell(order, access, { ...collected, contents: contents ?? [] });
    const files = collected.entries.filter(({ kind }) => kind === 'file');
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const { outside, leftOut } = collected;
    const kept = { files: files.length, bytes, leftOut: leftOut.length };
    return outside === undefined ? kept : { ...kept, outside };
  }

  /** The head writes it down before it answers; told again it does nothing. */
  async #tell(
    { epochId, batch }: LaunchOrder,
    access: HeadAccess,
    { entries, leftOut, contents }: Collection & { readonly contents: readonly string[] },
  ): Promise<void> {
    // Of a job of a batch the head keeps what it has printed, too.
    if (entries.length === 0 && leftOut.length === 0 && batch === undefined) return;
    const head = await access.head();
    const named = leftOut.slice(0, NAMED_MAX).map(reported);
    const body = { entries, leftOut: named, contents: [...contents] };
    await access.patiently('Trying again.', () =>
      head.call('storeOutputs', { params: { epochId }, body }),
    );
  }
}

function entriesOf(set: FileSet | null, { place }: LaunchOrder): readonly FileEntry[] {
  if (set === null) return [];
  return place.index === null ? set.common : entriesFor(set, place.index);
}

/**
 * What no other task needs, as far as it is little: in the cache it would only be a second file to
 * be made and removed.
 */
function smallOwn(set: FileSet, { place }: LaunchOrder): Own {
  if (place.index === null) return NOTHING_OWN;
  const own = ownFiles(set, place.index).filter(({ size }) => size <= BLOB_PACKED_BYTES_MAX);
  const bytes = own.reduce((sum, { size }) => sum + size, 0);
  if (own.length > OWN_MAX || bytes > OWN_BYTES_MAX) return NOTHING_OWN;
  const paths = new Map(own.map(({ sha256, path }) => [sha256 as BlobHash, path]));
  return { contents: [...paths].map(([hash, path]) => ({ hash, path })), bytes };
}

/** All contents, where so few and small that asking which the head lacks would cost more. */
function contentsAlong({ files }: Collection): string[] | null {
  if (files.length > OUTPUTS_INLINE_MAX) return null;
  const contents: string[] = [];
  let size = 0;
  for (const { bytes } of files) {
    if (bytes === undefined) return null;
    size += bytes.length;
    contents.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'));
  }
  return size <= OUTPUTS_INLINE_BYTES_MAX ? contents : null;
}

/** What was sent first was swept away while the rest was on its way: it has to be sent again. */
function isGone(error: unknown): boolean {
  return error instanceof Failure && error.code === 'files.lacking';
}

function contentsOf(entries: readonly FileEntry[]): Content[] {
  return entries.flatMap(({ kind, sha256, size }) =>
    kind === 'file' && sha256 !== undefined ? [{ hash: sha256, size }] : [],
  );
}

/**
 * The failure behind an error. A refusal of the head holds for every node; what this node itself
 * cannot do another one may.
 */
function failureOf(error: unknown): StagingFailure {
  const isOfHead = error instanceof Failure && error.cause === undefined;
  return { detail: stagingProblemOf(error), nodeFault: !isOfHead };
}

function stagingProblemOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  const { path, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return (error as Error).message;
  return path === undefined ? fileProblem(error) : `${path}: ${fileProblem(error)}`;
}

function isFull(error: unknown): boolean {
  const of = error instanceof Failure ? error.cause : error;
  return FULL.has((of as NodeJS.ErrnoException | undefined)?.code ?? '');
}
