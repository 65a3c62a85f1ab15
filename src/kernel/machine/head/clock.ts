// The head's wall clock, which somebody may set: how far it was set, and what has certainly come.

import type { ClockReading } from '../../model/clock.ts';
import { CLOCK_DOUBT_MIN_MS, CLOCK_DOUBT_MS, CLOCK_STEP_MIN_MS } from '../../model/limits.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';

/**
 * Comes before everything else of its instant: decisions are made by the clock of now, with the
 * instants that are counted from moved along. Says whether it was set back.
 */
export function decideClock(step: Step, reading: ClockReading): boolean {
  const byMs = stepOf(step, reading);
  if (Math.abs(byMs) >= CLOCK_STEP_MIN_MS) {
    step.emit({ kind: 'clock_stepped', byMs, reading });
  } else if (step.state.clock?.boot !== reading.boot) step.emit({ kind: 'clock_read', reading });
  return byMs <= -CLOCK_STEP_MIN_MS;
}

/** After another start of the machine only this is certain: no record is from the future. */
function stepOf({ state, at }: Step, { boot, bootedAt }: ClockReading): number {
  const { clock, lastAt } = state;
  if (clock?.boot === boot) return bootedAt - clock.bootedAt;
  return lastAt === null ? 0 : Math.min(0, at - lastAt);
}

/**
 * The instant that has come for certain: what cannot be undone waits for it. A clock that was just
 * set far forward may be set back as soon as somebody has seen it.
 */
export function certainAt({ clockSteps }: Pick<State, 'clockSteps'>, at: number): number {
  let aheadMs = 0;
  let believedMs = 0;
  let since = Number.NEGATIVE_INFINITY;
  for (const step of clockSteps) {
    if (step.at - since >= CLOCK_DOUBT_MS) believedMs = aheadMs;
    aheadMs += step.byMs;
    since = step.at;
  }
  const doubtMs = at - since < CLOCK_DOUBT_MS ? aheadMs - believedMs : 0;
  return doubtMs < CLOCK_DOUBT_MIN_MS ? at : at - doubtMs;
}
