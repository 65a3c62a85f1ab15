// Trying again when the head is away for a moment: only what may safely be sent twice.

import { setTimeout as sleep } from 'node:timers/promises';
import { asSentence } from '../base/sentence.ts';
import { Failure } from '../model/failure.ts';
import { isForbidden, isNobodyThere } from './api.ts';

const FIRST_PAUSE_MS = 100;
export const PAUSE_MAX_MS = 2000;
/** For a head that this process has not met: its address may be wrong. Not for waiting on jobs. */
const FIRST_MAX_MS = 30_000;
/** For one that took a connection and has never answered: it may be no head at all. */
const UNANSWERED_MAX_MS = 120_000;

export interface Patience {
  /** How long to go on in all; Infinity: as long as it takes. */
  readonly totalMs: number;
  /** For a job, which goes on without its head: for a head that nobody has stopped, too. */
  readonly isWait?: boolean;
  /** Told once, when the first try has failed. */
  readonly note: string;
  /** Nothing is tried again once this is so. */
  readonly isOver?: () => boolean;
}

/** What a program that waits for a head knows of it. */
export interface HeadWait {
  /** The head has answered this process before. */
  hasMet(): boolean | Promise<boolean>;
  /** The head is known to be one: it has answered, or was not stopped here. Absent: it is. */
  isKnown?(): boolean | Promise<boolean>;
  /** One that nobody has met is likely to come: it restarts, or starts. */
  isExpected(): boolean;
  /** A line for people. */
  note(line: string): void;
  /** Ends the pauses. */
  readonly signal?: AbortSignal;
}

/**
 * Runs `attempt` until it succeeds, fails for another reason, or patience ends. There is none for a
 * head of which nothing says that it restarts: it was never started.
 */
export async function patiently<T>(
  waiting: HeadWait,
  patience: Patience,
  attempt: () => Promise<T>,
): Promise<T> {
  const begun = process.uptime() * 1000;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error) || patience.isOver?.()) throw error;
      const isKnown = (await waiting.isKnown?.()) ?? true;
      const isNew = isNobodyThere(error) && !(await waiting.hasMet());
      const newMs = patience.isWait === true ? Number.POSITIVE_INFINITY : FIRST_MAX_MS;
      const mostMs = isNew ? newMs : isKnown ? Number.POSITIVE_INFINITY : UNANSWERED_MAX_MS;
      const totalMs = Math.min(mostMs, patience.totalMs);
      if (process.uptime() * 1000 + pauseMs > begun + totalMs) throw error;
      if (isNew && !waiting.isExpected()) throw error;
      const isAway = error.kind === 'unavailable';
      if (isAway && pauseMs === FIRST_PAUSE_MS)
        waiting.note(`${asSentence(error.message)} ${patience.note}`);
      await sleep(pauseMs, undefined, { signal: waiting.signal });
    }
  }
}

/** The head is away, or hears too much at once: after a restart all come back in one moment. */
function isPassing(error: unknown): error is Failure {
  if (!(error instanceof Failure)) return false;
  if (isForbidden(error)) return false;
  return error.kind === 'unavailable' || error.code === 'rate.exceeded';
}
