// Keeps captured output within a total: when it is passed, output of done jobs goes, the oldest
// first, of users who keep more than an equal share of it; a note of which jobs those were stays.

import path from 'node:path';
import { Shares } from '../../files/blobs/shares.ts';
import type { JobId } from '../../model/ids.ts';
import type { Log } from '../../ports/log.ts';
import { KeptTotal } from '../kept-total.ts';
import type { LogJobs } from './log-jobs.ts';
import { bucketOf, JOBS_PER_BUCKET } from './log-path.ts';
import { LogTree } from './log-tree.ts';

/** Room is made down to this share, so that the next byte does not begin the search again. */
const LEFT_SHARE = 0.9;
/** After a search that could not make enough room. */
const AGAIN_AFTER_MS = 5000;

export interface LogBudgetOptions {
  readonly directory: string;
  readonly bytesMax: number;
  readonly jobs: LogJobs;
  /** Called with each file that is about to go, as a path from `directory`. */
  readonly onRemove: (relative: string) => void;
  readonly log: Log;
}

export class LogBudget {
  readonly #options: LogBudgetOptions;
  readonly #total: KeptTotal;
  readonly #tree: LogTree;
  readonly #amounts: LogAmounts;
  #isKnown = true;
  #isClosing = false;
  #making: Promise<void> | null = null;
  #notBefore = 0;
  /** Something came while room was made, and nobody looked whether there is enough for it. */
  #hasNews = false;
  #again: NodeJS.Timeout | undefined;

  constructor(options: LogBudgetOptions) {
    this.#options = options;
    this.#total = new KeptTotal({ ...options, what: 'output' });
    this.#tree = new LogTree(options.directory);
    this.#amounts = new LogAmounts(this.#tree, options.jobs);
  }

  /** Reads what the last head has left: one file, however many there are. */
  async prepare(): Promise<void> {
    this.#isKnown = await this.#total.read();
  }

