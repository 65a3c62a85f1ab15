// All groups of the queue merged into one order, highest first: tier, then priority, then age.

import { Heap } from '../base/heap.ts';
import { IntervalSet } from '../base/interval-set.ts';
import { SortedList } from '../base/sorted-list.ts';
import type { Partition, Qos } from '../model/scheduling.ts';
import { groupPriority, ownPriority, type PriorityRules, type Standing } from './priority.ts';
import type { Group, QueueEntry } from './queue.ts';

/** The head of one group: the task that would start next of it. */
export interface Candidate {
  readonly group: Group;
  readonly partition: Partition;
  readonly qos: Qos;
  readonly tier: number;
  /** `priority.ts`, less what all have alike. */
  priority: number;
  entry: QueueEntry;
  index: number;
}

interface Head extends Candidate {
  readonly groupPriority: number;
  /** What comes after `entry` and `index`; null until asked for, which most groups never are. */
  entries: Iterator<QueueEntry> | null;
  indices: Iterator<number> | null;
  /** Starts still allowed by an array's running limit. */
  room: number;
}

/** Where partitions and qualities of service are looked up; null: it may start nothing. */
export interface LineRules extends PriorityRules {
  partition(name: string): Partition | null;
  qos(name: string): Qos;
}

export class Line {
  readonly #rules: LineRules;
  readonly #heads: Heap<Head>;

  constructor(groups: Iterable<Group>, rules: LineRules) {
    this.#rules = rules;
    const heads: Head[] = [];
    for (const group of groups) {
      const head = this.#open(group);
      if (head !== null) heads.push(head);
    }
    this.#heads = new Heap<Head>(isBefore, heads);
  }

  get first(): Candidate | undefined {
    return this.#heads.first;
  }

  /** The first candidate is done with: its group's next task takes its place in the order. */
  advance(): void {
    const first = this.#heads.first as Head;
    first.room -= 1;
    const index = first.room > 0 ? nextIndex(first) : undefined;
    if (index !== undefined) {
      first.index = index;
      return; // Same job, so same priority: it is still the first.
    }
    if (this.#nextEntry(first)) this.#heads.firstChanged();
    else this.drop();
  }

  /** As `advance`, for all tasks of the first candidate's job at once. */
  skipEntry(): void {
    if (this.#nextEntry(this.#heads.first as Head)) this.#heads.firstChanged();
    else this.drop();
  }

  /** The first candidate's group is out of this cycle. */
  drop(): void {
    this.#heads.pop();
  }

  /** All of this partition is out of this cycle. */
  close(partition: string): void {
    this.#heads.retain((head) => head.partition.name !== partition);
  }

  #open(group: Group): Head | null {
    const partition = this.#rules.partition(group.shape.partition);
    if (partition === null) return null;
    const qos = this.#rules.qos(group.qos);
    const nodeCount = group.shape.request.nodeCount;
    const standing = { owner: group.owner, nodeCount, partition, qos };
    const head = {
      ...{ group, partition, qos, tier: partition.tier + qos.tier },
      groupPriority: groupPriority(standing, this.#rules),
      entries: null,
    } as Head;
    return this.#seat(head, group.entries.first as QueueEntry) || this.#nextEntry(head)
      ? head
      : null;
  }

  /** Moves to the group's next job that has room; false when there is none. */
  #nextEntry(head: Head): boolean {
    if (head.group.entries.size === 1) return false;
    head.entries ??= after(head.group.entries, head.entry);
    for (let step = head.entries.next(); step.done !== true; step = head.entries.next()) {
      if (this.#seat(head, step.value)) return true;
    }
    return false;
  }

  /** False when the job has no room, by its own limit. */
  #seat(head: Head, entry: QueueEntry): boolean {
    head.entry = entry;
    head.room = entry.runningMax === null ? Infinity : entry.runningMax - entry.running;
    if (head.room <= 0) return false;
    head.indices = null;
    head.index = entry.pending.first as number;
    head.priority = head.groupPriority + ownPriority(entry, this.#rules.weights);
    return true;
  }
}

function nextIndex(head: Head): number | undefined {
  const { pending } = head.entry;
  if (pending.size === 1) return undefined;
  head.indices ??= after(pending, head.index);
  const step = head.indices.next();
  return step.done === true ? undefined : step.value;
}

/** The iterator, past this one. */
function after<T>(list: Iterable<T>, one: T): Iterator<T> {
  const iterator = list[Symbol.iterator]();
  for (let step = iterator.next(); step.done !== true && step.value !== one; ) {
    step = iterator.next();
  }
  return iterator;
}

/** Whether a is considered before b. */
export function isBefore(a: Candidate, b: Candidate): boolean {
  if (a.tier !== b.tier) return a.tier > b.tier;
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.entry.jobId !== b.entry.jobId) return a.entry.jobId < b.entry.jobId;
  return a.index < b.index;
}

/** One task by itself, whether it is in the queue or not; null: its partition starts nothing. */
export function candidateOf(entry: QueueEntry, index: number, rules: LineRules): Candidate | null {
  const { shape, owner, qos } = entry;
  const alone = { ...entry, runningMax: null, pending: IntervalSet.of([[index, index]]) };
  const entries = new SortedList<QueueEntry>(() => 0);
  entries.insert(alone);
  return new Line([{ key: shape.key, shape, owner, qos, entries }], rules).first ?? null;
}

/** What the job's priority is reckoned with; null: its partition starts nothing. */
export function standingOf({ shape, owner, qos }: QueueEntry, rules: LineRules): Standing | null {
  const partition = rules.partition(shape.partition);
  if (partition === null) return null;
  return { owner, nodeCount: shape.request.nodeCount, partition, qos: rules.qos(qos) };
}
