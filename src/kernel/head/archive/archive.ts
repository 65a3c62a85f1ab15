// What jobs leave behind, kept on the head. A node stores its part while its task is not done; when
// it is, the parts become a folder of plain files. Killed anywhere in between, the head goes on
// from what is on the disk and in the history: a part without its task is finished or removed, and
// a folder is whole or not there.

import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import type { Result } from '../../base/result.ts';
import type { JobManifest, Outputs, TaskArchive } from '../../files/job-manifest.ts';
import type { BatchName } from '../../model/batch.ts';
import type { Refusal } from '../../model/errors.ts';
import type { Timer } from '../../ports/clock.ts';
import { DiskSync } from '../disk/disk-sync.ts';
import type { Engine } from '../engine.ts';
import type { EpochCaller } from '../epoch-caller.ts';
import { KeptTotal } from '../kept-total.ts';
import {
  Amounts,
  added,
  type KeptAmounts,
  NOTHING,
  type Removed,
  sumOf,
  TASKS_COUNTED_MAX,
} from './amounts.ts';
import { ArchivePlaces, batchesIn, type Shelf } from './archive-places.ts';
import { BatchExtras } from './batch-extras.ts';
import { discardEmpty, discardJob, homeBehind } from './batch-folder.ts';
import { Expiry, type NextToGo } from './expiry.ts';
import { Intake, type PartAmounts } from './intake.ts';
import type { ArchiveOptions } from './options.ts';
import { Parts } from './parts.ts';
import { Publisher } from './publisher.ts';
import { largestJobId, listShelves, type ReadPage, readPage, readWhole } from './shelves.ts';
import { ShownFolders } from './shown-folders.ts';
import { StoredParts } from './stored-parts.ts';

