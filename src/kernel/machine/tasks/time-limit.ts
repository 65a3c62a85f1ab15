// When a task is over at the latest, as its nodes reckon it: the clock of a time limit stands still
// while the task is suspended by order.

import type { Task } from '../jobs/facts.ts';

/**
 * Since when its time limit counts, had it never been stopped. Null: all of its time may be yet to
 * come, as it has not started or stands still.
 */
export function countsFrom({ state, startedAt, pausedMs }: Task): number | null {
  return state === 'suspended' || startedAt === null ? null : startedAt + pausedMs;
}

/** All that it may run for: a build goes before its own time. Null: it has no limit. */
export function limitOf({ job, buildMs }: Task): number | null {
  const { walltimeMs } = job.spec;
  return walltimeMs === null ? null : walltimeMs + buildMs;
}

/** How much of its time limit is left; null: it has none. Never less than a moment. */
export function timeLeft(task: Task, now: number): number | null {
  const { startedAt, parts } = task;
  const walltimeMs = limitOf(task);
  if (walltimeMs === null || startedAt === null) return walltimeMs;
  let used = walltimeMs;
  for (const { pausedAt, pausedMs } of parts.values()) {
    used = Math.min(used, (pausedAt ?? now) - startedAt - pausedMs);
  }
  return Math.max(1, walltimeMs - Math.max(0, used));
}
