// Jobs of a site's users that are held here, which their site knows nothing of: to it they just wait.

import { waitingOf } from '../../../kernel/machine/jobs/behind.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import { SITE_JOBS_PER_MESSAGE_MAX } from '../../../kernel/model/limits.ts';
import type { SiteHold } from '../../../kernel/model/site.ts';

/** So that its gateway tells their users why, at the jobs (G20). Of very many the first ones. */
export function heldHere({ indexes, jobs }: State, site: NodeName): SiteHold[] {
  const holds: SiteHold[] = [];
  for (const id of indexes.foreign.values()) {
    const job = jobs.get(id);
    const foreign = job?.spec.foreign;
    if (job === undefined || foreign?.site !== site || job.outcome !== null) continue;
    const why = whyHeld(job);
    if (why === null || waitingOf(job).size === 0) continue;
    holds.push({ job: foreign.job, why: `${why}; weft release ${id} lets it start` });
    if (holds.length === SITE_JOBS_PER_MESSAGE_MAX) break;
  }
  return holds;
}

/** Null: it is not. Of an array only what holds all of it counts: the site has one place for both. */
function whyHeld({ held, spec, active }: Job): string | null {
  if (held) return 'held here';
  if (spec.array !== null) return null;
  for (const { heldBecause } of active.values()) if (heldBecause !== null) return heldBecause;
  return null;
}
