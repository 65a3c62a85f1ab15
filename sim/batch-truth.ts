// The ground truth about batches: which job of each is over and how, gathered from durable records
// alone; and what was built where, gathered from what ran.

import type { Event } from '../src/kernel/machine/declared.ts';
import type { Of } from '../src/kernel/machine/events.ts';
import { indicesOf, parseIndices } from '../src/kernel/machine/jobs/indices.ts';
import { formatBatch } from '../src/kernel/model/batch.ts';
import type { JobId, UserName } from '../src/kernel/model/ids.ts';
import type { OutcomeKind } from '../src/kernel/model/job.ts';

export interface BatchTruth {
  readonly title: string;
  readonly owner: UserName;
  readonly jobCount: number;
  /** Those that it comes after, though another may have their name by now. */
  readonly after: readonly BatchTruth[];
  /** By number of the job: how it ended, or the part that is to run it. */
  readonly jobs: Map<number, OutcomeKind | 'open'>;
  /** Nodes where its solver could not be built, as the head has noted. */
  readonly failed: Set<string>;
  /** How often nodes that could not build it were to try again. */
  tries: number;
  /** Since it was to be built anew its builds are its own. */
  isRenewed: boolean;
}

export interface BatchPart {
  readonly batch: BatchTruth;
  readonly numbers: readonly number[];
  /** What it comes after: a batch that was removed before it was given is no matter to it. */
  readonly after: readonly BatchTruth[];
}

export class BatchesTruth {
  /** By title; those removed or forgotten are gone. */
  readonly batches = new Map<string, BatchTruth>();
  /** By job: of which batch it is a part, with the number of each of its items. */
  readonly parts = new Map<JobId, BatchPart>();
  /** By owner and key of a solver: how often it was to be built anew. */
  readonly renewals = new Map<string, number>();
  readonly #keys = new Map<BatchTruth, Set<string>>();

  /** A durable event. */
  learn(event: Event): void {
    switch (event.kind) {
      case 'batch_submitted': {
        const { owner, jobs } = event;
        const title = formatBatch(event.batch);
        const after = event.after.flatMap((one) => this.batches.get(one) ?? []);
        const made = { title, owner, after, jobCount: jobs.length, tries: 0, isRenewed: false };
        this.batches.set(title, { ...made, jobs: new Map(), failed: new Set() });
        return;
      }
      case 'job_submitted':
        return this.#join(event);
      case 'task_done':
        return this.#ended(event.place.jobId, [event.place.index ?? 0], event.outcome.kind);
      case 'pending_ended':
        return this.#ended(event.jobId, parseIndices(event.indices), event.outcome.kind);
      case 'build_failed':
        this.batches.get(formatBatch(event.batch))?.failed.add(event.node);
        return;
      case 'failed_builds_forgotten':
        return this.#tryAgain(event.batch);
      case 'build_renewed':
        return this.#renew(event.batch);
      case 'batch_removed':
        this.batches.delete(event.batch);
        return;
      case 'batches_forgotten':
        for (const title of event.batches) this.batches.delete(title);
        return;
      default:
    }
  }

  #join({ jobId, owner, spec }: Of<'job_submitted'>): void {
    const batch = spec.batch === undefined ? undefined : this.batches.get(formatBatch(spec.batch));
    if (spec.batch === undefined || batch === undefined) return;
    const numbers = [...parseIndices(spec.batch.numbers)];
    const after = batch.after.filter((one) => this.batches.get(one.title) === one);
    this.parts.set(jobId, { batch, numbers, after });
    for (const item of indicesOf(spec.array)) batch.jobs.set(numbers[item] as number, 'open');
    if (spec.batch.build === undefined) return;
    const keys = this.#keys.get(batch) ?? new Set();
    const key = solverOf(owner, spec.batch.build);
    if (batch.isRenewed && !keys.has(key)) this.#allowAnother(key);
    this.#keys.set(batch, keys.add(key));
  }

  #ended(jobId: JobId, items: Iterable<number>, kind: OutcomeKind): void {
    const part = this.parts.get(jobId);
    for (const item of items) part?.batch.jobs.set(part.numbers[item] as number, kind);
  }

  #tryAgain(title: string): void {
    const batch = this.batches.get(title);
    if (batch === undefined) return;
    batch.failed.clear();
    batch.tries += 1;
  }

  #renew(title: string): void {
    this.#tryAgain(title);
    const batch = this.batches.get(title);
    if (batch === undefined) return;
    batch.isRenewed = true;
    for (const key of this.#keys.get(batch) ?? []) this.#allowAnother(key);
  }

  #allowAnother(key: string): void {
    this.renewals.set(key, (this.renewals.get(key) ?? 0) + 1);
  }
}

export function solverOf(owner: string, key: string): string {
  return `${owner} ${key}`;
}

export function isOver({ jobs, jobCount }: BatchTruth): boolean {
  return jobs.size === jobCount && ![...jobs.values()].includes('open');
}
