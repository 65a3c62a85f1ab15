// Jobs of a site's users that are held here, which their site knows nothing of: to it they just
// wait.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import { waitingOf } from '../../../kernel/machine/jobs/behind.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import { SITE_JOBS_PER_MESSAGE_MAX } from '../../../kernel/model/limits.ts';
import type { SiteHold } from '../../../kernel/model/site.ts';

/** Longer lists of elements are told as a number: a site's users read 200 characters. */
const INDICES_LENGTH_MAX = 40;

/** Jobs held here, for the gateway to tell their users why (G20). Of many only the first ones. */
export function heldHere({ indexes, jobs }: State, site: NodeName): SiteHold[] {
  const holds: SiteHold[] = [];
  for (const id of indexes.foreign.values()) {
    const job = jobs.get(id);
    const foreign = job?.spec.foreign;
    if (job === undefined || foreign?.site !== site || job.outcome !== null) continue;
    const why = whyHeld(job);
    if (why === null) continue;
    holds.push({ job: foreign.job, why: `${why}; weft release ${id} lets it start` });
    if (holds.length === SITE_JOBS_PER_MESSAGE_MAX) break;
  }
  return holds;
}

/** Returns null when it is not. The site has one place for an array and for its elements. */
function whyHeld(job: Job): string | null {
  if (!job.held && job.active.size === 0) return null;
  const alone = [...job.active.values()].filter(({ heldBecause }) => heldBecause !== null);
  if (job.held) return waitingOf(job).size + alone.length > 0 ? 'held here' : null;
  const because = alone[0]?.heldBecause ?? null;
  if (because === null || job.spec.array === null) return because;
  const indices = new IntervalSet();
  for (const { index } of alone) indices.add(index);
  const list = indices.toString();
  const isShort = list.length <= INDICES_LENGTH_MAX;
  const which = isShort
    ? `${alone.length === 1 ? 'element' : 'elements'} ${list}`
    : `${alone.length} elements`;
  return `${which}: ${because}`;
}
