// What the head keeps only while it runs: a restart throws it away, and nothing is wrong without
// it.

import type { EpochId, JobId, NodeName } from '../model/ids.ts';
import type { JobSpec, Outcome, Usage } from '../model/job.ts';
import type { MemoryUse } from '../model/memory-use.ts';
import type { Partition } from '../model/scheduling.ts';
import type { Hopeless } from '../scheduler/cycle/hopeless.ts';
import type { Rest } from '../scheduler/cycle/rest.ts';
import { ShapeBook } from '../scheduler/line/queue.ts';
import { BrokerageBook } from './brokerage-book.ts';
import type { Job, Task } from './jobs/facts.ts';

/** With what wings keep, each of which adds its own. */
export interface Scratch extends OwnScratch {}

interface OwnScratch {
  /** Something changed that may let a task start. */
  scheduleDue: boolean;
  /** The last cycle planned ahead: time alone may let a task start. */
  plansAhead: boolean;
  /** The last cycle was cut short, the next goes on from there. Null: it was not. */
  chain: Chain | null;
  /** Equal shapes of jobs are kept once. */
  readonly shapes: ShapeBook;
  /** Equal parts of one submission after another are kept once. */
  lastSpec: { readonly bare: JobSpec; readonly text: string; readonly spec: JobSpec } | null;
  /** What `default-memory.ts` has worked out; emptied when a node changes. */
  readonly memoryShares: Map<string, MemoryShare>;
  /** Which of the reservations with skipped occurrences are tried next. */
  retryTurn: number;
  /** The instant from which on that is. */
  retryNotBefore: number;
  /** Why what an epoch left cannot be kept now, in words; the shell writes it. */
  readonly keepingTrouble: Map<EpochId, string>;
  /** What wings say of running tasks, a sentence each; their shells write and delete it. */
  readonly taskNotices: Map<EpochId, string>;
  /**
   * Nodes of sites that have come since the last whole look at their site began: what runs there is
   * not known yet, and nothing is started on them (G27). Each coming is an object of its own; the
   * wing of the sites writes and deletes it.
   */
  readonly unlooked: Map<NodeName, Unlooked>;
  /** What running tasks have in memory; the shell writes it. */
  readonly memory: MemoryBook;
  /** Which nodes had these inputs, by their list's hash, and why tasks are where they are. */
  readonly brokerage: BrokerageBook;
  /** Places that tasks have given up since the last cycle. */
  readonly freed: FreedPlaces;
  /** How long the tasks of arrays run. */
  readonly paces: PaceBook;
  /** Epochs whose orders may have changed since the shell last looked; it empties it. */
  readonly touched: Touch[];
  /** What the last steps ended, for the history; the shell empties it. */
  readonly endedEpochs: EndedEpoch[];
  /** Jobs submitted or done in the last steps, for the history; the shell empties it. */
  readonly changedJobs: Set<Job>;
}

export interface Unlooked {
  readonly site: string;
}

/** Cycles that were cut short and follow each other. */
export interface Chain {
  readonly hopeless: Hopeless;
  /** Null when the next one is the first. */
  readonly rest: Rest | null;
  /** Something has happened between them, of which the first knew nothing. */
  isStirred: boolean;
}

/** Memory of each cpu that a request asks for, with whom it was worked out of. */
export interface MemoryShare extends Pick<Partition, 'nodes' | 'labels'> {
  readonly bytes: number;
}

/** One epoch that is over, as the history keeps it. */
export interface EndedEpoch {
  readonly job: Job;
  readonly index: number;
  readonly epoch: number;
  readonly nodes: readonly NodeName[];
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly usage: Usage;
  /** Gpus that it held on all its nodes. */
  readonly gpuCount: number;
  /** Their type; of several `a100-80g+t4`. Null: not known, or it held none. */
  readonly gpuType: string | null;
  /** Sums over its nodes, which it had whole. Null: it held what its job asks for, on each. */
  readonly whole: { readonly cpuCount: number; readonly memoryBytes: number } | null;
  /** False: requeued, another epoch follows. */
  readonly final: boolean;
  readonly outcome: Outcome;
}

/** `epochId` null: an order about the node itself. */
export interface Touch {
  readonly node: NodeName;
  readonly epochId: EpochId | null;
}

