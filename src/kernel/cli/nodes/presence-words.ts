// Who uses the machine of a node, in words.

import type { Presence } from '../../model/presence.ts';
import { formatSpan } from '../output/words.ts';

/** `keyboard on tty2, 12s ago`. */
export function presenceText({ what, at }: Pick<Presence, 'what' | 'at'>, now: number): string {
  return at === null ? what : `${what}, ${formatSpan(Math.max(0, now - at))} ago`;
}

/** What shows best that somebody is there, else that somebody was; null: nothing was seen. */
export function newestOf(presence: readonly Presence[]): Presence | null {
  const inUse = presence.filter(({ state }) => state === 'in_use');
  const quiet = presence.filter(({ state, at }) => state === 'quiet' && at !== null);
  // What is so without an instant, a login, is less than a key that was just pressed.
  const byTime = (a: Presence, b: Presence): number => (b.at ?? 0) - (a.at ?? 0);
  return inUse.sort(byTime)[0] ?? quiet.sort(byTime)[0] ?? null;
}

const STATES = { in_use: 'in use', quiet: 'quiet', blind: 'cannot be detected' } as const;

/** `terminals: in use: keyboard on tty2, 12s ago`. */
export function presenceLine(one: Presence, now: number): string {
  return `${one.by}: ${STATES[one.state]}: ${presenceText(one, now)}`;
}
