// The patience of a command with a head that is away, and what it says meanwhile.

import { type Patience, patiently } from '../../connect/patience.ts';
import { isHeadExpected } from '../connection/head-expected.ts';
import type { Context } from '../context.ts';

/** Runs `attempt` again while the head restarts. */
export function withPatience<T>(
  context: Context,
  patience: Patience,
  attempt: () => Promise<T>,
): Promise<T> {
  const waiting = {
    hasMet: async () => (await context.api()).met,
    isExpected: () => isHeadExpected(context),
    note: (line: string) => context.note(line),
  };
  return patiently(waiting, patience, attempt);
}
