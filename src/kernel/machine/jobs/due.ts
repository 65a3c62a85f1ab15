// What time brings to jobs: begin times are reached, and old ones leave memory.

import type { Step } from '../step.ts';

export function decideDueJobs(step: Step): void {
  const { state, settings } = step;
  for (const jobId of [...state.indexes.beginning]) {
    const beginAt = state.jobs.get(jobId)?.spec.beginAt ?? 0;
    if (beginAt <= step.at) step.emit({ kind: 'begin_reached', jobId });
  }
  // A tenth at a time, so that the list is not rebuilt for every job that ends.
  const surplus = state.finished.length - settings.retainedJobsMax;
  if (surplus > settings.retainedJobsMax / 10) {
    step.emit({ kind: 'jobs_retired', jobIds: state.finished.slice(0, surplus) });
  }
}
