// What starts now. Pure and deterministic: the same snapshot gives the same plan, live, in the
// simulator and in replay. Cost: O(starts × log groups + blocked shapes × node classes), and for
// the policies that plan ahead a search per planned task.

import type { JobId, NodeName, UserName } from '../model/ids.ts';
import type { Share } from '../model/orders.ts';
import { type Partition, partitionOf, qosOf, type Scheduling } from '../model/scheduling.ts';
import { type Ask, Board, type Taker } from './board.ts';
import type { Hopeless } from './hopeless.ts';
import type { Window } from './lane.ts';
import { type Candidate, isBefore, Line, type LineRules } from './line.ts';
import type { NodePool } from './pool.ts';
import { type Preemption, Preemptor } from './preempt.ts';
import type { Queue, Shape } from './queue.ts';
import type { QuotaBook } from './quota.ts';
import { Resumer, type Stopped } from './resume.ts';
import type { Slot } from './slots.ts';

export interface Snapshot {
  readonly queue: Queue;
  readonly pool: NodePool;
  /** A job of a partition that is not there waits. */
  readonly scheduling: Scheduling;
  /** `PriorityRules.fairness`. */
  readonly fairness: ReadonlyMap<UserName, number>;
  /** What is set aside, for whom and when; maintenance too. */
  readonly windows: readonly Window[];
  /** What users may still start; null = no limits anywhere. */
  readonly quotas: QuotaBook | null;
  /** Load average per cpu by node, for `least_loaded`. */
  readonly loads: ReadonlyMap<NodeName, number>;
  /** Tasks that were stopped for others, to go on as soon as there is room. */
  readonly stopped: readonly Stopped[];
  /** `PreemptionRules.hopeless`. */
  readonly hopeless?: Hopeless;
  /** The cycle stops after this many starts and says so; the next one goes on from there. */
  readonly startsMax: number;
}

export interface Start {
  readonly jobId: JobId;
  readonly index: number;
  readonly shares: readonly Share[];
}

/** What a waiting task may count on, if nothing ends late and nothing more urgent comes. */
export interface Promised {
  readonly jobId: JobId;
  readonly index: number;
  /** Ms since 1970; beyond `UNKNOWN_END` when tasks without time limit are in the way. */
  readonly at: number;
  readonly nodes: readonly NodeName[];
}

export interface Plan {
  readonly starts: readonly Start[];
  /** Stopped tasks that get their cpus back now. */
  readonly resumes: readonly Taker[];
  /** Running tasks that must make room now. Whom they leave for has a claim on it. */
  readonly preemptions: readonly Preemption[];
  /** Slots set aside by `easy` (one a partition) and `conservative`. */
  readonly promised: readonly Promised[];
  /** True when the cycle was cut short, by `startsMax` or by searches for room: plan again. */
  readonly more: boolean;
}

export function plan(snapshot: Snapshot, now: number): Plan {
  return new Cycle(snapshot, now).run();
}

/** What is left when one task's turn comes, after all that go before it. */
export interface Turn {
  readonly board: Board;
  /** By `fifo`: it cannot start, whatever it asks for, before this job has. */
  readonly closedBy: JobId | null;
  /** What has been set aside for those before it. */
  readonly promised: readonly Promised[];
}

/** The cycle up to a task, which need not be in the queue. */
export function turnOf(snapshot: Snapshot, target: Candidate, now: number): Turn {
  return new Cycle(snapshot, now).runUntil(target);
}

class Cycle {
  readonly #snapshot: Snapshot;
  readonly #board: Board;
  readonly #line: Line;
  readonly #preemptor: Preemptor;
  readonly #resumer: Resumer;
  readonly #starts: Start[] = [];
  readonly #promised: Promised[] = [];
  /** By shape without time: the shortest time limit that did not fit. */
  readonly #blocked = new Map<string, number>();
  /** Partitions in which nothing more starts, by `fifo`, and the job that waits there. */
  readonly #closed = new Map<string, JobId>();
  /** How many tasks each partition has planned ahead. */
  readonly #depths = new Map<string, number>();

  constructor(snapshot: Snapshot, now: number) {
    this.#snapshot = snapshot;
    this.#board = new Board({ ...snapshot, now });
    this.#preemptor = new Preemptor(this.#board, snapshot);
    this.#resumer = new Resumer(this.#board, snapshot);
    // Cheap unless the weights have changed: the order is an index, not part of the snapshot.
    snapshot.queue.weigh(snapshot.scheduling.weights);
    this.#line = new Line(snapshot.queue.bands, lineRules(snapshot));
  }

