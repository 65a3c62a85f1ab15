// Where a cycle stopped that had used up its looks, and what those before that place were promised:
// what the next cycle goes on from. Memory only: without it a cycle begins at the front.

import type { JobId, NodeName } from '../../model/ids.ts';
import {
  type Candidate,
  candidateOf,
  isBefore,
  isBeforeMark,
  type LineRules,
  type Mark,
} from '../line/line.ts';
import type { Queue, QueueEntry } from '../line/queue.ts';

export interface Rest {
  /** The first job that was not considered. Nothing is set aside for any of its tasks. */
  readonly mark: Mark;
  /** Tasks before it that something is set aside for, and keeps being. */
  readonly heads: readonly SlotPromise[];
  /** Partitions that one of those before it closed, by `fifo`, and the job that waits there. */
  readonly closed: ReadonlyMap<string, JobId>;
  /** `Preemptor.spare`, by tasks before it. */
  readonly spared: ReadonlySet<string>;
}

/** A task and the slot that is set aside for it. */
export interface SlotPromise {
  readonly entry: QueueEntry;
  readonly index: number;
  readonly at: number;
  readonly nodes: readonly NodeName[];
}

/** A head that still waits. */
export interface PendingPromise {
  readonly head: SlotPromise;
  readonly candidate: Candidate;
}

/** The part of the line that a cycle leaves out: from where its walk along the front ended. */
export interface Gap {
  readonly first: Candidate;
  readonly mark: Mark;
  readonly queue: Queue;
  readonly rules: LineRules;
}

/** Those of the gap that still wait for what is set aside for them, in the order of the line. */
export function waitingOf(heads: readonly SlotPromise[], gap: Gap): PendingPromise[] {
  const waiting: PendingPromise[] = [];
  for (const head of heads) {
    const candidate = isHalfway(head.entry, gap.first) ? null : inGap(head.entry, head.index, gap);
    if (candidate !== null) waiting.push({ head, candidate });
  }
  return waiting.sort((a, b) => (isBefore(a.candidate, b.candidate) ? -1 : 1));
}

/** Tasks of the gap that came after the last cycle, in partitions where none may pass. */
export function* newcomersOf(gap: Gap): Generator<Candidate> {
  const { queue, rules } = gap;
  for (const entry of queue.arrivals) {
    const { shape, pending, running, runningMax } = entry;
    if (rules.partition(shape.partition)?.policy !== 'fifo') continue;
    if (runningMax !== null && running >= runningMax) continue;
    // The last: those before it may have come up along the front.
    const candidate = inGap(entry, pending.last as number, gap);
    if (candidate !== null) yield candidate;
  }
}

function inGap(entry: QueueEntry, index: number, gap: Gap): Candidate | null {
  const { first, mark, queue, rules } = gap;
  const group = queue.groupOf(entry);
  if (group === undefined || !entry.pending.has(index)) return null;
  const alone = candidateOf(entry, index, rules);
  if (alone === null || isBefore(alone, first) || !isBeforeMark(alone, mark)) return null;
  return { ...alone, entry, group };
}

/** The front stopped inside an array with a running limit: how many may start it alone knows. */
function isHalfway(entry: QueueEntry, first: Candidate): boolean {
  return entry === first.entry && entry.runningMax !== null && first.index !== entry.pending.first;
}
