// What a history query means, in plain code: for the store in memory, and as the yardstick that
// the SQL is tested against.

import type { HistoryQuery, JobRow, TaskRow } from '../ports/history.ts';

/** The jobs that match, newest first. */
export function matchJobs(jobs: Iterable<JobRow>, query: HistoryQuery): JobRow[] {
  return [...jobs]
    .filter((job) => isJobMatch(job, query) && isIn(query.outcome, job.outcome))
    .sort((a, b) => b.jobId - a.jobId)
    .slice(0, Math.max(0, query.limit))
    .map((job) => (query.withoutSpecs === true ? { ...job, spec: '' } : job));
}

/** The tasks that match and whose jobs do; newest job first, then by index and epoch. */
export function matchTasks(
  tasks: Iterable<TaskRow>,
  jobs: ReadonlyMap<number, JobRow>,
  query: HistoryQuery,
): TaskRow[] {
  return (query.lastEpochs === true ? lastEpochsOf(tasks) : [...tasks])
    .filter((task) => isTaskMatch(task, query))
    .filter((task) => {
      const job = jobs.get(task.jobId);
      return job !== undefined && isJobMatch(job, query);
    })
    .sort(compareTasks)
    .slice(0, Math.max(0, query.limit));
}

function lastEpochsOf(tasks: Iterable<TaskRow>): TaskRow[] {
  const last = new Map<string, TaskRow>();
  for (const task of tasks) {
    const key = `${task.jobId}[${task.taskIndex}]`;
    if (task.epoch > (last.get(key)?.epoch ?? 0)) last.set(key, task);
  }
  return [...last.values()];
}

type TaskKey = Pick<TaskRow, 'jobId' | 'taskIndex' | 'epoch'>;

function compareTasks(a: TaskKey, b: TaskKey): number {
  return b.jobId - a.jobId || a.taskIndex - b.taskIndex || a.epoch - b.epoch;
}

function isTaskMatch(task: TaskRow, query: HistoryQuery): boolean {
  if (query.afterTask !== undefined && compareTasks(task, query.afterTask) <= 0) return false;
  return isIn(query.outcome, task.outcome) && isIn(query.taskIndex, task.taskIndex);
}

function isJobMatch(job: JobRow, query: HistoryQuery): boolean {
  if (query.jobIds !== undefined && !query.jobIds.includes(job.jobId)) return false;
  if (query.belowJobId !== undefined && job.jobId >= query.belowJobId) return false;
  if (query.submittedFrom !== undefined && job.submittedAt < query.submittedFrom) return false;
  if (query.submittedUntil !== undefined && job.submittedAt >= query.submittedUntil) return false;
  return isIn(query.owner, job.owner) && isIn(query.state, job.state) && isIn(query.name, job.name);
}

function isIn<T>(wanted: T | undefined, actual: T | null): boolean {
  return wanted === undefined || wanted === actual;
}
