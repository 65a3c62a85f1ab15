// Where a cycle stopped that had used up its looks, and what those before that place were promised:
// what the next cycle goes on from. Memory only: without it a cycle begins at the front.

import type { JobId, NodeName } from '../model/ids.ts';
import {
  type Candidate,
  candidateOf,
  isBefore,
  isBeforeMark,
  type LineRules,
  type Mark,
} from './line.ts';
import type { Queue, QueueEntry } from './queue.ts';

export interface Rest {
  /** The first job that was not considered. Nothing is set aside for any of its tasks. */
  readonly mark: Mark;
  /** Tasks before it that something is set aside for, and keeps being. */
  readonly heads: readonly Head[];
  /** Partitions that one of those before it closed, by `fifo`, and the job that waits there. */
  readonly closed: ReadonlyMap<string, JobId>;
  /** `Preemptor.spare`, by tasks before it. */
  readonly spared: ReadonlySet<string>;
}

/** A task and the slot that is set aside for it. */
export interface Head {
  readonly entry: QueueEntry;
  readonly index: number;
  readonly at: number;
  readonly nodes: readonly NodeName[];
}

/** A head that still waits. */
export interface Waiting {
  readonly head: Head;
  readonly candidate: Candidate;
}

/** Those that still wait, from `first` on to the mark, in the order of the line. */
export function waitingOf(rest: Rest, first: Candidate, queue: Queue, rules: LineRules): Waiting[] {
  const waiting: Waiting[] = [];
  for (const head of rest.heads) {
    const { entry, index } = head;
    const group = queue.groupOf(entry);
    if (group === undefined || !entry.pending.has(index) || isHalfway(entry, first)) continue;
    const alone = candidateOf(entry, index, rules);
    if (alone === null || isBefore(alone, first) || !isBeforeMark(alone, rest.mark)) continue;
    waiting.push({ head, candidate: { ...alone, entry, group } });
  }
  return waiting.sort((a, b) => (isBefore(a.candidate, b.candidate) ? -1 : 1));
}

/** The front stopped inside an array with a running limit: how many may start it alone knows. */
function isHalfway(entry: QueueEntry, first: Candidate): boolean {
  return entry === first.entry && entry.runningMax !== null && first.index !== entry.pending.first;
}
