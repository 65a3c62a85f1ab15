// Every invariant of the head's own books (S9), checked after every test and every simulated event.

import type { State } from './state.ts';

export function check(state: State): void {
  for (const noun of state.machine.nouns) noun.check?.(state);
}
