// What becomes of a task whose node is silent, by its job's wish and by what the node is.

import type { JobSpec, OnNodeLoss } from '../../model/job.ts';
import type { Node } from './facts.ts';

/**
 * A gateway that is silent says nothing of its site, where the task goes on without it: whatever
 * the job wishes, a second start would be one too many.
 */
export function lossRuleOf({ facts }: Node, spec: Pick<JobSpec, 'onNodeLoss'>): OnNodeLoss {
  return facts?.site === undefined ? spec.onNodeLoss : { kind: 'wait' };
}
