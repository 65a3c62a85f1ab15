// One scheduling cycle: what the plan starts becomes allocations.

import { present } from '../../base/assert.ts';
import { STARTS_PER_CYCLE_MAX } from '../../model/limits.ts';
import { plan } from '../../scheduler/plan.ts';
import { placeOf } from '../state.ts';
import type { Step } from '../step.ts';

export function decideSchedule(step: Step): void {
  const { state } = step;
  const { queue, pool } = state;
  const { policy } = step.settings;
  const planned = plan({ queue, pool, policy, startsMax: STARTS_PER_CYCLE_MAX }, step.at);
  for (const { jobId, index, shares } of planned.starts) {
    const job = present(state.jobs.get(jobId), `job ${jobId}`);
    const epoch = (job.active.get(index)?.epoch ?? 0) + 1;
    step.emit({ kind: 'task_allocated', place: placeOf(job, index), epoch, shares });
  }
  // Allocations only make nodes fuller: nothing more can start until something else changes.
  state.scheduleDue = planned.more;
}
