// What pools add to the machine: their noun, and workers that start again.

import type { Part, Task } from '../../../kernel/machine/jobs/facts.ts';
import type { MachinePart } from '../../../kernel/machine/part.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { POOL_SETTLED_MS } from '../../../kernel/model/limits.ts';
import { notePool } from './live.ts';
import { pools } from './pools.ts';

export const part: MachinePart = {
  givingIds: ['start_pool'],
  nouns: [pools],
  indexes: () => ({ pools: new Set() }),
  hooks: { onJobAdded: notePool, onJobDone: notePool, startsAgain: workerAgain },
};

/**
 * What its start counted for, if it starts again. `worst`: undefined when it exited with code 0.
 * Null: the same becomes of it as of any other task.
 */
function workerAgain(
  step: Step,
  { job, ending, startedAt }: Task,
  worst: Part | undefined,
): 'anew' | 'crash' | null {
  if (job.spec.pool === undefined || ending !== null) return null;
  if (worst === undefined) return 'anew';
  const cause = worst.end?.cause;
  if (cause !== 'exited' && cause !== 'out_of_memory') return null;
  // One that never gets to work would start for ever; what kills one that works is known by its
  // call.
  return startedAt !== null && step.at - startedAt >= POOL_SETTLED_MS ? 'anew' : 'crash';
}
