// What the head keeps only while it runs: a restart throws it away, and nothing is wrong without
// it.

import type { EpochId, NodeName } from '../model/ids.ts';
import type { JobSpec, Outcome, Usage } from '../model/job.ts';
import type { Partition } from '../model/scheduling.ts';
import type { Hopeless } from '../scheduler/cycle/hopeless.ts';
import type { Rest } from '../scheduler/cycle/rest.ts';
import { ShapeBook } from '../scheduler/line/queue.ts';
import { BrokerageBook } from './brokerage-book.ts';
import { FreedPlaces } from './freed-places.ts';
import type { Job } from './jobs/facts.ts';
import { PaceBook } from './pace-book.ts';
import { MemoryBook } from './tasks/memory-book.ts';

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
  /** What running tasks have in memory; the shell writes it. */
  readonly memory: MemoryBook;
  /**
   * Which nodes have had these inputs, by the hash of their list, and why tasks are where they are.
   */
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
    memory: new MemoryBook(),
    brokerage: new BrokerageBook(),
    freed: new FreedPlaces(),
    paces: new PaceBook(),
    touched: [],
    endedEpochs: [],
    changedJobs: new Set(),
  };
}