/** How often what is too old is looked for. */
const EXPIRE_MS = 3_600_000;
/** Between two syncs of the disk while many tasks end: so many more of them share the next one. */
const GATHER_MS = 50;
/** Folders of batches that go in one turn: a few milliseconds. */
const REMOVED_PER_TURN = 100;

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #places: ArchivePlaces;
  readonly #disk: DiskSync;
  readonly #parts: Parts;
  readonly #stored: StoredParts;
  readonly #total: KeptTotal;
  readonly #amounts = new Amounts();
  readonly #intake: Intake;
  readonly #publisher: Publisher;
  readonly #expiry: Expiry;
  #timer: Timer | null = null;

  constructor(options: ArchiveOptions) {
    const { directory, bytesMax, log, shownIn } = options;
    const shown = shownIn && new ShownFolders(shownIn, batchesIn(directory), log);
    const places = new ArchivePlaces(directory, shown);
    const disk = new DiskSync(directory, GATHER_MS);
    const parts = new Parts(places);
    const stored = new StoredParts(parts, options.names);
    const total = new KeptTotal({ directory, bytesMax, what: 'archived files', log });
    const amounts = this.#amounts;
    const onRemoved = amounts.forget.bind(amounts);
    const expiry = new Expiry({ ...options, places, total, onRemoved });
    this.#options = options;
    this.#places = places;
    this.#disk = disk;
    this.#parts = parts;
    this.#stored = stored;
    this.#total = total;
    this.#expiry = expiry;
    this.#intake = new Intake(options, { parts, stored });
    const onPublished = (shelf: Shelf, manifest: JobManifest): void => {
      amounts.published(shelf.jobId, manifest);
      expiry.added(shelf, manifest);
    };
    const onReplaced = (bytes: number): void => {
      amounts.forget();
      total.add(-bytes);
    };
    const extras = new BatchExtras({ ...options, places, disk });
    const published = { onPublished, onReplaced };
    this.#publisher = new Publisher({ ...options, places, stored, disk, extras, ...published });
  }

  /** Makes the folders, and removes what a head that was killed was about to make or to remove. */
  async prepare(): Promise<void> {
    const { jobs, batches, parts, asides, trash } = this.#places;
    for (const folder of [asides, trash]) await rm(folder, { recursive: true, force: true });
    for (const folder of [jobs, batches, parts, asides, trash]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    for (const namespace of await readdir(batches)) this.#places.shown?.show(namespace);
    const isKnown = await this.#total.read();
    const isEmpty = async () =>
      [...(await readdir(jobs)), ...(await readdir(batches))].length === 0;
    if (!isKnown && (await isEmpty())) this.#total.counted(0, 0);
    await this.#stored.prepare();
  }

  /** Goes on with what an earlier head has left, and follows this one. */
  attach(engine: Pick<Engine, 'state' | 'store' | 'onCommitted'>): void {
    this.#intake.attach(engine);
    this.#publisher.attach(engine);
  }

  /** To be called when the head serves: now there is time to look at all that is there. */
  begin(): void {
    this.#timer = this.#options.clock.after(EXPIRE_MS, () => this.begin());
    void this.expire();
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#expiry.close();
    await this.#publisher.close();
    await this.#disk.close();
    await this.#parts.close();
    await this.#total.close();
  }

  /** The largest id of a job that has files here: a head that has lost its records skips them. */
  async jobIdSeen(): Promise<number> {
    return Math.max(await largestJobId(this.#places), this.#stored.largestJobId);
  }

  /** Bytes of all that is archived. */
  get bytes(): number {
    return this.#total.bytes;
  }

  /** What goes next, as of the last look; null: nothing is there. */
  get next(): NextToGo | null {
    return this.#expiry.next;
  }

  get bytesMax(): number {
    return this.#options.bytesMax;
  }

  /** Removes what is too old, and the oldest of who keeps too much. One at a time. */
  expire(): Promise<void> {
    return this.#expiry.expire();
  }

  /** What a user keeps here, or a little more. */
  bytesOf(user: string): number {
    return this.#expiry.bytesOf(user);
  }

  /** Room is short for what a user sends: the oldest of theirs go. False: they keep too little. */
  relinquish(user: string, bytes: number): Promise<boolean> {
    return this.#expiry.relinquish(user, bytes);
  }

  /** Resolves once the part is on the disk. Storing the same part again does no harm. */
  store(caller: EpochCaller, outputs: Outputs): Promise<Result<PartAmounts, Refusal>> {
    return this.#intake.store(caller, outputs);
  }

  /** The tasks of a job that have files here, by index, from `from` on; all done ones are seen. */
  async list(jobId: number, page: { from: number; limit: number }): Promise<TaskArchive[]> {
    await this.settled(jobId);
    return listShelves(this.#places, jobId, page);
  }

  /** The first tasks of a page, as many as one answer may have with their manifests. */
  read(jobId: number, page: readonly TaskArchive[]): Promise<ReadPage> {
    return readPage(this.#places, jobId, page);
  }

  /** What is kept of a job together; null: nothing. */
  async amounts(jobId: number): Promise<KeptAmounts | null> {
    await this.settled(jobId);
    const page = { from: 0, limit: TASKS_COUNTED_MAX + 1 };
    return this.#amounts.of(jobId, () => listShelves(this.#places, jobId, page));
  }

  /** The same of several jobs together. */
  async amountsOfAll(jobIds: readonly number[]): Promise<KeptAmounts | null> {
    let sum: Removed | null = null;
    let more = false;
    for (const jobId of jobIds) {
      const kept = await this.amounts(jobId);
      if (kept === null) continue;
      sum = added(sum ?? NOTHING, kept);
      more = kept.more || sum.tasks > TASKS_COUNTED_MAX;
      if (more) break;
    }
    return sum === null ? null : { ...sum, more };
  }

  /** Returns null when nothing is kept of it. */
  async manifest(shelf: Shelf): Promise<JobManifest | 'damaged' | null> {
    await this.settled(shelf.jobId);
    return readWhole(this.#places.task(shelf), shelf);
  }

  /** Where its folders are. */
  get places(): ArchivePlaces {
    return this.#places;
  }

  /** Removes all that is kept of a job. */
  async remove(jobId: number): Promise<Removed> {
    const tasks = await this.list(jobId, { from: 0, limit: Number.MAX_SAFE_INTEGER });
    if (tasks.length === 0) return NOTHING;
    const trash: string[] = [];
    for (const [at, { index }] of tasks.entries()) {
      if (at % REMOVED_PER_TURN === REMOVED_PER_TURN - 1) await new Promise(setImmediate);
      const shelf = { jobId, index: index ?? 0, isArray: index !== null };
      const home = homeBehind(this.#places.task(shelf));
      if (home !== null && existsSync(home)) trash.push(...discardJob(this.#places, home, shelf));
    }
    const folder = this.#places.job(jobId);
    if (existsSync(folder)) trash.push(this.#places.discard(folder));
    const removed = sumOf(tasks);
    this.#amounts.forget();
    this.#expiry.removed(jobId, removed.bytes);
    // Its parts as well: they would become a folder again.
    await Promise.all([this.#disk.settle([this.#places.jobs]), this.#parts.settle()]);
    for (const one of trash) await rm(one, { recursive: true, force: true });
    return removed;
  }

  /** Removes all that is kept of a batch, which these jobs have run. */
  async removeBatch(batch: BatchName, jobIds: readonly number[]): Promise<Removed> {
    let removed: Removed = NOTHING;
    for (const jobId of jobIds) removed = added(removed, await this.remove(jobId));
    for (const one of discardEmpty(this.#places, this.#places.batch(batch))) {
      await rm(one, { recursive: true, force: true });
    }
    return removed;
  }

  /** Resolves when all of the job's done tasks have their folders, or cannot have them now. */
  settled(jobId: number): Promise<void> {
    return this.#publisher.settled(jobId);
  }
}
