// The patience of a command with a head that is away, and what it says meanwhile.

import { type Patience, patiently } from '../../connect/patience.ts';
import type { Context } from '../context.ts';
import { isHeadExpected, isHeadUnstopped } from './head-expected.ts';

/**
 * Patience of who waits for a job: the job goes on without its head, so there is no other end to that
 * than the time that was given, and the word that it waits (J29).
 */
export function patienceOfWait(deadline: number | null): Patience {
  const totalMs = deadline === null ? Number.POSITIVE_INFINITY : deadline - performance.now();
  const long = deadline === null ? ', as long as it takes' : '';
  return { totalMs, isWait: true, note: `Waiting for the head to come back${long}.` };
}

/** Runs `attempt` again while the head restarts. */
export function withPatience<T>(
  context: Context,
  patience: Patience,
  attempt: () => Promise<T>,
): Promise<T> {
  // A cluster that nobody has stopped comes back, whoever starts it again.
  const isUnstopped = () => isHeadUnstopped(context);
  const waiting = {
    hasMet: async () => (await context.api()).met || (patience.isWait === true && isUnstopped()),
    isKnown: async () => (await context.api()).answered || isUnstopped(),
    isExpected: () => isHeadExpected(context),
    note: (line: string) => context.note(line),
  };
  return patiently(waiting, patience, attempt);
}
