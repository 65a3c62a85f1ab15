// How many calls end in a second, from how many had ended at two instants.

import { countWords } from './words.ts';

export interface Counted {
  readonly at: number;
  readonly done: number;
}

/** Returns null when that cannot be said. A head that was started again counts from 0. */
export function rateBetween(before: Counted | null, now: Counted): number | null {
  if (before === null || now.at <= before.at || now.done < before.done) return null;
  return ((now.done - before.done) * 1000) / (now.at - before.at);
}

/** `0.05`, `3.2`, `48`, `1,210`: two digits say enough, and 0 is none at all. */
export function rateWords(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond >= 10) return countWords(Math.round(perSecond));
  return perSecond >= 1 ? perSecond.toFixed(1) : perSecond.toPrecision(1);
}
