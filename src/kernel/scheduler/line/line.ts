// All groups of the queue merged into one order, highest first: tier, then priority, then age. Made
// from bands that are kept in order, so that a cycle pays for the groups that it comes to.

import { Heap } from '../../base/heap.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import { SortedList } from '../../base/sorted-list.ts';
import type { JobId } from '../../model/ids.ts';
import type { Partition, Qos } from '../../model/scheduling.ts';
import { groupPriority, ownPriority, type PriorityRules, type Standing } from './priority.ts';
import type { Band, Group, QueueEntry } from './queue.ts';

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

/** A job's place in the order, kept when the job itself may be gone. */
export interface Mark {
  readonly tier: number;
  readonly priority: number;
  readonly jobId: JobId;
}

/** The groups of a band that have not come up yet. */
interface Source {
  readonly band: Band;
  readonly partition: Partition;
  readonly qos: Qos;
  readonly tier: number;
  readonly groupPriority: number;
  groups: Iterator<Group>;
}

interface GroupHead extends Candidate {
  readonly source: Source;
  /** The group was the last of its band to come up: the next one has yet to. */
  isLast: boolean;
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
  readonly #heads: Heap<GroupHead>;

  constructor(bands: Iterable<Band>, rules: LineRules) {
    this.#rules = rules;
    const heads: GroupHead[] = [];
    for (const band of bands) {
      const source = sourceOf(band, rules);
      const head = source === null ? null : this.#next(source);
      if (head !== null) heads.push(head);
    }
    this.#heads = new Heap<GroupHead>(isBefore, heads);
  }

  get first(): Candidate | undefined {
    return this.#heads.first;
  }

  /** The first candidate is done with: its group's next task takes its place in the order. */
  advance(): void {
    const first = this.#heads.first as GroupHead;
    first.room -= 1;
    const index = first.room > 0 ? nextIndex(first) : undefined;
    if (index !== undefined) {
      first.index = index;
      return; // Same job, so same priority: it is still the first.
    }
    this.skipEntry();
  }

  /** Like `advance`, for all tasks of the first candidate's job at once. */
  skipEntry(): void {
    this.#letNextComeUp();
    if (this.#nextEntry(this.#heads.first as GroupHead)) this.#heads.firstChanged();
    else this.#heads.pop();
  }

  /** The first candidate's group is out of this cycle. */
  drop(): void {
    this.#letNextComeUp();
    this.#heads.pop();
  }

  /** All of this partition is out of this cycle. */
  close(partition: string): void {
    this.#heads.retain((head) => head.partition.name !== partition);
  }

  /**
   * What stands before the mark is out of this cycle. Of groups in `split` something before the
   * mark is left, so that they come up from there on.
   */
  skipTo(mark: Mark, split: Iterable<Group>): void {
    const sources: Source[] = [];
    const inLine = new Set<Group>();
    this.#heads.retain((head) => {
      const stays = !isBeforeMark(head, mark);
      if (stays) inLine.add(head.group);
      else if (head.isLast) sources.push(head.source);
      return stays;
    });
    for (const source of sources) {
      source.groups = source.band.groups.from((group) =>
        isBeforeMark(placeOf(source, group.entries.first as QueueEntry, this.#rules), mark),
      );
      this.#push(this.#next(source));
    }
    for (const group of split) if (!inLine.has(group)) this.#push(this.#openAt(group, mark));
  }

  /** The next group of the band that has room. */
  #next(source: Source): GroupHead | null {
    for (let step = source.groups.next(); step.done !== true; step = source.groups.next()) {
      const group = step.value;
      const head = this.#open(source, group);
      head.isLast = true;
      if (this.#seat(head, group.entries.first as QueueEntry) || this.#nextEntry(head)) return head;
    }
    return null;
  }

  /** What a group that begins before the mark has from there on; others come up by themselves. */
  #openAt(group: Group, mark: Mark): GroupHead | null {
    const source = sourceOf(group.band, this.#rules);
    if (source === null) return null;
    const isDone = (entry: QueueEntry): boolean =>
      isBeforeMark(placeOf(source, entry, this.#rules), mark);
    if (!isDone(group.entries.first as QueueEntry)) return null;
    const head = this.#open(source, group);
    head.entries = group.entries.from(isDone);
    return this.#nextEntry(head) ? head : null;
  }

  #open(source: Source, group: Group): GroupHead {
    const { partition, qos, tier } = source;
    return { group, partition, qos, tier, source, isLast: false, entries: null } as GroupHead;
  }

  #push(head: GroupHead | null): void {
    if (head !== null) this.#heads.push(head);
  }

  /** Before the first group moves or leaves: the next of its band stands behind it. */
  #letNextComeUp(): void {
    const first = this.#heads.first as GroupHead;
    if (!first.isLast) return;
    first.isLast = false;
    this.#push(this.#next(first.source));
  }

