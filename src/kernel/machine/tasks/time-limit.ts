// When a task is over at the latest, as its nodes reckon it: the clock of a time limit stands still
// while the task is suspended by order.

import type { NodeName } from '../../model/ids.ts';
import type { Settings } from '../../model/settings.ts';
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
  const left = signedTimeLeft(task, now);
  return left === null ? null : Math.max(1, left);
}

/**
 * When it is over at the latest. Null when nobody knows: it has no limit, should have been over by
 * now, or a node that has it does not say how it goes.
 */
export function latestEndOf(
  task: Task,
  nodes: ReadonlyMap<NodeName, { readonly unreachableSince: number | null }>,
  { killGraceMs }: Pick<Settings, 'killGraceMs'>,
  now: number,
): number | null {
  const left = signedTimeLeft(task, now);
  if (left === null || left < -killGraceMs) return null;
  for (const [name, { state }] of task.parts) {
    if (state !== 'ended' && nodes.get(name)?.unreachableSince !== null) return null;
  }
  return now + Math.max(1, left);
}

/** Less than 0: its time is over. */
function signedTimeLeft(task: Task, now: number): number | null {
  const { startedAt, parts } = task;
  const walltimeMs = limitOf(task);
  if (walltimeMs === null || startedAt === null) return walltimeMs;
  let used = Infinity;
  for (const { pausedAt, pausedMs } of parts.values()) {
    used = Math.min(used, (pausedAt ?? now) - startedAt - pausedMs);
  }
  return walltimeMs - Math.max(0, used);
}