export function createScratch(): OwnScratch {
  return {
    scheduleDue: false,
    plansAhead: false,
    chain: null,
    shapes: new ShapeBook(),
    lastSpec: null,
    memoryShares: new Map(),
    retryTurn: 0,
    retryNotBefore: 0,
    keepingTrouble: new Map(),
    taskNotices: new Map(),
    unlooked: new Map(),
    memory: new MemoryBook(),
    brokerage: new BrokerageBook(),
    freed: new FreedPlaces(),
    paces: new PaceBook(),
    touched: [],
    endedEpochs: [],
    changedJobs: new Set(),
  };
}

/** Places that tasks have given up: the next tasks of their jobs there may have them. */
class FreedPlaces {
  readonly #byNode = new Map<NodeName, Map<JobId, number>>();

  note(node: NodeName, jobId: JobId): void {
    const jobs = this.#byNode.get(node);
    if (jobs === undefined) this.#byNode.set(node, new Map([[jobId, 1]]));
    else jobs.set(jobId, (jobs.get(jobId) ?? 0) + 1);
  }

  /** One of them has been taken. */
  taken(node: NodeName, jobId: JobId): void {
    const jobs = this.#byNode.get(node);
    const count = jobs?.get(jobId);
    if (count !== undefined) jobs?.set(jobId, Math.max(0, count - 1));
  }

  clear(): void {
    this.#byNode.clear();
  }

  /** Each node and job of which a task ended, with how many places are free. Empties the book. */
  *takeAll(): Generator<{ node: NodeName; jobId: JobId; count: number }> {
    const all = [...this.#byNode];
    this.clear();
    for (const [node, jobs] of all) {
      for (const [jobId, count] of jobs) yield { node, jobId, count };
    }
  }
}

/** A mean over the last ends; so many of them before it says anything. */
const ENDS_MIN = 4;
const WEIGHT = 1 / 16;
/** Jobs that are remembered; the oldest go first. */
const JOBS_MAX = 1024;

interface Pace {
  ends: number;
  meanMs: number;
}

class PaceBook {
  readonly #paces = new Map<JobId, Pace>();

  note({ job, startedAt }: Task, endedAt: number): void {
    if (job.spec.array === null || startedAt === null) return;
    const ranMs = Math.max(0, endedAt - startedAt);
    const pace = this.#paces.get(job.id);
    if (pace === undefined) return this.#begin(job.id, ranMs);
    pace.ends += 1;
    pace.meanMs += (ranMs - pace.meanMs) * Math.max(WEIGHT, 1 / pace.ends);
  }

  /** Mean run time of the job's tasks in ms; null: not enough of them have ended. */
  meanOf(jobId: JobId): number | null {
    const pace = this.#paces.get(jobId);
    return pace === undefined || pace.ends < ENDS_MIN ? null : pace.meanMs;
  }

  #begin(jobId: JobId, meanMs: number): void {
    this.#paces.set(jobId, { ends: 1, meanMs });
    if (this.#paces.size <= JOBS_MAX) return;
    const oldest = this.#paces.keys().next();
    if (oldest.done !== true) this.#paces.delete(oldest.value);
  }
}

/** What running tasks have in memory, by their nodes' heartbeats. Kept while the head runs. */
class MemoryBook {
  readonly #byNode = new Map<NodeName, ReadonlyMap<EpochId, MemoryUse>>();
  /** Nodes with a task of which the kernel has killed a process. */
  readonly #withKills = new Set<NodeName>();

  /** In place of what the node said before. */
  hear(node: NodeName, uses: readonly MemoryUse[]): void {
    this.#byNode.set(node, new Map(uses.map((use) => [use.epochId, use])));
    if (uses.some(({ kills }) => kills > 0)) this.#withKills.add(node);
    else this.#withKills.delete(node);
  }

  /** Forgets a node that no longer reports: its last report is out of date. */
  forget(node: NodeName): void {
    this.#byNode.delete(node);
    this.#withKills.delete(node);
  }

  get hasKills(): boolean {
    return this.#withKills.size > 0;
  }

  /** Undefined: the node has not said. */
  of(node: NodeName, epochId: EpochId): MemoryUse | undefined {
    return this.#byNode.get(node)?.get(epochId);
  }
}
