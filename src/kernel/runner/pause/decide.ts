// When a pause begins, changes and ends. It needs no head: its deadline is in the agent's journal.

import { isSame } from '../../base/same.ts';
import type { PauseOrder, YieldPause } from '../../model/pause.ts';
import type { Now } from '../epoch.ts';
import type { RunnerEvent } from '../events.ts';
import type { RunnerState } from '../state.ts';
import type { AskedPause } from './state.ts';

/** How often the deadline is looked at: a sleeping machine or set clock stops no timer in time. */
const LOOK_MS = 10_000;

export interface PauseInput {
  readonly by: string;
  readonly durationMs: number;
  readonly requeue: boolean;
}

/** Another one in place of the one before: the deadline is always what was asked for last. */
export function decidePause(state: RunnerState, wish: PauseInput, now: Now): RunnerEvent[] {
  const pause = pauseOf(wish, now);
  return isSame(state.pauses.asked, pause) ? [] : [{ kind: 'pause_set', ...now, pause }];
}

export function decideUnpause(state: RunnerState, by: string, now: Now): RunnerEvent[] {
  if (state.pauses.asked === null) return [];
  return [{ kind: 'pause_set', ...now, pause: null, why: `ended by ${by}` }];
}

/** An operator's wish by way of the head; it is answered even where nothing changes. */
export function decidePauseOrder(state: RunnerState, order: PauseOrder, now: Now): RunnerEvent[] {
  const { serial, by } = order;
  if (serial <= state.pauses.orderHeard) return [];
  const pause = order.kind === 'pause' ? pauseOf(order, now) : null;
  const why = order.kind === 'pause' ? {} : { why: `ended by ${by}` };
  return [{ kind: 'pause_set', ...now, pause, ...why, serial }];
}

export function decideYield(
  state: RunnerState,
  yielding: YieldPause | null,
  now: Now,
): RunnerEvent[] {
  if (isSame(state.pauses.yielding, yielding)) return [];
  return [{ kind: 'yield_set', ...now, yielding }];
}

/** By either clock. */
export function decidePauseOver({ pauses }: RunnerState, now: Now): RunnerEvent[] {
  const { asked } = pauses;
  if (asked === null || (now.at < asked.until && now.monotonic < asked.endsAt)) return [];
  return [{ kind: 'pause_set', ...now, pause: null, why: 'its time is over' }];
}

/** Another boot has another monotonic clock. A wall clock that went back makes no pause longer. */
export function rebasePause({ pauses }: RunnerState, now: Now): RunnerEvent[] {
  const { asked } = pauses;
  if (asked === null) return [];
  const restMs = Math.min(asked.until - now.at, asked.until - asked.since);
  return [{ kind: 'pause_rebased', endsAt: now.monotonic + Math.max(0, restMs) }];
}

/** When a tick should look at it, in monotonic ms; null: no pause ends by itself. */
export function pauseDeadline({ pauses }: RunnerState, now: Now): number | null {
  const { asked } = pauses;
  if (asked === null) return null;
  const restMs = Math.min(asked.until - now.at, asked.endsAt - now.monotonic);
  return now.monotonic + Math.min(Math.max(0, restMs), LOOK_MS);
}

function pauseOf({ by, durationMs, requeue }: PauseInput, now: Now): AskedPause {
  const { at: since, monotonic } = now;
  const until = since + durationMs;
  return { kind: 'owner', by, since, until, requeue, endsAt: monotonic + durationMs };
}
