// Pools as the API shows them.

import type { PoolView } from '../../api/pools.ts';
import type { Job } from '../../core/controller/jobs/facts.ts';
import { shownState } from '../../core/controller/tasks/shown-state.ts';
import type { TaskState } from '../../core/model/job.ts';
import { targetOf } from '../../core/model/pool.ts';
import { firstPending, jobState } from './job-state.ts';
import type { Reasons } from './reasons.ts';

/** `job` is a pool. */
export function viewPool(job: Job, calls: PoolView['calls'], reasons: Reasons): PoolView {
  const { id, owner, spec, outcome, losses, submittedAt, endedAt } = job;
  const {
    name = null,
    min = 0,
    max = 0,
    idleMs = 0,
    isTemporary = false,
    image = null,
  } = spec.pool ?? {};
  const { perNode } = spec.request;
  return {
    ...{ id, name, owner, state: jobState(job), outcome: outcome?.kind ?? null },
    ...{
      min,
      max,
      idleMs,
      temporary: isTemporary,
      target: targetOf(spec),
      workers: workersOf(job),
    },
    ...{ reason: reasonOf(job, reasons), calls, losses, image, partition: spec.partition },
    perWorker: { ...perNode, counted: { ...perNode.counted } },
    ...{ submittedAt, endedAt },
  };
}

function workersOf(job: Job): PoolView['workers'] {
  const workers: Partial<Record<TaskState, number>> = {};
  for (const task of job.active.values()) {
    if (task.parts.size === 0) continue;
    const state = shownState(task);
    workers[state] = (workers[state] ?? 0) + 1;
  }
  return workers;
}

function reasonOf(job: Job, reasons: Reasons): PoolView['reason'] {
  if (job.outcome !== null || job.entry.running >= targetOf(job.spec)) return null;
  const index = firstPending(job);
  return index === undefined ? null : reasons.of(job, index);
}
