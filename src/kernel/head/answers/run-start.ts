// Since when a job runs, and where it ran: its current or last epoch. What came before, until a
// requeue or a retry, is in the history.

import type { JobView } from '../../api/jobs.ts';
import type { Job, Task } from '../../machine/jobs/facts.ts';
import type { Engine } from '../engine.ts';

/** A wide job is on thousands of nodes; a list names as many as somebody might read. */
export const NODES_SHOWN_MAX = 100;

/** Start of a job's current run, in memory: null while none; of arrays and done jobs the first. */
export function runStart(job: Job): number | null {
  if (job.spec.array !== null || job.outcome !== null) return job.startedAt;
  const task = job.active.get(0);
  return task === undefined ? null : epochStart(task);
}

/** A task that waits again keeps its last start until the next one; it does not run since then. */
export function epochStart(task: Task): number | null {
  return task.state === 'pending' ? null : task.startedAt;
}

/** An epoch that has ended. */
interface LastRun {
  readonly startedAt: number | null;
  readonly nodes: string[];
}

/** By job that is no array, its last ended epoch; those that never ended one miss. */
export async function lastRuns(
  { store }: Pick<Engine, 'store'>,
  jobIds: readonly number[],
): Promise<ReadonlyMap<number, LastRun>> {
  const runs = new Map<number, LastRun>();
  if (jobIds.length === 0) return runs;
  const query = { jobIds, taskIndex: -1, lastEpochs: true, limit: jobIds.length };
  for (const { jobId, startedAt, nodes } of await store.tasks(query)) {
    const names = nodes === '' ? [] : nodes.split(',').slice(0, NODES_SHOWN_MAX);
    runs.set(jobId, { startedAt, nodes: names });
  }
  return runs;
}

/** The views with the true start of what is done, and where it ran. */
export async function withLastRuns<View extends JobView>(
  engine: Pick<Engine, 'store' | 'settled'>,
  views: readonly View[],
): Promise<View[]> {
  const done = views.filter(({ state, array }) => state === 'done' && array === null);
  // What has just ended must be in the history before it is looked up there.
  if (done.length > 0) await engine.settled();
  const runs = await lastRuns(
    engine,
    done.map(({ id }) => id),
  );
  return views.map((view) => {
    const run = runs.get(view.id);
    if (run !== undefined) return { ...view, runStartedAt: run.startedAt, nodes: run.nodes };
    return ranUnseen(view) ? { ...view, nodesUnknown: true } : view;
  });
}

/** True for a job that was never placed here, but ended as only a job ends that ran. */
function ranUnseen({ state, array, siteJob, outcome }: JobView): boolean {
  const isOfSite = state === 'done' && array === null && siteJob !== null;
  return isOfSite && (outcome?.kind === 'completed' || outcome?.kind === 'failed');
}
