// Since when a job runs: the start of its current or last epoch. What came before, until a requeue
// or a retry, is in the history.

import type { JobView } from '../../api/jobs.ts';
import type { Job, Task } from '../../core/controller/state.ts';
import type { Engine } from '../engine.ts';

/** Of a job in memory: null while it is not running; of arrays and done jobs the first start. */
export function runStart(job: Job): number | null {
  if (job.spec.array !== null || job.outcome !== null) return job.startedAt;
  const task = job.active.get(0);
  return task === undefined ? null : epochStart(task);
}

/** A task that waits again keeps its last start until the next one; it does not run since then. */
export function epochStart(task: Task): number | null {
  return task.state === 'pending' ? null : task.startedAt;
}

/** By job that is no array, the start of its last ended epoch; those that never ended one miss. */
export async function lastRunStarts(
  { store }: Pick<Engine, 'store'>,
  jobIds: readonly number[],
): Promise<ReadonlyMap<number, number | null>> {
  const starts = new Map<number, number | null>();
  if (jobIds.length === 0) return starts;
  const query = { jobIds, taskIndex: -1, lastEpochs: true, limit: jobIds.length };
  for (const row of await store.tasks(query)) starts.set(row.jobId, row.startedAt);
  return starts;
}

/** The views with the true start of what is done. */
export async function withRunStarts<View extends JobView>(
  engine: Pick<Engine, 'store'>,
  views: readonly View[],
): Promise<View[]> {
  const done = views.filter(({ state, array }) => state === 'done' && array === null);
  const starts = await lastRunStarts(
    engine,
    done.map(({ id }) => id),
  );
  return views.map((view) => {
    const runStartedAt = starts.get(view.id);
    return runStartedAt === undefined ? view : { ...view, runStartedAt };
  });
}
