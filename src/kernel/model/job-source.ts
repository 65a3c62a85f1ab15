// Where a job came from, and what it is called there.

import type { JobSpec } from './job.ts';
import { foreignName } from './site.ts';

/** Where a job came from: a submission here, a site's own user, the cluster itself. */
export const JOB_SOURCES = ['grid', 'local', 'maintenance'] as const;
export type JobSource = (typeof JOB_SOURCES)[number];

export function sourceOf({ foreign, system }: Pick<JobSpec, 'foreign' | 'system'>): JobSource {
  if (foreign !== undefined) return 'local';
  return system === undefined ? 'grid' : 'maintenance';
}

/** The job's name at its site: `hpc/4711`; null for a job that is at no site. */
export function siteJobOf({ foreign }: Pick<JobSpec, 'foreign'>): string | null {
  return foreign === undefined ? null : foreignName(foreign.site, foreign.job);
}
