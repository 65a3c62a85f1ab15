// Orders about what is over here. Only a head that has lost its newest records gives them, and it
// is answered with what it had been told: silence would leave the task as it is for ever.

import type { EpochId } from '../model/ids.ts';
import { NO_USAGE } from '../model/job.ts';
import type { LifeId } from '../model/life.ts';
import type { EndCause, EndReport } from '../model/orders.ts';
import { type Now, toldOf } from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import type { RunnerState } from './state.ts';

/** What an order says of the epoch that it means. */
export interface Meant {
  readonly epochId: EpochId;
  /** Absent: of an older head. */
  readonly life?: LifeId | undefined;
}

/** True when the number was given to another start, by another life of the head. */
export function isAnother(meant: Meant, known: LifeId | null | undefined): boolean {
  return meant.life !== undefined && known != null && known !== meant.life;
}

/** Returns null when nothing of this number is over here. */
export function decideFinished(state: RunnerState, meant: Meant, now: Now): RunnerEvent[] | null {
  const { epochId } = meant;
  const epoch = state.epochs.get(epochId);
  const isOver = epoch === undefined ? state.finished.has(epochId) : epoch.acknowledged;
  if (!isOver) return null;
  if (isTold(state, epochId)) return [];
  const known = epoch === undefined ? state.finished.get(epochId) : epoch.order.life;
  const end = epoch === undefined ? state.ends.get(epochId) : toldOf(epoch);
  return [{ kind: 'end_repeated', report: endFor(meant, known, end, now) }];
}

/**
 * The end of another job must not be taken for that of this one, which was given its number anew.
 * What never ran is harmless either way.
 */
function endFor(
  { epochId, life }: Meant,
  known: LifeId | null | undefined,
  end: EndReport | undefined,
  now: Now,
): EndReport {
  const isSame = life !== undefined && known === life;
  if (end !== undefined && (isSame || end.cause === 'never_started')) return end;
  if (isAnother({ epochId, life }, known)) return neverStarted(epochId, now);
  return endUnknown(epochId, now);
}

/** The report on an epoch that is not here, and of whose end nothing is known any more. */
function endUnknown(epochId: EpochId, now: Now): EndReport {
  const detail = 'it ended here before, and how was told to a head that has lost it since';
  return endOfNothing(epochId, { at: now.at, cause: 'lost', detail });
}

/** Nothing here knows of it: its order may have been on the way, or its record was lost here. */
export function neverSeen(epochId: EpochId, now: Now): EndReport {
  const detail = 'this node has no record of it: it never began here, or its record was lost';
  return endOfNothing(epochId, { at: now.at, cause: 'lost', detail });
}

/** Said of a start whose number another one, of an earlier life of the head, has here. */
export function neverStarted(epochId: EpochId, now: Now): EndReport {
  const detail = 'another start had its number on this node before the head was put back';
  return endOfNothing(epochId, { at: now.at, cause: 'never_started', detail });
}

/** True for an end that waits to be sent, or to be acknowledged. */
export function isTold(state: RunnerState, epochId: EpochId): boolean {
  for (const report of state.reports.values()) {
    if (report.kind === 'task_ended' && report.epochId === epochId) return true;
  }
  return false;
}

/** An end without any process. */
export function endOfNothing(
  epochId: EpochId,
  of: { readonly at: number; readonly cause: EndCause; readonly detail: string | undefined },
): EndReport {
  const { at, cause, detail } = of;
  const said = detail === undefined ? {} : { detail };
  const nothing = { nodeFault: false, processes: [], usage: { ...NO_USAGE } };
  return { kind: 'task_ended', epochId, at, cause, ...nothing, ...said };
}
