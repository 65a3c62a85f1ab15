// What an agent keeps of pauses: the one that was asked for and the one that it began itself.

import { type OwnerPause, type Pause, pauseWords, type YieldPause } from '../../model/pause.ts';

/** A pause on request. Over with the first of both clocks: setting one makes it no longer. */
export interface AskedPause extends OwnerPause {
  /** Monotonic, of this boot. */
  readonly endsAt: number;
}

export interface Pauses {
  asked: AskedPause | null;
  yielding: YieldPause | null;
  /** Counts the changes that the head is told of. */
  turn: number;
  /** Serial of the newest order about a pause. */
  orderHeard: number;
}

export const NO_PAUSES: Pauses = { asked: null, yielding: null, turn: 0, orderHeard: 0 };

export function isPaused({ asked, yielding }: Pauses): boolean {
  return asked !== null || yielding !== null;
}

/** The one that people are shown: whoever asked knows best why. */
export function shownPause({ asked, yielding }: Pauses): Pause | null {
  if (asked === null) return yielding;
  const { endsAt: _, ...pause } = asked;
  return pause;
}

/** In words for a start that is not made; null: there is no pause. */
export function whyPaused(pauses: Pauses): string | null {
  const pause = shownPause(pauses);
  return pause === null ? null : `the node is ${pauseWords(pause)}`;
}
