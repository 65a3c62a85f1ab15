// Removing what is too old, and the oldest of what is too much, one look at a time.

import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { JobManifest } from '../../core/batch/job-manifest.ts';
import type { KeptTotal } from '../kept-total.ts';
import type { ArchivePlaces, Shelf } from './archive-places.ts';
import type { ArchiveOptions } from './options.ts';
import { type KeptTask, keptTasks, planRetention } from './retention.ts';

export interface ExpiryOptions
  extends Pick<ArchiveOptions, 'ageMs' | 'bytesMax' | 'clock' | 'log'> {
  readonly places: ArchivePlaces;
  readonly total: KeptTotal;
}

export interface NextToGo {
  readonly jobId: number;
  readonly bytes: number;
  /** Earlier when room is short. */
  readonly goesAt: number;
}

export class Expiry {
  readonly #options: ExpiryOptions;
  #expiring: Promise<void> | null = null;
  #isDue = false;
  /** On the disk, by others. */
  #bytesWanted = 0;
  #oldest: readonly KeptTask[] = [];
  #isClosing = false;

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#expiring;
  }

  /** What goes next, as of the last look; null: nothing is there. */
  get next(): NextToGo | null {
    const [oldest] = this.#oldest;
    if (oldest === undefined) return null;
    const { shelf, bytes, storedAt } = oldest;
    return { jobId: shelf.jobId, bytes, goesAt: storedAt + this.#options.ageMs };
  }

  /** A folder more is there. */
  added(shelf: Shelf, manifest: JobManifest): void {
    this.#options.total.add(manifest.bytes);
    this.#oldest = this.#oldest.length > 0 ? this.#oldest : [{ ...manifest, shelf }];
    if (this.#options.total.bytes > this.#options.bytesMax) void this.expire();
  }

  /** Somebody has removed all of a job. */
  removed(jobId: number, bytes: number): void {
    this.#oldest = this.#oldest.filter(({ shelf }) => shelf.jobId !== jobId);
    this.#options.total.add(-bytes);
  }

  /** Removes what is too old, and the oldest of what is too much. One at a time. */
  expire(): Promise<void> {
    // One that is under way may have looked too early.
    this.#isDue = true;
    this.#expiring ??= this.#expireWhileDue()
      .catch((error: unknown) => {
        this.#options.log.warn({ error: String(error) }, 'cannot remove archived files');
      })
      .finally(() => {
        this.#expiring = null;
      });
    return this.#expiring;
  }

  /** Room is short on the disk: the oldest go, so many bytes and a little more. False: too little is here. */
  async relinquish(bytes: number): Promise<boolean> {
    if (bytes > this.#options.total.bytes) return false;
    this.#bytesWanted = Math.max(this.#bytesWanted, bytes);
    await this.expire();
    return true;
  }

  async #expireWhileDue(): Promise<void> {
    while (this.#isDue && !this.#isClosing) {
      this.#isDue = false;
      await this.#expireNow();
    }
  }

  async #expireNow(): Promise<void> {
    const { ageMs, clock, log, places, total } = this.#options;
    const since = total.bytes;
    const kept: KeptTask[] = [];
    for await (const one of keptTasks(places)) {
      if (this.#isClosing) return;
      kept.push(one);
    }
    const all = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    const bytesMax = Math.min(this.#options.bytesMax, all - this.#bytesWanted);
    this.#bytesWanted = 0;
    const { inOrder, goes } = planRetention(kept, { now: clock.now(), ageMs, bytesMax });
    total.counted(all, since);
    for (const { shelf, bytes } of inOrder.slice(0, goes)) {
      if (this.#isClosing) return;
      await this.#removeTask(shelf, bytes);
      const { jobId: job, index } = shelf;
      log.info({ job, index, bytes }, 'removed the archived files of a task, the oldest ones');
    }
    this.#oldest = inOrder.slice(goes, goes + 1);
  }

  async #removeTask(shelf: Shelf, bytes: number): Promise<void> {
    const { places, total } = this.#options;
    const folder = places.task(shelf);
    // Its owner may have removed it meanwhile.
    if (!existsSync(folder)) return;
    const trash = places.discard(folder);
    total.add(-bytes);
    if (shelf.isArray && readdirSync(path.dirname(folder)).length === 0) {
      rmdirSync(path.dirname(folder));
    }
    await rm(trash, { recursive: true, force: true });
  }
}
