// One scheduling cycle: what the plan starts becomes allocations, and what must make room is told
// to.

import { present } from '../../base/assert.ts';
import type { UserName } from '../../model/ids.ts';
import { STARTS_PER_CYCLE_MAX } from '../../model/limits.ts';
import type { Scheduling } from '../../model/scheduling.ts';
import type { Settings } from '../../model/settings.ts';
import { fairStandings } from '../../scheduler/fair-share.ts';
import { NO_RULES, plan, type Snapshot } from '../../scheduler/plan.ts';
import { QuotaBook } from '../../scheduler/quota.ts';
import { windowsOf } from '../../scheduler/windows.ts';
import { schedulingOf } from '../partitions.ts';
import { placeOf, type State } from '../state.ts';
import type { Step } from '../step.ts';
import { decideLateMaintenances } from './maintenance-course.ts';
import { preempt, resume, resumeApart, stoppedTasks } from './preempt.ts';

/** `loads`: load average per cpu by node, for partitions that place by it. */
export function decideSchedule(step: Step, loads: Snapshot['loads'] = NO_RULES.loads): void {
  const { state } = step;
  decideLateMaintenances(step);
  resumeApart(step);
  if (state.hopeless.size === 0) state.hopelessSince = state.pool.changes;
  const snapshot = snapshotOf(state, step.settings, STARTS_PER_CYCLE_MAX, step.at);
  // Added to by this cycle only: whoever merely asks what would be planned must leave no trace.
  const planned = plan({ ...snapshot, loads, hopeless: state.hopeless }, step.at);
  for (const taker of planned.resumes) resume(step, taker);
  for (const { jobId, index, shares } of planned.starts) {
    const job = present(state.jobs.get(jobId), `job ${jobId}`);
    const epoch = (job.active.get(index)?.epoch ?? 0) + 1;
    step.emit({ kind: 'task_allocated', place: placeOf(job, index), epoch, shares });
  }
  for (const preemption of planned.preemptions) preempt(step, preemption);
  // Allocations only make nodes fuller: nothing more can start until something else changes.
  state.scheduleDue = planned.more;
  endOfChain(state, planned.more);
  state.plansAhead = planned.promised.length > 0;
}

/** Whether any partition places by load: only then is it worth collecting. */
export function asksForLoads(state: State, settings: Settings): boolean {
  const partitions = Object.values(schedulingOf(state, settings).partitions);
  return partitions.some(({ placement }) => placement === 'least_loaded');
}

/**
 * Cycles that are cut short follow each other and remember what is hopeless, so that each gets
 * further. What has changed under way is looked at from the beginning again.
 */
function endOfChain(state: State, more: boolean): void {
  if (more || state.hopeless.size === 0) return;
  state.hopeless.clear();
  if (state.pool.changes !== state.hopelessSince) state.scheduleDue = true;
}

/** The state as the scheduler sees it at this instant. Looking at it changes nothing. */
export function snapshotOf(
  state: State,
  settings: Settings,
  startsMax: number,
  at: number,
): Snapshot {
  const { queue, pool, held } = state;
  const scheduling = schedulingOf(state, settings);
  const fairness = fairnessOf(state, scheduling, at);
  const windows = windowsOf(state.reservations.values());
  return {
    ...NO_RULES,
    ...{ queue, pool, scheduling, fairness, windows, startsMax },
    quotas: new QuotaBook(held),
    stopped: stoppedTasks(state, at),
  };
}

/** Factors of fair share by user; empty, that is 1 for everybody, where they weigh nothing. */
function fairnessOf({ usage }: State, { weights, fairShare }: Scheduling, at: number) {
  const factors = new Map<UserName, number>();
  if (weights.fairShare === 0) return factors;
  for (const [user, { factor }] of fairStandings(fairShare, usage.usageAt(at))) {
    factors.set(user, factor);
  }
  return factors;
}
