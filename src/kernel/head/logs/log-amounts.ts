// How much output is kept of each user, by bucket: a bucket is looked at again only when something
// has come or gone there since.

import type { LogJobs } from './log-jobs.ts';
import type { LogTree } from './log-tree.ts';

export interface JobAmount {
  readonly job: number;
  /** '': nobody knows. */
  readonly owner: string;
  readonly bytes: number;
}

export class LogAmounts {
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
