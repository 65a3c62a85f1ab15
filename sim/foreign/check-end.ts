// After all is well with other clusters: everything ends (L1, L2), nodes are as their operators
// want them (X5), and nothing is left (L3).

import type { Engine } from '../../src/kernel/head/engine.ts';
import { isAlive } from '../../src/kernel/model/maintenance.ts';
import { openJobs, whyOpen } from '../checkers/liveness.ts';
import type { Truth } from '../truth.ts';
import { Violation } from '../violation.ts';
import type { Site } from './site.ts';

export interface ForeignEnd {
  readonly truth: Truth;
  readonly engine: Engine | null;
  readonly sites: readonly Site[];
  /** Submissions without any answer. */
  readonly unanswered: ReadonlySet<string>;
}

/** Null: everything has ended, and nothing is left. */
export function whyNotOver({ truth, engine, sites, unanswered }: ForeignEnd): Violation | null {
  if (engine === null || engine.failure !== null) return new Violation('L1', 'the head is down');
  if (unanswered.size > 0) return new Violation('L2', `no answer to ${[...unanswered]}`);
  // First: where a node is kept from jobs, some of them never end.
  const other = sites.flatMap((site) => site.notAsTheyWere());
  if (other.length > 0) return new Violation('X5', other.join(', '));
  const open = openJobs(truth);
  if (open.length > 0) {
    return new Violation('L1', `jobs never end: ${open.slice(0, 10)}; ${whyOpen(engine)}`);
  }
  const left = sites.flatMap((site) => site.left());
  for (const node of engine.state.nodes.values()) {
    for (const epochId of node.holding.keys()) left.push(`${epochId} holds ${node.name}`);
  }
  const alive = [...engine.state.maintenances.values()].filter(isAlive);
  left.push(...alive.map(({ id, phase }) => `maintenance ${id} is ${phase}`));
  return left.length === 0
    ? null
    : new Violation('L3', `left behind: ${left.slice(0, 10).join(', ')}`);
}
