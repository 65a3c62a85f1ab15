// What a waiting task can expect: who it waits behind, when and where it would start, which smaller
// request would start now, and what its priority is made of. The task need not be in the queue.

import type { Behind } from '../../model/reason.ts';
import { type TooFar, type Turn, turnOf } from '../cycle/plan.ts';
import { lineRules, type Snapshot } from '../cycle/snapshot.ts';
import { candidateOf } from '../line/line.ts';
import { type PriorityParts, priorityParts } from '../line/priority.ts';
import type { QueueEntry } from '../line/queue.ts';
import { askOf } from '../room/ask.ts';
import { Board } from '../room/board.ts';
import { type Forecast, forecast } from './forecast.ts';
import { type Less, smallerRequests } from './what-if.ts';

export interface Prospect {
  /** False too when too many go before it to tell. */
  readonly startsNow: boolean;
  /** Null when it does not fit, or starts with the next cycle, or too many go before it to tell. */
  readonly behind: Behind | null;
  readonly forecast: Forecast | null;
  /** What follows `It would start now with `. */
  readonly smaller: readonly (readonly Less[])[];
  readonly tier: number;
  readonly priority: PriorityParts;
}

/**
 * Null: its partition starts nothing. `snapshot` is called anew for each plan that is tried; its
 * `looksMax` bounds the walk of the line up to the task.
 */
export function prospectOf(
  snapshot: () => Snapshot,
  { entry, index }: { readonly entry: QueueEntry; readonly index: number },
  now: number,
): Prospect | null {
  const shot = snapshot();
  const rules = lineRules(shot);
  const alone = candidateOf(entry, index, rules);
  if (alone === null) return null;
  // By itself whatever its array's limit is; that limit is asked for below and in the forecast.
  const target = { ...alone, entry };
  const { group, partition, qos, tier } = target;
  const ask = askOf(group.shape, partition);
  const reached = turnOf(shot, target, now);
  const turn = 'board' in reached ? reached : null;
  const isLimited = isThrottled(entry, index) || (shot.quotas?.full(target) ?? null) !== null;
  const isClosed = turn === null || turn.closedBy !== null || isLimited;
  const fitting = isClosed ? 0 : turn.board.fitting(ask, ask.request.nodeCount).length;
  const startsNow = !isClosed && fitting >= ask.request.nodeCount;
  const standing = { owner: group.owner, nodeCount: ask.request.nodeCount, partition, qos };
  return {
    startsNow,
    behind: startsNow || turn === null || isLimited ? null : behindOf(shot, turn, ask, now),
    forecast: knownUpTo(reached, forecast(snapshot(), target, now)),
    smaller: startsNow || isClosed ? [] : smallerRequests(turn.board, ask),
    tier,
    priority: priorityParts(entry, standing, rules, now),
  };
}

/** Those of its array that run, and those that go before it, are as many as may run at once. */
function isThrottled({ runningMax, running, pending }: QueueEntry, index: number): boolean {
  return runningMax !== null && running + pending.countBelow(index) >= runningMax;
}

/** A forecast searches no room: where the turn did not reach the task, it says the earliest. */
function knownUpTo(reached: Turn | TooFar, found: Forecast | null): Forecast | null {
  if (found === null || 'board' in reached) return found;
  return { ...found, unplannedAfter: found.unplannedAfter ?? reached.seen };
}

function behindOf(
  snapshot: Snapshot,
  { closedBy, promised }: Turn,
  ask: ReturnType<typeof askOf>,
  now: number,
): Behind | null {
  if (closedBy !== null) return { kind: 'turn', jobId: closedBy };
  const { nodeCount } = ask.request;
  const free = new Board({ ...snapshot, now }).fitting(ask, Number.MAX_SAFE_INTEGER);
  if (free.length < nodeCount) return null;
  const names = new Set(free.map(({ name }) => name));
  const first = promised.find(({ nodes }) => nodes.some((name) => names.has(name)));
  return first === undefined ? null : { kind: 'promise', jobId: first.jobId, at: first.at };
}
