// What time alone brings: begin times reached, maintenance, reservations begun and over, old jobs
// leaving memory.

import type { Step } from '../step.ts';
import { decideMaintenances } from './maintenance-course.ts';
import { retrySkipped } from './occurrences.ts';
import { decideSlots } from './slots.ts';
import { decideUsageRules, forgetFaded } from './usage.ts';

export function decideTick(step: Step): void {
  const { state, settings } = step;
  decideUsageRules(step);
  forgetFaded(step);
  // First: it looks at ended programs, which may leave memory below.
  decideMaintenances(step);
  for (const jobId of [...state.beginning]) {
    const beginAt = state.jobs.get(jobId)?.spec.beginAt ?? 0;
    if (beginAt <= step.at) step.emit({ kind: 'begin_reached', jobId });
  }
  retrySkipped(step);
  decideSlots(step);
  if (state.plansAhead || isOrderMoving(step)) state.scheduleDue = true;
  // A tenth at a time, so that the list is not rebuilt for every job that ends.
  const surplus = state.finished.length - settings.retainedJobsMax;
  if (surplus > settings.retainedJobsMax / 10) {
    step.emit({ kind: 'jobs_retired', jobIds: state.finished.slice(0, surplus) });
  }
}

/** Fair share moves with what is being used: somebody else may be first by now. */
function isOrderMoving({ state, settings }: Step): boolean {
  return settings.scheduling.weights.fairShare !== 0 && state.queue.size > 0;
}
