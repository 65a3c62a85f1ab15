// What jobs leave behind, kept on the head. A node stores its part while its task is not done; when it is,
// the parts become a folder of plain files. Killed anywhere in between, the head goes on from what is on the
// disk and in the history: a part without its task is finished or removed, and a folder is whole or not there.

import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { err, ok, type Result } from '../../core/base/result.ts';
import { formatSize } from '../../core/base/size.ts';
import {
  amountsOf,
  type JobManifest,
  type Outputs,
  type TaskArchive,
} from '../../core/batch/job-manifest.ts';
import type { References } from '../../core/blobs/references.ts';
import type { BlobHash } from '../../core/model/blob.ts';
import { type Refusal, refuse } from '../../core/model/errors.ts';
import type { Clock, Timer } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { isFull } from '../blobs/disk-errors.ts';
import type { Engine } from '../engine.ts';
import type { Committed } from '../engine-options.ts';
import { type EpochCaller, epochCaller } from '../http/epoch-caller.ts';
import { KeptTotal } from '../kept-total.ts';
import { ArchivePlaces, type Shelf } from './archive-places.ts';
import { syncFolder } from './durable.ts';
import { makeFolder, manifestOf } from './make-folder.ts';
import { type Part, type PartName, Parts } from './parts.ts';
import { type KeptTask, keptTasks, planRetention } from './retention.ts';
import { largestJobId, listShelves, readManifest } from './shelves.ts';
import { verdictOn } from './verdict.ts';

/** Folders that are made at a time. */
const TASKS_AT_ONCE = 8;
/** How often what is too old is looked for. */
const EXPIRE_MS = 3_600_000;
/** After a failure, as of a full disk. */
const AGAIN_MS = 10_000;
/** Contents looked at in one turn: a millisecond or two. */
const LOOKS_PER_TURN = 100;
/** Tasks of an array that are looked at to say how much is kept of it. */
const TASKS_COUNTED_MAX = 1000;
/** Files named in a refusal. */
const SHOWN_MAX = 3;

