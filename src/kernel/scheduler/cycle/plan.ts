// What starts now. Pure and deterministic: the same snapshot gives the same plan, live, in the
// simulator and in replay. Cost: O(starts × log groups + blocked shapes × node classes), and for
// the policies that plan ahead a search per planned task.

import type { JobId, NodeName } from '../../model/ids.ts';
import { FRONT_PART, LOOKS_PER_CYCLE_MAX, LOOKS_PER_TASK } from '../../model/limits.ts';
import type { Share } from '../../model/orders.ts';
import type { Partition } from '../../model/scheduling.ts';
import {
  type Candidate,
  isBefore,
  isBeforeMark,
  Line,
  type LineRules,
  type Mark,
} from '../line/line.ts';
import type { Group, QueueEntry } from '../line/queue.ts';
import { type Ask, askFor, askOf } from '../room/ask.ts';
import { Board, type Taker } from '../room/board.ts';
import type { Choice } from '../room/brokerage.ts';
import type { Slot } from '../room/slots.ts';
import { Blocked } from './blocked.ts';
import { GpusFirst } from './gpus-first.ts';
import { type Preemption, Preemptor } from './preempt.ts';
import { newcomersOf, type Rest, type SlotPromise, waitingOf } from './rest.ts';
import { Resumer } from './resume.ts';
import { lineRules, type Snapshot } from './snapshot.ts';

export interface Start {
  readonly jobId: JobId;
  readonly index: number;
  readonly shares: readonly Share[];
  /** Where sites were compared: what spoke for the one that it got. */
  readonly choice?: Choice;
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
  /** Slots set aside by `easy` (one a partition) and `conservative`, as far as anybody asks. */
  readonly promised: readonly Promised[];
  /** Something is set aside, or would be if anybody asked: time alone may let a task start. */
  readonly plansAhead: boolean;
  /** Where the cycle was cut short, by `startsMax` or `looksMax`: plan again, from there. */
  readonly rest: Rest | null;
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

/** What goes before a task that the looks do not reach. */
export interface TooFar {
  /** Tasks that are before it for certain; there are more. */
  readonly seen: number;
}

/** The cycle up to a task, which need not be in the queue, with `looksMax` of the snapshot. */
export function turnOf(snapshot: Snapshot, target: Candidate, now: number): Turn | TooFar {
  return new Cycle(snapshot, now).runUntil(target);
}

/** What became of a task that was considered, and its group: `done`: the next has its turn. */
type Fate = 'done' | 'hopeless' | 'closing';

/** A task for which nothing has been set aside yet: it is of use only to who comes after it. */
interface Unsettled {
  readonly group: Group;
  readonly partition: Partition;
  readonly entry: QueueEntry;
  readonly index: number;
}

class Cycle {
  readonly #snapshot: Snapshot;
  readonly #rules: LineRules;
  readonly #board: Board;
  readonly #line: Line;
  readonly #preemptor: Preemptor;
  readonly #resumer: Resumer;
  readonly #gpusFirst: GpusFirst;
  /** A task that the cycle goes up to; null: none. */
  #target: Candidate | null = null;
  /** The target goes before all that are left. */
  #isReached = false;
  /** `startsMax` counts, and has been reached before the task had its turn. */
  #isBounded = false;
  #isFull = false;
  readonly #starts: Start[] = [];
  readonly #promised: Promised[] = [];
  readonly #heads: SlotPromise[] = [];
  readonly #blocked = new Blocked();
  /** Partitions in which nothing more starts, by `fifo`, and the job that waits there. */
  readonly #closed = new Map<string, JobId>();
  /** How many tasks each partition has planned ahead. */
  readonly #depths = new Map<string, number>();
  /** Parts of tasks that something is set aside for. */
  #partsAhead = 0;
  /** Settled before anything else is planned; never, if nothing is. */
  #unsettled: Unsettled | null = null;

