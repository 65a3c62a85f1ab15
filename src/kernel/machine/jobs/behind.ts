// Which tasks of a job wait for tasks of other arrays with their own index (`--after 12:each`).

import { IntervalSet } from '../../base/interval-set.ts';
import type { Job } from './facts.ts';

type Behind = Pick<Job, 'behind'>;

/** Indices that wait for at least one other task; a copy. */
export function blockedOf({ behind }: Behind): IntervalSet {
  const blocked = new IntervalSet();
  for (const indices of behind.values()) {
    for (const [from, to] of indices.intervals()) blocked.addRange(from, to);
  }
  return blocked;
}

export function isBlocked({ behind }: Behind, index: number): boolean {
  for (const indices of behind.values()) if (indices.has(index)) return true;
  return false;
}

type UnstartedTasks = Behind & Pick<Job, 'pending'>;

/** All that have not started and hold nothing, but those held alone; a copy. */
export function waitingOf(job: UnstartedTasks): IntervalSet {
  const waiting = blockedOf(job);
  for (const [from, to] of job.pending.intervals()) waiting.addRange(from, to);
  return waiting;
}

/** How many these are, without a walk in all but the rare case of two arrays waited for. */
export function waitingSize({ pending, behind }: UnstartedTasks): number {
  if (behind.size === 0) return pending.size;
  const [only] = behind.values();
  const blocked = behind.size === 1 && only !== undefined ? only.size : blockedOf({ behind }).size;
  return pending.size + blocked;
}
