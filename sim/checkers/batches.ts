// The rules about batches, judged on the durable record and on what really runs: no two runs under
// one name (B3), nothing that has completed runs again (B4), none before those that it comes after
// (B5), each end is known (B6), and a solver is built once on a node (B7).

import type { Event } from '../../src/kernel/machine/declared.ts';
import type { Of } from '../../src/kernel/machine/events.ts';
import { indicesOf, parseIndices } from '../../src/kernel/machine/jobs/indices.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import { formatBatch } from '../../src/kernel/model/batch.ts';
import { type BatchesTruth, type BatchTruth, isOver, solverOf } from '../batch-truth.ts';
import type { BuildStep } from '../builds.ts';
import type { SimProcess } from '../process.ts';
import { placeOf, type Truth } from '../truth.ts';
import { Violation } from '../violation.ts';

/** An event that has become durable, judged against the truth before it. */
export function checkBatchEvent(truth: BatchesTruth, event: Event): void {
  switch (event.kind) {
    case 'batch_submitted': {
      const title = formatBatch(event.batch);
      if (truth.batches.has(title)) throw new Violation('B3', `batch ${title} begins twice`);
      return;
    }
    case 'job_submitted':
      return checkPart(truth, event);
    case 'task_allocated':
      return checkAllocated(truth, event);
    case 'pending_ended':
      return checkUnbuildable(truth, event);
    case 'batch_removed': {
      const batch = truth.batches.get(event.batch);
      if (batch !== undefined && isOver(batch)) return;
      throw new Violation('B6', `batch ${event.batch} is removed, and is not over`);
    }
    default:
  }
}

/** B4, and B2 where a submission counts twice: it runs what is not there yet or has failed. */
function checkPart({ batches }: BatchesTruth, { jobId, spec, owner }: Of<'job_submitted'>): void {
  if (spec.batch === undefined) return;
  const title = formatBatch(spec.batch);
  const batch = batches.get(title);
  if (batch?.owner !== owner) {
    throw new Violation('B3', `job ${jobId} of ${owner} is of batch ${title} of ${batch?.owner}`);
  }
  const numbers = [...parseIndices(spec.batch.numbers)];
  for (const item of indicesOf(spec.array)) {
    const kind = batch.jobs.get(numbers[item] as number);
    if (kind !== 'open' && kind !== 'completed') continue;
    throw new Violation('B4', `job ${jobId} runs ${numbers[item]} of ${title}, which is ${kind}`);
  }
}

function checkAllocated({ parts, batches }: BatchesTruth, event: Of<'task_allocated'>): void {
  const { place, shares } = event;
  const part = parts.get(place.jobId);
  if (part === undefined) return;
  const { batch, after } = part;
  const shunned = shares.find(({ node }) => batch.failed.has(node));
  if (shunned !== undefined && batches.get(batch.title) === batch) {
    throw new Violation(
      'B7',
      `${shunned.node} could not build ${batch.title}, and gets more of it`,
    );
  }
  for (const { title, jobs } of after) {
    const open = [...jobs].find(([, kind]) => kind !== 'completed');
    if (open === undefined) continue;
    throw new Violation('B5', `${batch.title} starts before ${open[0]} of ${title} is complete`);
  }
}

function checkUnbuildable({ parts }: BatchesTruth, { jobId, outcome }: Of<'pending_ended'>): void {
  if (outcome.kind !== 'build_failed') return;
  const batch = parts.get(jobId)?.batch;
  // One that is run again by itself is of no batch any more.
  if (batch === undefined || batch.failed.size > 0) return;
  throw new Violation('B7', `job ${jobId} ends as build_failed, and its build failed nowhere`);
}

/** B6: the head says of every batch what became of it. */
export function checkBatches({ batches }: BatchesTruth, state: State): void {
  for (const [title, { jobs }] of batches) {
    const found = state.batches.get(title);
    if (found === undefined) throw new Violation('B6', `batch ${title} is not known any more`);
    for (const [kind, numbers] of found.ended) {
      for (const number of numbers) {
        if (jobs.get(number) === kind) continue;
        throw new Violation('B6', `${number} of ${title} is ${jobs.get(number)}, not ${kind}`);
      }
    }
  }
}

interface Site {
  done: number;
  /** By batch and how often it was to be tried again. */
  readonly failed: Map<BatchTruth, number>;
}

/** B7 on the machines themselves. */
export class BuildWatch {
  readonly #truth: Truth;
  readonly #batches: BatchesTruth;
  /** By node and solver. */
  readonly #sites = new Map<string, Map<string, Site>>();

  constructor(truth: Truth, batches: BatchesTruth) {
    this.#truth = truth;
    this.#batches = batches;
  }

  /** Called when the disk of a node is new. */
  wiped(node: string): void {
    this.#sites.delete(node);
  }

  on(what: BuildStep, process: SimProcess): void {
    const { node } = process;
    const { jobId, epochId } = placeOf(process);
    const key = this.#truth.specOf(epochId)?.batch?.build;
    const part = this.#batches.parts.get(jobId);
    if (key === undefined || part === undefined) {
      throw new Violation('B7', `${epochId} builds on ${node}, and is of no batch that builds`);
    }
    const { title, owner, tries } = part.batch;
    const solver = solverOf(owner, key);
    const sites = this.#sites.get(node) ?? new Map<string, Site>();
    this.#sites.set(node, sites);
    const site = sites.get(solver) ?? { done: 0, failed: new Map() };
    sites.set(solver, site);
    if (what === 'done') site.done += 1;
    if (what === 'failed') site.failed.set(part.batch, (site.failed.get(part.batch) ?? 0) + 1);
    if (what !== 'begins') return;
    const most = 1 + (this.#batches.renewals.get(solver) ?? 0);
    const words = `${epochId} builds ${solver} of ${title} on ${node}`;
    if (site.done >= most) throw new Violation('B7', `${words}, where it is built already`);
    if ((site.failed.get(part.batch) ?? 0) <= tries) return;
    throw new Violation('B7', `${words}, where that has failed`);
  }
}
