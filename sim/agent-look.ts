// What an agent knows, as it is at one moment: two looks are the same exactly if nothing was
// decided between them.

import { sumOf } from '../src/kernel/runner/books.ts';
import type { StateSum } from '../src/kernel/runner/events.ts';
import type { RunnerState } from '../src/kernel/runner/state.ts';

/**
 * Shares with the state what is never changed there but replaced, like orders and reports: so two
 * looks are compared in a fraction of the time that their bytes would take.
 */
export function lookAt(state: RunnerState): StateSum {
  return { ...sumOf(state), pauses: { ...state.pauses } };
}
