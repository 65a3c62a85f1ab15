// Removing what is too old, and the oldest of who keeps too much, one look at a time.

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { JobManifest } from '../../files/job-manifest.ts';
import type { KeptTotal } from '../kept-total.ts';
import type { ArchivePlaces, Shelf } from './archive-places.ts';
import { discardEmpty, discardJob, removeEmpty } from './batch-folder.ts';
import type { ArchiveOptions } from './options.ts';
import { bytesByOwner, type KeptTask, keptTasks, oldBatches, planRetention } from './retention.ts';

export interface ExpiryOptions
  extends Pick<ArchiveOptions, 'ageMs' | 'bytesMax' | 'clock' | 'certainNow' | 'log'> {
  readonly places: ArchivePlaces;
  readonly total: KeptTotal;
  /** Files of a task have gone. */
  readonly onRemoved: () => void;
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
  /** By user: room that is short for what they send, or what their jobs leave. */
  readonly #wanted = new Map<string, number>();
  /** What each user keeps: at least what was there at the last look. */
  #byOwner = new Map<string, number>();
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
  added(shelf: Shelf, { owner, bytes, storedAt }: JobManifest): void {
    const { places, total } = this.#options;
    total.add(bytes);
    this.#byOwner.set(owner, this.bytesOf(owner) + bytes);
    if (this.#oldest.length === 0) {
      this.#oldest = [{ shelf, folder: places.home(shelf), owner, bytes, storedAt }];
    }
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

  /** What a user keeps, and a little more where something of it went since the last look. */
  bytesOf(user: string): number {
    return this.#byOwner.get(user) ?? 0;
  }

  /** A user's room is short: the oldest of theirs go. False: they keep too little. */
  async relinquish(user: string, bytes: number): Promise<boolean> {
    if (bytes > this.bytesOf(user)) return false;
    this.#wanted.set(user, Math.max(this.#wanted.get(user) ?? 0, bytes));
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
    const { certainNow = () => clock.now() } = this.#options;
    const since = total.bytes;
    const kept: KeptTask[] = [];
    for await (const one of keptTasks(places)) {
      if (this.#isClosing) return;
      kept.push(one);
    }
    const all = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    const wanted = [...this.#wanted].map(([owner, bytes]) => ({ owner, bytes }));
    this.#wanted.clear();
    const { bytesMax } = this.#options;
    const goes = planRetention(kept, { now: certainNow(), ageMs, bytesMax, wanted });
    total.counted(all, since);
    this.#byOwner = bytesByOwner(kept);
    for (const one of goes) {
      if (this.#isClosing) return;
      await this.#removeTask(one);
      const { shelf, owner, bytes } = one;
      const { jobId: job, index } = shelf;
      log.info({ job, index, owner, bytes }, 'removed the archived files of a task');
    }
    this.#oldest = oldestOf(kept, new Set(goes));
    for await (const folder of oldBatches(places, { now: certainNow(), ageMs })) {
      for (const one of discardEmpty(places, folder)) {
        await rm(one, { recursive: true, force: true });
      }
    }
  }

  async #removeTask({ shelf, folder, owner, bytes }: KeptTask): Promise<void> {
    const { total, onRemoved } = this.#options;
    // Its owner may have removed it meanwhile.
    if (!existsSync(folder)) return;
    const trash = this.#discard(folder, shelf);
    total.add(-bytes);
    this.#byOwner.set(owner, Math.max(0, this.bytesOf(owner) - bytes));
    onRemoved();
    for (const one of trash) await rm(one, { recursive: true, force: true });
  }

  #discard(folder: string, shelf: Shelf): string[] {
    const { places } = this.#options;
    if (folder !== places.task(shelf)) return discardJob(places, folder, shelf);
    const trash = places.discard(folder);
    if (shelf.isArray) removeEmpty(path.dirname(folder));
    return [trash];
  }
}

/** The oldest of those that stay; none or one. */
function oldestOf(kept: readonly KeptTask[], goes: ReadonlySet<KeptTask>): KeptTask[] {
  const stays = kept.filter((task) => !goes.has(task));
  if (stays.length === 0) return [];
  return [stays.reduce((a, b) => (b.storedAt < a.storedAt ? b : a))];
}
