// Where a job of a site's users runs, as the site says, in our books: what it runs runs there, even
// beyond what is free, and whatever we had ordered meanwhile.

import type { Job, Task } from '../../../kernel/machine/jobs/facts.ts';
import { allocate } from '../../../kernel/machine/schedule.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { takeBackEpoch } from '../../../kernel/machine/tasks/ending.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { Share } from '../../../kernel/model/orders.ts';
import { type ListedJob, memberName } from '../../../kernel/model/site.ts';

interface Site {
  readonly name: NodeName;
  /** What its nodes are called here, by its own names of them. */
  readonly shown: ReadonlyMap<string, string>;
}

/** Job of ours that stands for one of the site's, and which of its tasks. */
interface Placed {
  readonly job: Job;
  readonly index: number;
}

/** Notes a job that runs unasked, even beyond what is free. False: its nodes are unknown here. */
export function place(step: Step, site: Site, placed: Placed, listed: ListedJob): boolean {
  const shares = sharesOf(step, site, placed, listed);
  if (shares !== null) allocate(step, placed.job, placed.index, shares);
  return shares !== null;
}

/**
 * We had it start before we heard that it runs, or ran, on other nodes: our start is given up, and
 * it is where the site says. As long as these are not here it stays as it is, for the plan would
 * choose others again.
 */
export function replace(step: Step, site: Site, placed: Placed, listed: ListedJob): void {
  const { job, index } = placed;
  const task = job.active.get(index);
  if (task === undefined || task.ending !== null || !saysWhere(listed)) return;
  const shares = sharesOf(step, site, placed, listed);
  if (shares === null || !isElsewhere(task, shares)) return;
  takeBackEpoch(step, task, `its site says that it is on ${listed.nodes.join(', ')}`);
  if (job.pending.has(index)) allocate(step, job, index, shares);
}

function saysWhere({ state, exit }: ListedJob): boolean {
  return state === 'running' || state === 'suspended' || (state === 'ended' && exit !== null);
}

/** On as many nodes, and others: a listing may leave some of them out. */
function isElsewhere({ parts }: Task, shares: readonly Share[]): boolean {
  const isOpen = [...parts.values()].every(({ state }) => state !== 'ended');
  return isOpen && shares.length === parts.size && !shares.every(({ node }) => parts.has(node));
}

/** Null: until all of its nodes are there it is not known what it takes; the site says it again. */
function sharesOf(
  { state }: Step,
  site: Site,
  { job }: Placed,
  { nodes }: ListedJob,
): Share[] | null {
  const shares: Share[] = [];
  for (const siteNode of nodes) {
    const shown = site.shown.get(siteNode) ?? siteNode;
    const node = state.nodes.get(memberName(shown, site.name) as NodeName);
    if (node?.connected !== true) return null;
    shares.push({ node: node.name, resources: job.spec.request.perNode, gpus: [] });
  }
  return shares.length === 0 ? null : shares;
}
