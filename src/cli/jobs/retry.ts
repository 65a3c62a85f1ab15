// Trying again when the head is away for a moment: only what may safely be sent twice.

import { setTimeout as sleep } from 'node:timers/promises';
import { isNobodyThere } from '../connection/api.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';

const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 2000;

export interface Patience {
  /** How long to go on in all. */
  readonly totalMs: number;
  /** Told once, when the first try has failed. */
  readonly note: string;
}

/**
 * Runs `attempt` until it succeeds, fails for another reason, or patience ends. There is none for a
 * head that was not there in the first place: it is not restarting, it was never started.
 */
export async function withPatience<T>(
  context: Context,
  patience: Patience,
  attempt: () => Promise<T>,
): Promise<T> {
  const until = performance.now() + patience.totalMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
    try {
      return await attempt();
    } catch (error) {
      const away = error instanceof Failure && error.kind === 'unavailable';
      if (!away || performance.now() + pauseMs > until) throw error;
      if (isNobodyThere(error) && !(await context.api()).met) throw error;
      if (pauseMs === FIRST_PAUSE_MS) context.note(`${error.message}. ${patience.note}`);
      await sleep(pauseMs);
    }
  }
}
