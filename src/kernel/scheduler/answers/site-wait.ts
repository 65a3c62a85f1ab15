// How long a site whose own scheduler decides would make a task wait that the plan gives to it: a
// guess from the listings of the site.

import type { NodeName } from '../../model/ids.ts';
import type { Ask } from '../room/ask.ts';
import { type Brokerage, waitAt } from '../room/brokerage.ts';
import type { Slot } from '../room/slots.ts';

export interface SiteWait {
  readonly site: NodeName;
  /** From when the plan gives it the task. Infinite: it takes no work, as far as it says. */
  readonly waitMs: number;
  /** When it was listed, in ms since 1970; null: it never was. */
  readonly listedAt: number | null;
}

/**
 * Wait at the slowest of the sites among these nodes; undefined: none of them is one. Until the
 * slot begins the site gets on with what is before the task.
 */
export function siteWaitOf(
  { at, lanes }: Slot,
  ask: Ask,
  { brokerage, now }: { readonly brokerage: Brokerage | undefined; readonly now: number },
): SiteWait | undefined {
  if (brokerage === undefined) return undefined;
  let slowest: SiteWait | undefined;
  for (const lane of lanes) {
    const { name, labels, total } = lane.view;
    const backlogMs = waitAt({ name, labels, total, free: lane.freeAt(at) }, ask, brokerage);
    if (backlogMs === null) continue;
    const waitMs = Math.max(0, backlogMs - (at - now));
    if (slowest !== undefined && waitMs <= slowest.waitMs) continue;
    slowest = { site: name, waitMs, listedAt: brokerage.standings.get(name)?.listedAt ?? null };
  }
  return slowest;
}