export interface ArchiveOptions {
  /** Made when it is not there; on the disk of the blobs. */
  readonly directory: string;
  readonly bytesMax: number;
  /** What is older goes. */
  readonly ageMs: number;
  readonly blobs: Pick<BlobStore, 'mayRead' | 'sizeOf' | 'linkTo'>;
  readonly names: References;
  readonly clock: Clock;
  readonly log: Log;
}

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #places: ArchivePlaces;
  readonly #parts: Parts;
  readonly #total: KeptTotal;
  /** Parts that are on the disk, by task. */
  readonly #stored = new Map<string, Map<string, PartName>>();
  /** Tasks that are looked at, or will be, by job. */
  readonly #settling = new Map<number, Set<Promise<void>>>();
  #running = 0;
  #expiring: Promise<void> | null = null;
  #isExpiryDue = false;
  /** On the disk, by others. */
  #bytesWanted = 0;
  #oldest: readonly KeptTask[] = [];
  readonly #waiting: (() => void)[] = [];
  #engine: Pick<Engine, 'state' | 'store'> | null = null;
  #isClosing = false;
  readonly #timers = new Set<Timer>();

  constructor(options: ArchiveOptions) {
    const { directory, bytesMax, log } = options;
    this.#options = options;
    this.#places = new ArchivePlaces(directory);
    this.#parts = new Parts(this.#places);
    this.#total = new KeptTotal({ directory, bytesMax, what: 'archived files', log });
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
    for await (const part of this.#parts.all()) this.#note(part);
  }

  /** Goes on with what an earlier head has left, and follows this one. */
  attach(engine: Pick<Engine, 'state' | 'store' | 'onCommitted'>): void {
    this.#engine = engine;
    for (const parts of this.#stored.values()) {
      const [first] = parts.values();
      if (first !== undefined) this.#settle(first.shelf, true);
    }
    engine.onCommitted((committed) => this.#follow(committed));
  }

  /** To be called when the head serves: now there is time to look at all that is there. */
  begin(): void {
    const timer = this.#options.clock.after(EXPIRE_MS, () => {
      this.#timers.delete(timer);
      this.begin();
    });
    this.#timers.add(timer);
    void this.expire();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#expiring;
    for (const timer of this.#timers) timer.cancel();
    for (const tasks of this.#settling.values()) await Promise.all(tasks);
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
    const [oldest] = this.#oldest;
    if (oldest === undefined) return null;
    const { shelf, bytes, storedAt } = oldest;
    return { jobId: shelf.jobId, bytes, goesAt: storedAt + this.#options.ageMs };
  }

  get bytesMax(): number {
    return this.#options.bytesMax;
  }

  /** Removes what is too old, and the oldest of what is too much. One at a time. */
  expire(): Promise<void> {
    // One that is under way may have looked too early.
    this.#isExpiryDue = true;
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
    if (bytes > this.#total.bytes) return false;
    this.#bytesWanted = Math.max(this.#bytesWanted, bytes);
    await this.expire();
    return true;
  }

  async #expireWhileDue(): Promise<void> {
    while (this.#isExpiryDue && !this.#isClosing) {
      this.#isExpiryDue = false;
      await this.#expireNow();
    }
  }

  async #expireNow(): Promise<void> {
    const { ageMs, clock, log } = this.#options;
    const since = this.#total.bytes;
    const kept: KeptTask[] = [];
    for await (const one of keptTasks(this.#places)) {
      if (this.#isClosing) return;
      kept.push(one);
    }
    const total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    const bytesMax = Math.min(this.#options.bytesMax, total - this.#bytesWanted);
    this.#bytesWanted = 0;
    const { inOrder, goes } = planRetention(kept, { now: clock.now(), ageMs, bytesMax });
    this.#total.counted(total, since);
    for (const { shelf, bytes } of inOrder.slice(0, goes)) {
      if (this.#isClosing) return;
      await this.#removeTask(shelf, bytes);
      const { jobId: job, index } = shelf;
      log.info({ job, index, bytes }, 'removed the archived files of a task, the oldest ones');
    }
    this.#oldest = inOrder.slice(goes, goes + 1);
  }

  async #removeTask(shelf: Shelf, bytes: number): Promise<void> {
    const folder = this.#places.task(shelf);
    // Its owner may have removed it meanwhile.
    if (!existsSync(folder)) return;
    const trash = this.#places.discard(folder);
    this.#total.add(-bytes);
    if (shelf.isArray && readdirSync(path.dirname(folder)).length === 0) {
      rmdirSync(path.dirname(folder));
    }
    await rm(trash, { recursive: true, force: true });
  }

  /** It is on the disk when this resolves. The same again is no matter. */
  async store(caller: EpochCaller, outputs: Outputs): Promise<Result<PartAmounts, Refusal>> {
    const amounts = { ...amountsOf(outputs.entries), leftOut: outputs.leftOut.length };
    const { bytesMax } = this.#options;
    if (amounts.bytes > bytesMax) {
      const details = { size: formatSize(amounts.bytes), limit: formatSize(bytesMax) };
      return err(refuse('outputs.too_large', details, 'Name what is wanted with --out.'));
    }
    const held = await this.#checkHeld(caller.owner, outputs);
    if (held !== null) return err(held);
    const part = this.#partOf(caller, outputs);
    if (part === null) return err(notRunning(caller));
    this.#name(part);
    const full = await this.#write(part);
    if (full !== null) return err(full);
    // The task may have been given to others meanwhile: then nobody would ever finish this part.
    const now = this.#caller(caller);
    if (now.ok) {
      this.#note(part);
      return ok(amounts);
    }
    if (!this.#isNoted(part)) await this.#drop([part]);
    return now;
  }

  async #write(part: Part): Promise<Refusal | null> {
    try {
      await this.#parts.write(part);
      return null;
    } catch (error) {
      if (!this.#isNoted(part)) this.#options.names.remove(namingOf(part));
      if (!isFull(error)) throw error;
      return refuse('blob.disk_full', { cause: (error as Error).message });
    }
  }

  #isNoted(part: Part): boolean {
    return this.#stored.get(keyOf(part.shelf))?.has(partKey(part)) === true;
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
    this.#oldest = this.#oldest.filter(({ shelf }) => shelf.jobId !== jobId);
    this.#total.add(-tasks.reduce((sum, { bytes }) => sum + bytes, 0));
    await syncFolder(this.#places.jobs);
    await rm(trash, { recursive: true, force: true });
    return tasks.length;
  }

  /** Resolves when all of the job's tasks that are done have their folders, or cannot have them now. */
  async settled(jobId: number): Promise<void> {
    await Promise.all(this.#settling.get(jobId) ?? []);
  }

  #follow({ events }: Committed): void {
    if (this.#stored.size === 0) return;
    for (const event of events) {
      if (event.kind !== 'task_done' && event.kind !== 'task_requeued') continue;
      const { jobId, index } = event.place;
      const shelf = { jobId, index: index ?? 0, isArray: index !== null };
      if (this.#stored.has(keyOf(shelf))) this.#settle(shelf, false);
    }
  }

  /** Looks what has become of a task of which there are parts. */
  #settle(shelf: Shelf, isStart: boolean): void {
    const { jobId } = shelf;
    const settling = this.#settling.get(jobId) ?? new Set();
    this.#settling.set(jobId, settling);
    const one = this.#inTurn(() => this.#settleNow(shelf, isStart))
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

  async #settleNow(shelf: Shelf, isStart: boolean): Promise<void> {
    const names = [...(this.#stored.get(keyOf(shelf))?.values() ?? [])];
    if (names.length === 0 || this.#engine === null) return;
    const { finished, dropped, row } = await verdictOn(this.#engine, names, isStart);
    if (row !== null && finished.length > 0) {
      const parts = await Promise.all(finished.map((name) => this.#parts.read(name)));
      const whole = parts.filter((part) => part !== null);
      if (whole.length > 0) await this.#publish(shelf, manifestOf(byRank(whole), row));
    }
    await this.#drop([...finished, ...dropped]);
  }

  /** The folder comes at once, whole; one of the same start is there when a head was killed after this. */
  async #publish(shelf: Shelf, manifest: JobManifest): Promise<void> {
    const folder = this.#places.task(shelf);
    const there = await readManifest(folder);
    if (there !== null && isSameStart(there, manifest)) return;
    if (there !== null) {
      const { owner, name, epoch } = there;
      throw new Error(`${folder} has files of another: ${owner}'s ${name}, start ${epoch}`);
    }
    const aside = this.#places.aside();
    try {
      await makeFolder(aside, manifest, (hash, to) => this.#options.blobs.linkTo(hash, to));
      // In one turn: whoever removes the job's folder meanwhile does not take the one above away.
      if (shelf.isArray) mkdirSync(path.dirname(folder), { recursive: true, mode: 0o700 });
      renameSync(aside, folder);
    } catch (error) {
      await rm(aside, { recursive: true, force: true });
      throw error;
    }
    await syncFolder(path.dirname(folder));
    if (shelf.isArray) await syncFolder(this.#places.jobs);
    this.#total.add(manifest.bytes);
    this.#oldest = this.#oldest.length > 0 ? this.#oldest : [{ ...manifest, shelf }];
    if (this.#total.bytes > this.#options.bytesMax) void this.expire();
  }

  async #checkHeld(owner: string, { entries }: Outputs): Promise<Refusal | null> {
    const { blobs } = this.#options;
    const missing: string[] = [];
    for (const [at, { path: name, sha256, size }] of entries.entries()) {
      if (at % LOOKS_PER_TURN === LOOKS_PER_TURN - 1) await new Promise(setImmediate);
      if (sha256 === undefined) continue;
      const isTheirs = blobs.mayRead({ user: owner, by: null }, sha256);
      const actual = isTheirs ? blobs.sizeOf(sha256) : null;
      if (actual === null) missing.push(JSON.stringify(name));
      else if (actual !== size) {
        const what = `${JSON.stringify(name)} has ${size} bytes, its content ${actual}`;
        return refuse('argument.invalid', { what });
      }
    }
    if (missing.length === 0) return null;
    const shown = missing.slice(0, SHOWN_MAX).join(', ');
    const files = missing.length > SHOWN_MAX ? `${shown}, …` : shown;
    return refuse('files.lacking', { count: String(missing.length), files }, 'Send them first.');
  }

  #caller({ node, epochId }: EpochCaller): Result<EpochCaller, Refusal> {
    if (this.#engine === null) return err(refuse('head.starting', {}));
    return epochCaller(this.#engine.state, node, epochId);
  }

  #partOf(caller: EpochCaller, outputs: Outputs): Part | null {
    const { jobId, index, epochId, epoch, node, nodeRank, owner } = caller;
    const job = this.#engine?.state.jobs.get(jobId);
    if (job === undefined) return null;
    const { name, array } = job.spec;
    return {
      ...{ version: 1, epochId, shelf: { jobId, index, isArray: array !== null } },
      ...{ epoch, node, nodeRank, owner, jobName: name, storedAt: this.#options.clock.now() },
      ...outputs,
    };
  }

  #note(part: Part): void {
    const { epochId, shelf, epoch, node, nodeRank, owner } = part;
    const key = keyOf(shelf);
    const parts = this.#stored.get(key) ?? new Map<string, PartName>();
    parts.set(partKey(part), { epochId, shelf, epoch, node, nodeRank, owner });
    this.#stored.set(key, parts);
    this.#name(part);
  }

  #name(part: Part): void {
    const hashes = part.entries.flatMap(({ sha256 }) => (sha256 === undefined ? [] : [sha256]));
    this.#options.names.set(namingOf(part), part.owner, hashes as BlobHash[]);
  }

  async #drop(names: readonly PartName[]): Promise<void> {
    await this.#parts.remove(names);
    for (const name of names) {
      const key = keyOf(name.shelf);
      const parts = this.#stored.get(key);
      parts?.delete(partKey(name));
      if (parts?.size === 0) this.#stored.delete(key);
      this.#options.names.remove(namingOf(name));
    }
  }
}

export interface NextToGo {
  readonly jobId: number;
  readonly bytes: number;
  /** Earlier when room is short. */
  readonly goesAt: number;
}

export interface KeptAmounts extends PartAmounts {
  readonly tasks: number;
  /** There are more tasks than were counted. */
  readonly more: boolean;
}

export interface PartAmounts {
  readonly files: number;
  readonly bytes: number;
  readonly leftOut: number;
}

function keyOf({ jobId, index }: Shelf): string {
  return `${jobId} ${index}`;
}

function partKey({ epochId, nodeRank }: Pick<Part, 'epochId' | 'nodeRank'>): string {
  return `${epochId}.${nodeRank}`;
}

function namingOf(part: Pick<Part, 'epochId' | 'nodeRank'>): string {
  return `part ${partKey(part)}`;
}

/** After lost records another job may have the id. */
function isSameStart(there: JobManifest, { owner, epoch, startedAt }: JobManifest): boolean {
  return there.owner === owner && there.epoch === epoch && there.startedAt === startedAt;
}

function byRank(parts: readonly Part[]): Part[] {
  return [...parts].sort((a, b) => a.nodeRank - b.nodeRank);
}

function notRunning({ node, epochId }: EpochCaller): Refusal {
  return refuse('epoch.not_running', { node, epoch: epochId });
}
