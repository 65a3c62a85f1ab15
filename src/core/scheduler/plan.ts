// What starts now. Pure and deterministic: the same snapshot gives the same plan, live, in the
// simulator and in replay. Cost: O(starts × log groups + blocked shapes × node classes).

import type { JobId } from '../model/ids.ts';
import type { Share } from '../model/orders.ts';
import type { Settings } from '../model/settings.ts';
import { Placement } from './place.ts';
import type { NodePool } from './pool.ts';
import { compareEntries, type Group, type Queue, type QueueEntry } from './queue.ts';

export interface Snapshot {
  readonly queue: Queue;
  readonly pool: NodePool;
  readonly policy: Settings['policy'];
  /** The cycle stops after this many starts and says so; the next one goes on from there. */
  readonly startsMax: number;
}

export interface Start {
  readonly jobId: JobId;
  readonly index: number;
  readonly shares: readonly Share[];
}

export interface Plan {
  readonly starts: readonly Start[];
  /** True when the cycle was cut short by `startsMax`: plan again. */
  readonly more: boolean;
}

/**
 * `first_fit`: in order, whatever fits starts (a seed's greedy; a wide task can starve).
 * `fifo`: in order, and the first task that does not fit stops the rest.
 */
export function plan(snapshot: Snapshot, _now: number): Plan {
  const placement = new Placement(snapshot.pool);
  const line = new Line(snapshot.queue);
  const blocked = new Set<string>();
  const starts: Start[] = [];
  for (let next = line.first; next !== undefined; next = line.first) {
    const { shape } = next.group;
    if (blocked.has(shape.key)) {
      line.drop();
      continue;
    }
    if (starts.length >= snapshot.startsMax) return { starts, more: true };
    const shares = placement.place(shape.request);
    if (shares !== null) {
      starts.push({ jobId: next.entry.jobId, index: next.index, shares });
      line.advance();
    } else if (snapshot.policy === 'fifo') {
      break;
    } else {
      blocked.add(shape.key);
      line.drop();
    }
  }
  return { starts, more: false };
}

/** The head of one group: the task that would start next of it. */
interface Candidate {
  readonly group: Group;
  readonly entries: Iterator<QueueEntry>;
  entry: QueueEntry;
  indices: Iterator<number>;
  index: number;
  /** Starts still allowed by an array's running limit. */
  room: number;
}

/** All groups merged into one queue order, by a binary heap of their heads. */
class Line {
  readonly #heap: Candidate[] = [];

  constructor(queue: Queue) {
    for (const group of queue.groups.values()) {
      const candidate = firstOf(group);
      if (candidate !== undefined) this.#heap.push(candidate);
    }
    for (let at = (this.#heap.length >>> 1) - 1; at >= 0; at -= 1) this.#sink(at);
  }

  get first(): Candidate | undefined {
    return this.#heap[0];
  }

  /** The first candidate starts: its group's next one takes its place in the order. */
  advance(): void {
    const first = this.#heap[0] as Candidate;
    first.room -= 1;
    const next = first.indices.next();
    if (first.room > 0 && next.done !== true) {
      first.index = next.value;
      return; // Same job, so same rank: it is still the first.
    }
    if (nextEntry(first)) this.#sink(0);
    else this.drop();
  }

  /** The first candidate's group is out of this cycle. */
  drop(): void {
    const last = this.#heap.pop() as Candidate;
    if (this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #sink(from: number): void {
    const heap = this.#heap;
    for (let at = from; ; ) {
      const left = 2 * at + 1;
      let least = at;
      for (const child of [left, left + 1]) {
        if (child < heap.length && before(heap[child], heap[least])) least = child;
      }
      if (least === at) return;
      const moved = heap[at] as Candidate;
      heap[at] = heap[least] as Candidate;
      heap[least] = moved;
      at = least;
    }
  }
}

function before(a: Candidate | undefined, b: Candidate | undefined): boolean {
  return a !== undefined && b !== undefined && compareEntries(a.entry, b.entry) < 0;
}

function firstOf(group: Group): Candidate | undefined {
  const entries = group.entries[Symbol.iterator]();
  const step = entries.next();
  if (step.done === true) return undefined;
  const candidate = { group, entries, ...opened(step.value) };
  return candidate.room > 0 || nextEntry(candidate) ? candidate : undefined;
}

/** Moves to the group's next job that has room; false when there is none. */
function nextEntry(candidate: Candidate): boolean {
  for (let step = candidate.entries.next(); step.done !== true; step = candidate.entries.next()) {
    Object.assign(candidate, opened(step.value));
    if (candidate.room > 0) return true;
  }
  return false;
}

function opened(entry: QueueEntry): Pick<Candidate, 'entry' | 'indices' | 'index' | 'room'> {
  const indices = entry.pending[Symbol.iterator]();
  const index = indices.next().value as number;
  const room = entry.runningMax === null ? Infinity : entry.runningMax - entry.running;
  return { entry, indices, index, room };
}