  constructor(snapshot: Snapshot, now: number) {
    this.#snapshot = snapshot;
    this.#rules = lineRules(snapshot);
    this.#board = new Board({ ...snapshot, now });
    this.#preemptor = new Preemptor(this.#board, snapshot);
    this.#resumer = new Resumer(this.#board, snapshot);
    // Cheap unless the weights have changed: the order is an index, not part of the snapshot.
    snapshot.queue.weigh(snapshot.scheduling.weights);
    this.#line = new Line(snapshot.queue.bands, this.#rules);
    this.#gpusFirst = new GpusFirst(snapshot.queue, this.#rules, now);
  }

  /**
   * Looks of this cycle. One search for room is enough for one cycle: it counts as all of them, so
   * that there is one along the front at most, and one where the last cycle stopped.
   */
  get #spent(): number {
    return this.#board.work + this.#preemptor.lessons * LOOKS_PER_CYCLE_MAX;
  }

  run(): Plan {
    const { from = null, looksMax } = this.#snapshot;
    this.#isBounded = true;
    if (from !== null) this.#goOn(from);
    // Whatever it takes to keep what was promised: the line gets further in every cycle.
    const stop = this.#walk(this.#spent + looksMax);
    if (stop === undefined) this.#resumer.resumeFrom(-Infinity);
    else this.#settle();
    return {
      starts: this.#starts,
      promised: this.#promised,
      resumes: this.#resumer.made,
      preemptions: this.#preemptor.made,
      plansAhead: this.#promised.length > 0 || this.#unsettled !== null,
      rest: stop === undefined ? null : this.#restAt(stop),
    };
  }

