// The invariants of jobs and of the queue of them (S9).

import { assert } from '../../base/assert.ts';
import type { State } from '../state.ts';
import { isNext } from '../tasks/shown-state.ts';
import { isHeldNow } from './apply.ts';
import { waitingSize } from './behind.ts';
import type { Job } from './facts.ts';

export function checkJobs(state: State): void {
  let queued = 0;
  for (const job of state.jobs.values()) {
    checkJob(job);
    const uses = job.spec.request.ofCluster !== undefined && job.entry.running > 0;
    assert(
      state.indexes.usesCluster.has(job) === uses,
      `job ${job.id} holds of the cluster: ${uses}`,
    );
    if (job.queued) queued += 1;
  }
  assert(state.indexes.queue.size === queued, `the queue has ${queued} jobs`);
  for (const id of state.finished) {
    assert(state.jobs.get(id)?.outcome != null, `finished job ${id} has an outcome`);
  }
}

function checkJob(job: Job): void {
  let tasks = waitingSize(job);
  let running = 0;
  for (const set of job.ended.values()) tasks += set.size;
  for (const task of job.active.values()) {
    if (!job.pending.has(task.index)) tasks += 1;
    if (task.parts.size > 0 && !isNext(task)) running += 1;
  }
  assert(
    tasks === job.taskCount,
    `job ${job.id}: ${tasks} of ${job.taskCount} tasks accounted for`,
  );
  assert(running === job.entry.running, `job ${job.id}: ${running} tasks hold resources`);
  const over = waitingSize(job) === 0 && job.active.size === 0;
  assert(over === (job.outcome !== null), `job ${job.id} is done when its tasks are`);
  const startable = !isHeldNow(job) && job.waitsFor.size === 0 && job.beginReached;
  const queued = startable && job.pending.size > 0;
  assert(job.queued === queued, `job ${job.id} is queued exactly when it may start: ${queued}`);
  for (const [on, indices] of job.behind) {
    assert(indices.size > 0, `job ${job.id} waits for tasks of job ${on}`);
  }
  const max = job.entry.runningMax;
  // A pool's workers beyond its target leave by themselves.
  const isKept = max === null || running <= max || job.spec.pool !== undefined;
  assert(isKept, `job ${job.id} keeps its running limit`);
}
