// One scheduling cycle: what the plan starts becomes allocations.

import { present } from '../../base/assert.ts';
import { STARTS_PER_CYCLE_MAX } from '../../model/limits.ts';
import type { Settings } from '../../model/settings.ts';
import { NO_RULES, plan, type Snapshot } from '../../scheduler/plan.ts';
import { QuotaBook } from '../../scheduler/quota.ts';
import { windowsOf } from '../../scheduler/windows.ts';
import { placeOf, type State } from '../state.ts';
import type { Step } from '../step.ts';

export function decideSchedule(step: Step): void {
  const { state } = step;
  const planned = plan(snapshotOf(state, step.settings, STARTS_PER_CYCLE_MAX), step.at);
  for (const { jobId, index, shares } of planned.starts) {
    const job = present(state.jobs.get(jobId), `job ${jobId}`);
    const epoch = (job.active.get(index)?.epoch ?? 0) + 1;
    step.emit({ kind: 'task_allocated', place: placeOf(job, index), epoch, shares });
  }
  // Allocations only make nodes fuller: nothing more can start until something else changes.
  state.scheduleDue = planned.more;
  state.plansAhead = planned.promised.length > 0;
}

/** The state as the scheduler sees it. */
export function snapshotOf(state: State, settings: Settings, startsMax: number): Snapshot {
  const { queue, pool } = state;
  const { scheduling } = settings;
  const windows = windowsOf(state.reservations.values());
  const quotas = new QuotaBook(state.held);
  return { ...NO_RULES, queue, pool, scheduling, windows, quotas, startsMax };
}
