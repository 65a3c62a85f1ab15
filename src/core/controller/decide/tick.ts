// What time alone brings: begin times reached, old jobs leaving memory.

import type { Step } from '../step.ts';

export function decideTick(step: Step): void {
  const { state, settings } = step;
  for (const jobId of [...state.beginning]) {
    const beginAt = state.jobs.get(jobId)?.spec.beginAt ?? 0;
    if (beginAt <= step.at) step.emit({ kind: 'begin_reached', jobId });
  }
  if (state.plansAhead) state.scheduleDue = true;
  // A tenth at a time, so that the list is not rebuilt for every job that ends.
  const surplus = state.finished.length - settings.retainedJobsMax;
  if (surplus > settings.retainedJobsMax / 10) {
    step.emit({ kind: 'jobs_retired', jobIds: state.finished.slice(0, surplus) });
  }
}
