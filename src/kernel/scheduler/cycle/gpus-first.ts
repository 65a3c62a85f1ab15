// On a node with gpus, who needs them goes first: of what would start in this cycle anyway, and
// before what needs none and has not waited long. Nobody is kept waiting for gpus that nobody takes
// now.

import { SortedList } from '../../base/sorted-list.ts';
import { GPUS_FIRST_MS } from '../../model/limits.ts';
import { GPU_LABEL, needsGpus } from '../line/gpus.ts';
import { type Candidate, isBefore, Line, type LineRules } from '../line/line.ts';
import type { Band, Group, Queue, QueueEntry } from '../line/queue.ts';
import type { NodeView } from '../room/pool.ts';

/** Those that may go before one task, one after the other. */
export interface Rivals {
  readonly first: Candidate | undefined;
  started(): void;
  /** Drops a task that does not start now, with the rest of its group. */
  drop(): void;
}

export class GpusFirst {
  readonly #queue: Queue;
  readonly #rules: LineRules;
  readonly #now: number;
  readonly #started = new Map<QueueEntry, Set<number>>();
  #line: Line | null = null;

  constructor(queue: Queue, rules: LineRules, now: number) {
    this.#queue = queue;
    this.#rules = rules;
    this.#now = now;
  }

  /** Whether others may go first where this one would start, now or then. */
  isFor({ entry, partition }: Candidate, views: readonly NodeView[], at = this.#now): boolean {
    if (this.#queue.gpuGroups.size === 0 || needsGpus(entry.shape.request)) return false;
    if (partition.policy === 'fifo' || at - entry.submittedAt >= GPUS_FIRST_MS) return false;
    return views.some(({ total, labels }) => total.gpuCount > 0 || labels.has(GPU_LABEL));
  }

  /** Whether it may go before that one, which comes first in the line. */
  isRival({ group, tier, partition, entry }: Candidate, next: Candidate): boolean {
    if (!needsGpus(group.shape.request) || tier !== next.tier) return false;
    return partition.policy !== 'fifo' && entry.runningMax === null;
  }

  /** Those that come after it, in order. Of arrays with a running limit only their turn counts. */
  rivalsOf(next: Candidate): Rivals {
    this.#line ??= new Line(bandsOf(this.#queue.gpuGroups), this.#rules);
    const line = this.#line;
    const find = (): Candidate | undefined => {
      for (let one = line.first; one !== undefined; one = line.first) {
        if (one.tier < next.tier) return undefined;
        if (this.hasStarted(one)) line.advance();
        else if (isBefore(next, one) && this.isRival(one, next)) return one;
        else line.drop();
      }
      return undefined;
    };
    return {
      get first() {
        return find();
      },
      started: () => this.#noteStart(line),
      drop: () => line.drop(),
    };
  }

  /** At a later time: who was dropped may start then. */
  again(): void {
    this.#line = null;
  }

  /** True for a task that has started before its turn. */
  hasStarted({ entry, index }: Candidate): boolean {
    return this.#started.get(entry)?.has(index) === true;
  }

  #noteStart(line: Line): void {
    const { entry, index } = line.first as Candidate;
    const indices = this.#started.get(entry) ?? new Set<number>();
    this.#started.set(entry, indices.add(index));
    line.advance();
  }
}

/** These groups, as a line of their own takes them. */
function bandsOf(groups: Iterable<Group>): Band[] {
  return Array.from(groups, (group) => {
    const alone = new SortedList<Group>(() => 0);
    alone.insert(group);
    return { ...group.band, groups: alone };
  });
}
