// One word for a whole job, and how many of its tasks are where.

import { blockedOf, waitingSize } from '../../machine/jobs/behind.ts';
import type { Job, Task } from '../../machine/jobs/facts.ts';
import { shownState } from '../../machine/tasks/shown-state.ts';
import type { OutcomeKind, TaskState } from '../../model/job.ts';

/** The state that stands for the job is the first of these that any of its tasks is in. */
const ORDER: readonly TaskState[] = [
  'running',
  'suspended',
  'completing',
  'staging_out',
  'starting',
  'staging_in',
  'pending',
];

export function jobState(job: Job): TaskState {
  if (job.outcome !== null) return 'done';
  let best = ORDER.length - 1;
  for (const task of job.active.values()) {
    best = Math.min(best, ORDER.indexOf(shownState(task)));
    if (best === 0) break;
  }
  return ORDER[best] ?? 'pending';
}

export function taskCounts(job: Job): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (state: TaskState, count: number): void => {
    if (count > 0) counts[state] = (counts[state] ?? 0) + count;
  };
  add('pending', waitingSize(job));
  for (const task of job.active.values()) if (!isQueuedAgain(job, task)) add(shownState(task), 1);
  for (const indices of job.ended.values()) add('done', indices.size);
  return counts;
}

/** How many of the tasks that are done ended in which way. */
export function outcomeCounts(job: Job): Record<string, number> {
  return Object.fromEntries([...job.ended].map(([kind, indices]) => [kind, indices.size]));
}

/** A requeued task is known and waits: it must not be counted twice. */
function isQueuedAgain(job: Job, task: Task): boolean {
  return task.state === 'pending' && job.pending.has(task.index);
}

/** The outcome of one task; undefined while it is not done. */
export function endedAs(job: Job, index: number): OutcomeKind | undefined {
  for (const [kind, indices] of job.ended) if (indices.has(index)) return kind;
  return undefined;
}

/** The first task that waits; undefined when none does. */
export function firstPending(job: Job): number | undefined {
  if (job.pending.first !== undefined) return job.pending.first;
  for (const task of job.active.values()) if (shownState(task) === 'pending') return task.index;
  return job.behind.size === 0 ? undefined : blockedOf(job).first;
}
