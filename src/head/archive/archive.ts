// What jobs leave behind, kept on the head. A node stores its part while its task is not done; when it is,
// the parts become a folder of plain files. Killed anywhere in between, the head goes on from what is on the
// disk and in the history: a part without its task is finished or removed, and a folder is whole or not there.

import { mkdir, readdir, rm } from 'node:fs/promises';
import type { Result } from '../../core/base/result.ts';
import type { JobManifest, Outputs, TaskArchive } from '../../core/batch/job-manifest.ts';
import type { Refusal } from '../../core/model/errors.ts';
import type { Timer } from '../../ports/clock.ts';
import type { Engine } from '../engine.ts';
import type { EpochCaller } from '../http/epoch-caller.ts';
import { KeptTotal } from '../kept-total.ts';
import { ArchivePlaces, type Shelf } from './archive-places.ts';
import { syncFolder } from './durable.ts';
import { Expiry, type NextToGo } from './expiry.ts';
import { Intake, type PartAmounts } from './intake.ts';
import type { ArchiveOptions } from './options.ts';
import { Parts } from './parts.ts';
import { Publisher } from './publisher.ts';
import { largestJobId, listShelves, readManifest } from './shelves.ts';
import { StoredParts } from './stored-parts.ts';

/** How often what is too old is looked for. */
const EXPIRE_MS = 3_600_000;
/** Tasks of an array that are looked at to say how much is kept of it. */
const TASKS_COUNTED_MAX = 1000;

export interface KeptAmounts extends PartAmounts {
  readonly tasks: number;
  /** There are more tasks than were counted. */
  readonly more: boolean;
}

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #places: ArchivePlaces;
  readonly #stored: StoredParts;
  readonly #total: KeptTotal;
  readonly #intake: Intake;
  readonly #publisher: Publisher;
  readonly #expiry: Expiry;
  #timer: Timer | null = null;

  constructor(options: ArchiveOptions) {
    const { directory, bytesMax, log } = options;
    const places = new ArchivePlaces(directory);
    const parts = new Parts(places);
    const stored = new StoredParts(parts, options.names);
    const total = new KeptTotal({ directory, bytesMax, what: 'archived files', log });
    const expiry = new Expiry({ ...options, places, total });
    this.#options = options;
    this.#places = places;
    this.#stored = stored;
    this.#total = total;
    this.#expiry = expiry;
    this.#intake = new Intake(options, { parts, stored });
    const onPublished = expiry.added.bind(expiry);
    this.#publisher = new Publisher({ ...options, places, stored, onPublished });
  }

  /** Makes the folders, and removes what a head that was killed was about to make or to remove. */
  async prepare(): Promise<void> {
    const { jobs, parts, asides, trash } = this.#places;
    for (const folder of [asides, trash]) await rm(folder, { recursive: true, force: true });
    for (const folder of [jobs, parts, asides, trash]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    const isKnown = await this.#total.read();
    if (!isKnown && (await readdir(jobs)).length === 0) this.#total.counted(0, 0);
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
    await this.#total.close();
  }

  /** The largest id of a job that has files here: a head that has lost its records skips them. */
  jobIdSeen(): Promise<number> {
    return largestJobId(this.#places);
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

  /** Removes what is too old, and the oldest of what is too much. One at a time. */
  expire(): Promise<void> {
    return this.#expiry.expire();
  }

  /** Room is short on the disk: the oldest go, so many bytes and a little more. False: too little is here. */
  relinquish(bytes: number): Promise<boolean> {
    return this.#expiry.relinquish(bytes);
  }

  /** It is on the disk when this resolves. The same again is no matter. */
  store(caller: EpochCaller, outputs: Outputs): Promise<Result<PartAmounts, Refusal>> {
    return this.#intake.store(caller, outputs);
  }

  /** The tasks of a job that have files here, by index, from `from` on; all that are done are looked at. */
  async list(jobId: number, page: { from: number; limit: number }): Promise<TaskArchive[]> {
    await this.settled(jobId);
    return listShelves(this.#places, jobId, page);
  }

  /** What is kept of a job together; null: nothing. */
  async amounts(jobId: number): Promise<KeptAmounts | null> {
    const tasks = await this.list(jobId, { from: 0, limit: TASKS_COUNTED_MAX + 1 });
    if (tasks.length === 0) return null;
    const sum = { tasks: 0, files: 0, bytes: 0, leftOut: 0 };
    for (const { files, bytes, leftOut } of tasks.slice(0, TASKS_COUNTED_MAX)) {
      sum.tasks += 1;
      sum.files += files;
      sum.bytes += bytes;
      sum.leftOut += leftOut;
    }
    return { ...sum, more: tasks.length > TASKS_COUNTED_MAX };
  }

  /** Null: nothing is kept of it. */
  async manifest(shelf: Shelf): Promise<JobManifest | null> {
    await this.settled(shelf.jobId);
    return readManifest(this.#places.task(shelf));
  }

  /** Removes all that is kept of a job; how many tasks had something. */
  async remove(jobId: number): Promise<number> {
    const tasks = await this.list(jobId, { from: 0, limit: Number.MAX_SAFE_INTEGER });
    if (tasks.length === 0) return 0;
    const trash = this.#places.discard(this.#places.job(jobId));
    this.#expiry.removed(
      jobId,
      tasks.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    await syncFolder(this.#places.jobs);
    await rm(trash, { recursive: true, force: true });
    return tasks.length;
  }

  /** Resolves when all of the job's tasks that are done have their folders, or cannot have them now. */
  settled(jobId: number): Promise<void> {
    return this.#publisher.settled(jobId);
  }
}