  /**
   * Resumes where the last cycle stopped. Part of the quota of looks is spent at the front first,
   * where what is new and urgent waits; between the front and the mark only tasks with something
   * set aside for them are looked at. A partition that was closed stays closed. One is closed, too,
   * when a task has come to a place before the mark: tasks behind it must not pass it.
   */
  #goOn(from: Rest): void {
    const { queue, looksMax } = this.#snapshot;
    const first = this.#walk(looksMax / FRONT_PART, from.mark);
    if (first === undefined) return;
    this.#settle();
    if (!isBeforeMark(first, from.mark)) return;
    for (const count of from.spared) this.#preemptor.spare(count);
    const gap = { first, mark: from.mark, queue, rules: this.#rules };
    const waiting = waitingOf(from.heads, gap);
    for (const { candidate, head } of waiting) {
      if (!this.#closed.has(candidate.partition.name)) this.#consider(candidate, head);
    }
    const split = new Set(waiting.map(({ candidate }) => candidate.group));
    this.#line.skipTo(from.mark, split);
    for (const [name, jobId] of from.closed) {
      if (!this.#closed.has(name)) this.#closed.set(name, jobId);
    }
    for (const newcomer of newcomersOf(gap)) this.#closeBehind(newcomer);
    for (const name of this.#closed.keys()) this.#line.close(name);
  }

  /** Unless it waits for a limit of its user, which might be for ever. */
  #closeBehind(newcomer: Candidate): void {
    const { name } = newcomer.partition;
    if (this.#closed.has(name) || (this.#snapshot.quotas?.full(newcomer) ?? null) !== null) return;
    this.#closed.set(name, newcomer.entry.jobId);
  }

  /** Along the line, one task at least, up to `end`. Where it stopped; undefined: none is left. */
  #walk(looksMax: number, end?: Mark): Candidate | undefined {
    let gotFurther = false;
    for (let next = this.#line.first; next !== undefined; next = this.#line.first) {
      if (this.#unsettled !== null && next.group !== this.#unsettled.group) this.#settle();
      if (end !== undefined && !isBeforeMark(next, end)) return next;
      if (this.#starts.length >= this.#snapshot.startsMax) return next;
      // Tasks of one job that something is set aside for stay together: a mark is never among them.
      const isSplit = (this.#unsettled?.entry ?? this.#heads.at(-1)?.entry) === next.entry;
      if (gotFurther && !isSplit && this.#spent >= looksMax) return next;
      gotFurther = true;
      const fate = this.#consider(next);
      if (this.#isFull) return next;
      this.#pass(fate, next.partition);
    }
    return undefined;
  }

  #pass(fate: Fate, { name }: Partition): void {
    if (fate === 'done') this.#line.advance();
    else if (fate === 'hopeless') this.#line.drop();
    else this.#line.close(name);
  }

  #restAt({ tier, priority, entry }: Candidate): Rest {
    const mark = { tier, priority, jobId: entry.jobId };
    return { mark, heads: this.#heads, closed: this.#closed, spared: this.#preemptor.spared };
  }

  /**
   * Plans up to the target, as far as `looksMax` looks go, whatever was searched on the way: cycles
   * after it would, too.
   */
  runUntil(target: Candidate): Turn | TooFar {
    let seen = 0;
    this.#target = target;
    for (let next = this.#line.first; next !== undefined; next = this.#line.first) {
      if (this.#isReached || !isBefore(next, target)) break;
      if (this.#board.work >= this.#snapshot.looksMax) return { seen };
      seen += 1;
      this.#pass(this.#consider(next), next.partition);
    }
    this.#resumer.resumeFrom(target.tier);
    this.#target = null;
    const { views } = this.#board.place(askFor(target.entry, target.partition));
    if (this.#gpusFirst.isFor(target, views)) this.#startGpus(target);
    const closedBy = this.#closed.get(target.partition.name) ?? null;
    return { board: this.#board, closedBy, promised: this.#promised };
  }

  /** Starts the candidate or plans it ahead, in the slot that it has, if it has one. */
  #consider(next: Candidate, head?: SlotPromise): Fate {
    const { group } = next;
    const quotas = this.#snapshot.quotas;
    this.#board.addWork(LOOKS_PER_TASK);
    this.#resumer.resumeFrom(next.tier);
    if (this.#isOverQuota(next)) return 'hopeless';
    if (this.#gpusFirst.hasStarted(next)) return 'done';
    if (!this.#blocked.has(group.shape) && this.#start(next, head === undefined)) {
      quotas?.count(next);
      return 'done';
    }
    // What comes of this one is not looked at any more.
    if (this.#isReached || this.#isFull) return 'done';
    if (this.#isOverQuota(next)) return 'hopeless';
    this.#blocked.add(group.shape);
    return this.#wait(next, head);
  }

  #isOverQuota(next: Candidate): boolean {
    const full = this.#snapshot.quotas?.full(next) ?? null;
    if (full !== null) this.#preemptor.spare(full);
    return full !== null;
  }

  /** `lets`: whether others may go before it on nodes with gpus, which need them. */
  #start(next: Candidate, lets: boolean): boolean {
    const { partition, entry, index } = next;
    const ask = askFor(entry, partition);
    let { views, choice } = this.#board.place(ask);
    if (views.length < ask.request.nodeCount) return false;
    if (lets && this.#gpusFirst.isFor(next, views)) {
      this.#startGpus(next);
      // One that went first may have taken what its user, too, may have.
      if (this.#isReached || this.#isFull || this.#isOverQuota(next)) return false;
      ({ views, choice } = this.#board.place(ask));
      if (views.length < ask.request.nodeCount) return false;
    }
    const shares = this.#board.start(ask, views, { jobId: entry.jobId, index });
    const start = { jobId: entry.jobId, index, shares };
    this.#starts.push(choice === null ? start : { ...start, choice });
    return true;
  }

  /** What needs gpus and comes after it starts before it, as far as there is room now. */
  #startGpus(next: Candidate): void {
    const { quotas, startsMax } = this.#snapshot;
    const rivals = this.#gpusFirst.rivalsOf(next);
    for (let rival = rivals.first; rival !== undefined; rival = rivals.first) {
      if (this.#target !== null && !isBefore(rival, this.#target)) break;
      if (this.#isFull) return;
      this.#board.addWork(LOOKS_PER_TASK);
      const { group, partition } = rival;
      const isOut = this.#blocked.has(group.shape) || this.#closed.has(partition.name);
      if (isOut || (quotas?.full(rival) ?? null) !== null || !this.#start(rival, false)) {
        rivals.drop();
        continue;
      }
      quotas?.count(rival);
      rivals.started();
      this.#isFull = this.#isBounded && this.#starts.length >= startsMax;
    }
    const target = this.#target;
    if (target !== null && this.#gpusFirst.isRival(target, next)) this.#isReached = true;
  }

  /** What the policy of its partition makes of a task that does not fit now. */
  #wait(next: Candidate, head: SlotPromise | undefined): Fate {
    const { policy, name } = next.partition;
    const hasRoom = this.#preempt(next, head !== undefined);
    if (policy === 'fifo') {
      this.#closed.set(name, next.entry.jobId);
      return 'closing';
    }
    if (hasRoom) return 'done';
    const depth = this.#depths.get(name) ?? 0;
    // The first of a partition has its slot whatever is planned elsewhere.
    const isEnough = depth > 0 && this.#partsAhead >= this.#snapshot.partsAheadMax;
    const depthMax = isEnough ? 0 : this.#depthMax(policy);
    if (depth >= depthMax) return 'hopeless';
    if (head === undefined && this.#mayWait(next)) {
      const { group, partition, entry, index } = next;
      this.#unsettled = { group, partition, entry, index };
    } else if (!this.#promise(next, head)) return 'hopeless';
    this.#depths.set(name, depth + 1);
    return 'done';
  }

  #depthMax(policy: Partition['policy']): number {
    if (policy === 'conservative') return this.#snapshot.scheduling.depthMax;
    return policy === 'easy' ? 1 : 0;
  }

  /** False when nobody can make room for it. What it gets in a moment is set aside for it. */
  #preempt(next: Candidate, isKept: boolean): boolean {
    const { group, partition, entry, index, tier } = next;
    const ask = askOf(group.shape, partition);
    const taker = isKept ? null : { jobId: entry.jobId, index };
    const slot = this.#preemptor.makeRoom(ask, tier, taker);
    if (slot === null) return false;
    this.#setAside(next, ask, slot);
    this.#snapshot.quotas?.count(next);
    return true;
  }

  /** Whether what is set aside for it can be worked out when another group comes up, or never. */
  #mayWait({ tier, partition, entry }: Candidate): boolean {
    const { askers } = this.#snapshot;
    if (askers === undefined || partition.policy !== 'easy') return false;
    if (askers.size > 1 || (askers.size === 1 && !askers.has(entry.jobId))) return false;
    return this.#preemptor.isIdleFor(tier) && this.#resumer.isIdle;
  }

  /** Sets aside what the task that waits for it may count on. */
  #settle(): void {
    const next = this.#unsettled;
    if (next === null) return;
    this.#unsettled = null;
    // The first of its partition, by `easy`: another one is.
    if (!this.#promise(next, undefined)) this.#depths.delete(next.partition.name);
  }

  /** False when it could never run: nothing is set aside then. */
  #promise(next: Unsettled, head: SlotPromise | undefined): boolean {
    const ask = askOf(next.group.shape, next.partition);
    const kept = head === undefined ? null : this.#board.slotAt(ask, head.at, head.nodes);
    const slot = kept ?? this.#board.slot(ask);
    if (slot === null) return false;
    this.#setAside(next, ask, slot);
    return true;
  }

  #setAside({ entry, index }: Unsettled, ask: Ask, slot: Slot): void {
    this.#board.promise(ask, slot);
    const { at } = slot;
    const nodes = slot.lanes.map((lane) => lane.view.name);
    this.#promised.push({ jobId: entry.jobId, index, at, nodes });
    this.#heads.push({ entry, index, at, nodes });
    this.#partsAhead += nodes.length;
  }
}