  /** To be called when the head serves: now there is time to look at files, should it be needed. */
  begin(): void {
    if (this.#isKnown) this.#makeRoomIfNeeded();
    else this.#work(() => this.#makeRoom());
  }

  /** Counts bytes that were added to a file; `relative` is its path from `directory`. */
  add(relative: string, bytes: number): void {
    this.#amounts.changed(Number.parseInt(relative, 10));
    this.#total.add(bytes);
    this.#makeRoomIfNeeded();
  }

  /** Stops what looks at files between two jobs. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#again);
    await this.#making;
    await this.#total.close();
  }

  async jobIdSeen(): Promise<number> {
    const newest = (await this.#tree.buckets()).at(-1);
    return newest === undefined ? 0 : (newest + 1) * JOBS_PER_BUCKET - 1;
  }

  async wasRemoved(jobId: number): Promise<boolean> {
    return (await this.#tree.removed(Number(bucketOf(jobId as JobId)))).has(jobId);
  }

  #makeRoomIfNeeded(): void {
    this.#hasNews = this.#making !== null;
    if (this.#total.bytes <= this.#options.bytesMax || performance.now() < this.#notBefore) return;
    this.#work(() => this.#makeRoom());
  }

  /** Output that comes last has nobody after it to ask for room. */
  #lookAgain(): void {
    if (this.#isClosing || !this.#hasNews) return;
    this.#hasNews = false;
    clearTimeout(this.#again);
    const waitMs = Math.max(0, this.#notBefore - performance.now());
    this.#again = setTimeout(() => {
      // A timer may be early by a part of a millisecond.
      this.#notBefore = 0;
      this.#makeRoomIfNeeded();
    }, waitMs).unref();
  }

  /** One thing at a time, and beside everything else. */
  #work(work: () => Promise<void>): void {
    if (this.#making !== null) return;
    const { log } = this.#options;
    this.#making = work()
      .catch((error: unknown) => {
        this.#notBefore = performance.now() + AGAIN_AFTER_MS;
        log.warn({ error: String(error) }, 'cannot remove old output');
      })
      .finally(() => {
        this.#making = null;
        this.#lookAgain();
      });
  }

  /** Nothing is removed on a guess: what lies on the disk is counted first. */
  async #makeRoom(): Promise<void> {
    const { bytesMax, log } = this.#options;
    const byOwner = await this.#count();
    if (byOwner === null || this.#total.bytes <= bytesMax) return;
    await this.#removeOldest(new Shares(byOwner, { bytesMax, leftShare: LEFT_SHARE }));
    const bytes = this.#total.bytes;
    if (bytes <= bytesMax || this.#isClosing) return;
    this.#notBefore = performance.now() + AGAIN_AFTER_MS;
    log.warn({ bytes, bytesMax }, 'the output of unfinished jobs exceeds head.log_total');
  }

  /** What is kept of whom. Output coming meanwhile counts once or twice. Null: the head stops. */
  async #count(): Promise<Map<string, number> | null> {
    const since = this.#total.bytes;
    const found = new Map<string, number>();
    const buckets = await this.#tree.buckets();
    this.#amounts.keepOnly(buckets);
    let all = 0;
    for (const bucket of buckets) {
      const byOwner = await this.#amounts.byOwner(bucket);
      if (this.#isClosing) return null;
      for (const [owner, bytes] of byOwner) {
        found.set(owner, (found.get(owner) ?? 0) + bytes);
        all += bytes;
      }
    }
    this.#total.counted(all, since);
    this.#isKnown = true;
    return found;
  }

  async #removeOldest(shares: Shares): Promise<void> {
    for (const bucket of await this.#tree.buckets()) {
      const owners = [...(await this.#amounts.byOwner(bucket)).keys()];
      if (!owners.some((owner) => shares.gives(owner))) continue;
      for (const kept of await this.#amounts.jobsOf(bucket)) {
        if (this.#isClosing) return;
        if (!this.#options.jobs.isDone(kept.job)) continue;
        if (shares.takes(kept.owner, kept.bytes)) await this.#remove(bucket, kept);
        // There is room by now, and more than a little would go.
        else if (shares.gives(kept.owner)) return;
      }
    }
  }

  async #remove(bucket: number, { job, owner }: JobAmount): Promise<void> {
    const bytes = await this.#tree.bytesOf(bucket, job);
    const files = await this.#tree.files(bucket, job);
    for (const name of files) this.#options.onRemove(path.join(String(bucket), String(job), name));
    await this.#tree.remove(bucket, job);
    this.#amounts.changed(bucket);
    this.#total.add(-bytes);
    this.#options.log.info({ job, owner, bytes }, 'removed old output to make room');
  }
}

// How much output is kept of each user, by bucket: a bucket is looked at again only when something
// has come or gone there since.

interface JobAmount {
  readonly job: number;
  /** '': nobody knows. */
  readonly owner: string;
  readonly bytes: number;
}

class LogAmounts {
  readonly #tree: LogTree;
  readonly #jobs: LogJobs;
  readonly #known = new Map<number, ReadonlyMap<string, number>>();
  /** Buckets in which something came while they were looked at. */
  readonly #changed = new Set<number>();

  constructor(tree: LogTree, jobs: LogJobs) {
    this.#tree = tree;
    this.#jobs = jobs;
  }

  /** Something has come there, or has gone. */
  changed(bucket: number): void {
    this.#known.delete(bucket);
    this.#changed.add(bucket);
  }

  /** What is kept in a bucket of whom. */
  async byOwner(bucket: number): Promise<ReadonlyMap<string, number>> {
    const known = this.#known.get(bucket);
    if (known !== undefined) return known;
    this.#changed.delete(bucket);
    const found = new Map<string, number>();
    for (const { owner, bytes } of await this.jobsOf(bucket)) {
      found.set(owner, (found.get(owner) ?? 0) + bytes);
    }
    if (!this.#changed.has(bucket)) this.#known.set(bucket, found);
    return found;
  }

  /** What is kept there of each job, oldest first. */
  async jobsOf(bucket: number): Promise<JobAmount[]> {
    const jobs = await this.#tree.jobs(bucket);
    const owners = await this.#jobs.ownersOf(jobs);
    const found: JobAmount[] = [];
    for (const job of jobs) {
      const bytes = await this.#tree.bytesOf(bucket, job);
      found.push({ job, owner: owners.get(job) ?? '', bytes });
    }
    return found;
  }

  /** Buckets that are gone are not remembered. */
  keepOnly(buckets: readonly number[]): void {
    const there = new Set(buckets);
    for (const bucket of this.#known.keys()) if (!there.has(bucket)) this.#known.delete(bucket);
    for (const bucket of this.#changed) if (!there.has(bucket)) this.#changed.delete(bucket);
  }
}