  run(): Plan {
    const { startsMax } = this.#snapshot;
    for (let next = this.#line.first; next !== undefined; next = this.#line.first) {
      if (this.#starts.length >= startsMax) return this.#plan(true);
      this.#resumer.resumeFrom(next.tier);
      this.#consider(next);
    }
    this.#resumer.resumeFrom(-Infinity);
    return this.#plan(this.#preemptor.isCutShort);
  }

  runUntil(target: Candidate): Turn {
    for (let next = this.#line.first; next !== undefined; next = this.#line.first) {
      if (!isBefore(next, target)) break;
      this.#resumer.resumeFrom(next.tier);
      this.#consider(next);
    }
    this.#resumer.resumeFrom(target.tier);
    const closedBy = this.#closed.get(target.partition.name) ?? null;
    return { board: this.#board, closedBy, promised: this.#promised };
  }

  #plan(more: boolean): Plan {
    const { made: preemptions } = this.#preemptor;
    const { made: resumes } = this.#resumer;
    return { starts: this.#starts, resumes, preemptions, promised: this.#promised, more };
  }

  /** Starts the candidate, plans it ahead, or takes its group out of the cycle. */
  #consider(next: Candidate): void {
    const { group } = next;
    const quotas = this.#snapshot.quotas;
    const full = quotas?.full(next) ?? null;
    if (full !== null) {
      this.#preemptor.spare(full);
      this.#line.drop();
    } else if (!this.#isBlocked(group.shape) && this.#start(next)) {
      quotas?.count(next);
      this.#line.advance();
    } else {
      this.#block(group.shape);
      this.#wait(next);
    }
  }

  #start({ group, partition, entry, index }: Candidate): boolean {
    const ask = askOf(group.shape, partition);
    const views = this.#board.fitting(ask, ask.request.nodeCount);
    if (views.length < ask.request.nodeCount) return false;
    const shares = this.#board.start(ask, views, { jobId: entry.jobId, index });
    this.#starts.push({ jobId: entry.jobId, index, shares });
    return true;
  }

  /** It does not fit now: what the policy of its partition makes of that. */
  #wait(next: Candidate): void {
    const { policy, name } = next.partition;
    const hasRoom = this.#preempt(next);
    if (policy === 'fifo') {
      this.#closed.set(name, next.entry.jobId);
      return this.#line.close(name);
    }
    if (hasRoom) return this.#line.advance();
    const depth = this.#depths.get(name) ?? 0;
    const depthMax = this.#depthMax(policy);
    if (depth >= depthMax) return this.#line.drop();
    if (!this.#promise(next)) return this.#line.drop();
    this.#depths.set(name, depth + 1);
    this.#line.advance();
  }

  #depthMax(policy: Partition['policy']): number {
    if (policy === 'conservative') return this.#snapshot.scheduling.depthMax;
    return policy === 'easy' ? 1 : 0;
  }

  /** False when nobody can make room for it. What it gets in a moment is set aside for it. */
  #preempt(next: Candidate): boolean {
    const { group, partition, entry, index, tier } = next;
    const ask = askOf(group.shape, partition);
    const slot = this.#preemptor.makeRoom(ask, tier, { jobId: entry.jobId, index });
    if (slot === null) return false;
    this.#setAside(next, ask, slot);
    this.#snapshot.quotas?.count(next);
    return true;
  }

  /** False when it could never run: nothing is set aside then. */
  #promise(next: Candidate): boolean {
    const ask = askOf(next.group.shape, next.partition);
    const slot = this.#board.slot(ask);
    if (slot === null) return false;
    this.#setAside(next, ask, slot);
    return true;
  }

  #setAside({ entry, index }: Candidate, ask: Ask, slot: Slot): void {
    this.#board.promise(ask, slot);
    const nodes = slot.lanes.map((lane) => lane.view.name);
    this.#promised.push({ jobId: entry.jobId, index, at: slot.at, nodes });
  }

  #isBlocked({ anyTimeKey, walltimeMs }: Shape): boolean {
    return (walltimeMs ?? Infinity) >= (this.#blocked.get(anyTimeKey) ?? Number.NaN);
  }

  #block({ anyTimeKey, walltimeMs }: Shape): void {
    const known = this.#blocked.get(anyTimeKey) ?? Infinity;
    this.#blocked.set(anyTimeKey, Math.min(known, walltimeMs ?? Infinity));
  }
}

/** The last answers of `askOf`: a cycle asks for the shapes of the cycle before. */
const ASKS = new WeakMap<Shape, { readonly partition: Partition; readonly ask: Ask }>();

/** What a task of this shape asks for in this partition. */
export function askOf(shape: Shape, partition: Partition): Ask {
  const known = ASKS.get(shape);
  if (known?.partition === partition) return known.ask;
  const ask = makeAsk(shape, partition);
  ASKS.set(shape, { partition, ask });
  return ask;
}

function makeAsk(shape: Shape, partition: Partition): Ask {
  const { request, walltimeMs, reservation, key, anyTimeKey } = shape;
  const labels = [...new Set([...request.labels, ...partition.labels])];
  return {
    key,
    roomKey: `${anyTimeKey}|${partition.labels.join('|')}`,
    request: { ...request, labels },
    nodes: partition.nodes === null ? null : new Set(partition.nodes),
    walltimeMs,
    reservation,
    placement: partition.placement,
  };
}

/** Who goes before whom in this snapshot. */
export function lineRules(snapshot: Snapshot): LineRules {
  const { fairness, pool } = snapshot;
  const { scheduling } = snapshot;
  return {
    weights: scheduling.weights,
    fairness,
    nodeCount: pool.size,
    partition: (name) => {
      const partition = partitionOf(scheduling, name);
      return partition?.state === 'up' || partition?.state === 'drain' ? partition : null;
    },
    qos: (name) => qosOf(scheduling, name),
  };
}

/** Nothing set aside, no limits, everybody alike. */
export const NO_RULES = {
  fairness: new Map<UserName, number>(),
  windows: [],
  quotas: null,
  stopped: [],
  loads: new Map<NodeName, number>(),
} as const;
