// Making the folder of a task that is done from its parts: aside, and then in its place at once.
// What fails, as on a full disk, is tried again.

import { mkdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { JobManifest } from '../../files/job-manifest.ts';
import { BATCH_FILE } from '../../files/manifest.ts';
import type { Timer } from '../../ports/clock.ts';
import type { TaskRow } from '../../ports/history.ts';
import type { DiskSync } from '../disk/disk-sync.ts';
import type { Engine } from '../engine.ts';
import type { Committed } from '../engine-options.ts';
import type { ArchivePlaces, BatchShelf, Shelf } from './archive-places.ts';
import type { BatchExtras } from './batch-extras.ts';
import { link, placeInBatch } from './batch-folder.ts';
import { makeFolder, manifestOf } from './make-folder.ts';
import type { ArchiveOptions } from './options.ts';
import type { PartName, StoredPart } from './parts.ts';
import { readManifest } from './shelves.ts';
import { NO_BATCHES } from './shelving.ts';
import { keyOf, type StoredParts } from './stored-parts.ts';
import { finalEnds, lastEndOf, type Verdict, verdictOn } from './verdict.ts';

/** Folders that are made at a time: together they wait for the disk. */
const TASKS_AT_ONCE = 256;
/** After a failure, as of a full disk. */
const AGAIN_MS = 10_000;

export interface PublisherOptions
  extends Pick<ArchiveOptions, 'blobs' | 'clock' | 'log' | 'logs' | 'shelving'> {
  readonly places: ArchivePlaces;
  readonly stored: StoredParts;
  readonly disk: DiskSync;
  readonly extras: BatchExtras;
  /** A folder is in its place. */
  readonly onPublished: (shelf: Shelf, manifest: JobManifest) => void;
  /** What an earlier start of a job has left is gone, so many bytes. */
  readonly onReplaced: (bytes: number) => void;
}

/** A folder that only has to get its name. */
interface Ready {
  readonly aside: string;
  readonly manifest: JobManifest;
  /** Folders in which its contents have got names. */
  readonly named: readonly string[];
}

export class Publisher {
  readonly #options: PublisherOptions;
  /** Tasks that are looked at, or will be, by job. */
  readonly #settling = new Map<number, Set<Promise<void>>>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** Folders of tasks that are in their place, and what has to be synced before they count. */
  readonly #unsynced = new Map<string, readonly string[]>();
  #engine: Pick<Engine, 'state' | 'store'> | null = null;
  #isClosing = false;
  readonly #timers = new Set<Timer>();

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Goes on with what an earlier head has left, and follows this one. */
  attach(engine: Pick<Engine, 'state' | 'store' | 'onCommitted'>): void {
    this.#engine = engine;
    for (const shelf of this.#options.stored.shelves()) this.#settle(shelf, true);
    engine.onCommitted((committed) => this.#follow(committed));
  }

  /** Begins nothing more; what is being made is made. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#options.extras.close();
    for (const timer of this.#timers) timer.cancel();
    for (const tasks of this.#settling.values()) await Promise.all(tasks);
  }

  /** Resolves when all of the job's done tasks have their folders, or cannot have them now. */
  async settled(jobId: number): Promise<void> {
    await Promise.all(this.#settling.get(jobId) ?? []);
  }

  #follow({ events, history }: Committed): void {
    const { stored } = this.#options;
    if (stored.isEmpty) return;
    const ends = finalEnds(history);
    for (const event of events) {
      if (event.kind !== 'task_done' && event.kind !== 'task_requeued') continue;
      const { jobId, index } = event.place;
      const shelf = { jobId, index: index ?? 0, isArray: index !== null };
      if (stored.has(shelf)) this.#settle(shelf, false, ends.get(keyOf(shelf)));
    }
  }

  /** Looks what has become of a task with parts. `end`: its last end in the store, where known. */
  #settle(shelf: Shelf, isStart: boolean, end?: TaskRow): void {
    const { jobId } = shelf;
    const settling = this.#settling.get(jobId) ?? new Set();
    this.#settling.set(jobId, settling);
    const one = this.#whenReady(shelf, isStart)
      .then(() => this.#inTurn(() => this.#settleNow(shelf, isStart, end)))
      .catch((error: unknown) => this.#later(shelf, isStart, error))
      .finally(() => {
        settling.delete(one);
        if (settling.size === 0) this.#settling.delete(jobId);
      });
    settling.add(one);
  }

  #later(shelf: Shelf, isStart: boolean, error: unknown): void {
    const { clock, log } = this.#options;
    const task = { job: shelf.jobId, index: shelf.index };
    log.error({ ...task, error: String(error) }, 'files of a task are not archived yet');
    if (this.#isClosing) return;
    const timer = clock.after(AGAIN_MS, () => {
      this.#timers.delete(timer);
      this.#settle(shelf, isStart);
    });
    this.#timers.add(timer);
  }

  /** Nobody else waits while output is on its way. */
  async #whenReady(shelf: Shelf, isStart: boolean): Promise<void> {
    const { extras, stored } = this.#options;
    const [first] = stored.of(shelf);
    if (first !== undefined) await extras.ready(first.shelf, first.epoch, !isStart);
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#running >= TASKS_AT_ONCE) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running += 1;
    try {
      if (!this.#isClosing) await work();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #settleNow(shelf: Shelf, isStart: boolean, end?: TaskRow): Promise<void> {
    const { stored } = this.#options;
    const names = stored.of(shelf);
    if (names.length === 0 || this.#engine === null) return;
    const last = end ?? (await lastEndOf(this.#engine.store, shelf));
    const { finished, dropped, row } = verdictOn(this.#engine.state, names, { last, isStart });
    const read = await this.#read({ finished, dropped });
    if (row !== null && finished.length > 0) {
      const whole = finished.flatMap((name) => read.get(name) ?? []);
      const [first] = whole;
      // The part knows its place in a batch, what follows events does not.
      if (first !== undefined) {
        await this.#publish(first.shelf, manifestOf(byRank(whole), row), !isStart);
      }
    }
    stored.drop([...finished, ...dropped]);
  }

  /** What is to be published. A batch's start that does not count may have failed to build. */
  async #read({
    finished,
    dropped,
  }: Pick<Verdict, 'finished' | 'dropped'>): Promise<Map<PartName, StoredPart>> {
    const { extras, stored } = this.#options;
    const found = new Map<PartName, StoredPart>();
    const ofBatches = dropped.filter(({ shelf }) => shelf.batch !== undefined);
    for (const name of [...finished, ...ofBatches]) {
      const part = stored.read(name);
      if (part === null) continue;
      found.set(name, part);
      const { batch } = part.shelf;
      if (batch !== undefined) await extras.keepBuildLog(part, () => this.#jobsOf(batch));
    }
    return found;
  }

  /** The folder comes at once, whole; one of the same start is there if a head was killed after. */
  async #publish(shelf: Shelf, manifest: JobManifest, isNew: boolean): Promise<void> {
    const { places, blobs, disk, logs, extras, onPublished } = this.#options;
    const there = readManifest(places.home(shelf), shelf);
    if (there !== null && isSameStart(there, manifest)) {
      const unsynced = this.#unsynced.get(places.task(shelf));
      if (unsynced !== undefined) {
        await this.#finish(shelf, unsynced);
        onPublished(shelf, there);
      }
      // It may have been killed before it made the link.
      if (shelf.batch !== undefined) link(places, shelf);
      return;
    }
    if (there !== null && shelf.batch === undefined)
      throw new Error(taken(places.task(shelf), there));
    const whole = await extras.withOutputText(shelf, manifest, isNew);
    const aside = places.aside();
    try {
      const linkContent = blobs.linkTo.bind(blobs);
      const { empty } = places;
      const made = await makeFolder(aside, whole, { linkContent, logs, disk, empty });
      const named = made.flatMap((file) => blobs.adopt(file.hash, file.path));
      if (!(await this.#place(shelf, { aside, manifest: whole, named }))) return;
    } catch (error) {
      await rm(aside, { recursive: true, force: true });
      throw error;
    }
    onPublished(shelf, whole);
  }

  /** In one turn: whoever removes the job's folder meanwhile does not take the one above away. */
  async #place(shelf: Shelf, { aside, manifest, named }: Ready): Promise<boolean> {
    const { places, onReplaced } = this.#options;
    const { batch } = shelf;
    const task = places.task(shelf);
    const folders = [...named, path.dirname(task), places.jobs];
    if (batch === undefined) {
      if (shelf.isArray) mkdirSync(path.dirname(task), { recursive: true, mode: 0o700 });
      renameSync(aside, task);
    } else {
      const { owner, epoch } = manifest;
      const made = { aside, shelf: { ...shelf, batch }, owner, epoch };
      const placed = placeInBatch(places, { ...made, jobNames: () => this.#jobsOf(batch) });
      if (placed.trash.length > 0) onReplaced(placed.bytesGone);
      for (const one of placed.trash) await rm(one, { recursive: true, force: true });
      if (!placed.isPlaced) return false;
      const own = places.batch(batch);
      folders.push(own, path.join(own, BATCH_FILE), ...placed.above);
    }
    await this.#finish(shelf, folders);
    return true;
  }

  /** What is in its place, and could not be synced, is published when that is done. */
  async #finish(shelf: Shelf, folders: readonly string[]): Promise<void> {
    const { places, disk } = this.#options;
    const task = places.task(shelf);
    this.#unsynced.set(task, folders);
    await disk.settle(folders);
    this.#unsynced.delete(task);
  }

  #jobsOf(batch: BatchShelf): readonly string[] {
    const { shelving = NO_BATCHES } = this.#options;
    return this.#engine === null ? [] : shelving.jobNames(this.#engine.state, batch);
  }
}

function taken(folder: string, { owner, name, epoch }: JobManifest): string {
  return `${folder} has files of another: ${owner}'s ${name}, start ${epoch}`;
}

/** After lost records another job may have the id. */
function isSameStart(there: JobManifest, { owner, epoch, startedAt }: JobManifest): boolean {
  return there.owner === owner && there.epoch === epoch && there.startedAt === startedAt;
}

function byRank(parts: readonly StoredPart[]): StoredPart[] {
  return [...parts].sort((a, b) => a.nodeRank - b.nodeRank);
}
