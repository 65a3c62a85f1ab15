// Instants of jobs when the head's wall clock was set. Of a job that is done nothing is counted any
// more: it stays where it was.

import type { State } from '../state.ts';
import { stirNodes } from '../tasks/apply.ts';
import { dequeueEntry, entryOf, requeueEntry } from './apply.ts';
import type { Job, Task } from './facts.ts';

export function rebaseJobs(state: State, byMs: number): void {
  const { scratch } = state;
  // All of them leave before the first is moved: their order is kept by these instants.
  const jobs = [...state.jobs.values()].filter(({ outcome }) => outcome === null);
  for (const job of jobs) dequeueEntry(state, job);
  for (const job of jobs) rebaseJob(state, job, byMs);
  scratch.scheduleDue = true;
  scratch.retryNotBefore = 0;
}

function rebaseJob(state: State, job: Job, byMs: number): void {
  job.submittedAt += byMs;
  if (job.startedAt !== null) job.startedAt += byMs;
  for (const task of job.active.values()) rebaseTask(state, task, byMs);
  job.entry = entryOf(state, job, job.entry.running);
  requeueEntry(state, job);
}

function rebaseTask(state: State, task: Task, byMs: number): void {
  if (task.startedAt !== null) task.startedAt += byMs;
  if (task.waitsSince !== null) task.waitsSince += byMs;
  for (const part of task.parts.values()) {
    if (part.pausedAt !== null) part.pausedAt += byMs;
    if (part.end !== null) part.end = { ...part.end, at: part.end.at + byMs };
  }
  stirNodes(state, task);
}