  /** Moves to the group's next job that has room; false when there is none. */
  #nextEntry(head: GroupHead): boolean {
    if (head.entries === null && head.group.entries.size === 1) return false;
    head.entries ??= after(head.group.entries, head.entry);
    for (let step = head.entries.next(); step.done !== true; step = head.entries.next()) {
      if (this.#seat(head, step.value)) return true;
    }
    return false;
  }

  /** False when the job has no room, by its own limit. */
  #seat(head: GroupHead, entry: QueueEntry): boolean {
    head.entry = entry;
    head.room = entry.runningMax === null ? Infinity : entry.runningMax - entry.running;
    if (head.room <= 0) return false;
    head.indices = null;
    head.index = entry.pending.first as number;
    head.priority = head.source.groupPriority + ownPriority(entry, this.#rules.weights);
    return true;
  }
}

function sourceOf(band: Band, rules: LineRules): Source | null {
  const standing = standingIn(band, rules);
  if (standing === null) return null;
  const { partition, qos } = standing;
  return {
    band,
    partition,
    qos,
    tier: partition.tier + qos.tier,
    groupPriority: groupPriority(standing, rules),
    groups: band.groups[Symbol.iterator](),
  };
}

function placeOf({ tier, groupPriority: points }: Source, entry: QueueEntry, rules: LineRules) {
  return { tier, priority: points + ownPriority(entry, rules.weights), entry };
}

function nextIndex(head: GroupHead): number | undefined {
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

/** Whether the whole job is: tasks of one job have one place. */
export function isBeforeMark(
  a: Pick<Candidate, 'tier' | 'priority' | 'entry'>,
  mark: Mark,
): boolean {
  if (a.tier !== mark.tier) return a.tier > mark.tier;
  if (a.priority !== mark.priority) return a.priority > mark.priority;
  return a.entry.jobId < mark.jobId;
}

/** One task by itself, whether it is in the queue or not; null: its partition starts nothing. */
export function candidateOf(entry: QueueEntry, index: number, rules: LineRules): Candidate | null {
  const { shape, owner, qos } = entry;
  const { partition, request } = shape;
  const alone = { ...entry, runningMax: null, pending: IntervalSet.of([[index, index]]) };
  const entries = new SortedList<QueueEntry>(() => 0);
  entries.insert(alone);
  const groups = new SortedList<Group>(() => 0);
  const band = { key: '', owner, qos, partition, nodeCount: request.nodeCount, groups };
  groups.insert({ key: shape.key, shape, owner, qos, entries, band });
  return new Line([band], rules).first ?? null;
}

/** What the job's priority is reckoned with; null: its partition starts nothing. */
export function standingOf({ shape, owner, qos }: QueueEntry, rules: LineRules): Standing | null {
  const { partition, request } = shape;
  return standingIn({ partition, owner, qos, nodeCount: request.nodeCount }, rules);
}

function standingIn(
  { partition: name, owner, qos, nodeCount }: Omit<Band, 'key' | 'groups'>,
  rules: LineRules,
): Standing | null {
  const partition = rules.partition(name);
  return partition === null ? null : { owner, nodeCount, partition, qos: rules.qos(qos) };
}
