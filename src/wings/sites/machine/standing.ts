// What the listings of a site say of its own queue, added up.

import type { ListedJob, SiteNode } from '../../../kernel/model/site.ts';
import { type SiteStanding, UNLIMITED_MS } from '../../../kernel/scheduler/room/brokerage.ts';

export interface SiteListing {
  readonly nodes: readonly SiteNode[];
  readonly jobs: Iterable<ListedJob>;
}

/**
 * @param at when it was listed, by the wall clock. Jobs that we gave to it are in our own books.
 */
export function standingOf({ nodes, jobs }: SiteListing, at: number): SiteStanding {
  const taking = nodes.filter(({ state }) => state !== 'down' && state !== 'stopped');
  const cpuCount = taking.reduce((sum, node) => sum + node.cpuCount, 0);
  let [cpusHeld, runningCpuMs, waitingCpuMs] = [0, 0, 0];
  for (const { isOurs, state, cpuCount: cpus, walltimeMs, startedAt } of jobs) {
    if (isOurs) continue;
    const limitMs = walltimeMs ?? UNLIMITED_MS;
    if (state === 'waiting') waitingCpuMs += (cpus ?? 1) * limitMs;
    if (state !== 'running' && state !== 'starting' && state !== 'suspended') continue;
    cpusHeld += cpus ?? 1;
    // Its clock may be ahead of ours: nothing has more left than its limit.
    const ranMs = startedAt === null ? 0 : Math.max(0, at - startedAt);
    runningCpuMs += (cpus ?? 1) * Math.max(0, limitMs - ranMs);
  }
  return { cpuCount, cpusHeld, runningCpuMs, waitingCpuMs, listedAt: at };
}
