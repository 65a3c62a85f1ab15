// A pool that is there for one program ends when that is gone for good: nobody else would stop it.

import { ok } from '../../../kernel/base/result.ts';
import { nameOf, needRole } from '../../../kernel/machine/authority.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import { askCancel } from '../../../kernel/machine/tasks/cancel.ts';
import { endPending } from '../../../kernel/machine/tasks/ending.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import type { Outcome } from '../../../kernel/model/job.ts';
import { isStopping } from './live.ts';
import type { AbandonPool } from './pool.ts';

const BECAUSE = 'its program is gone';
const OUTCOME: Outcome = { kind: 'cancelled', detail: BECAUSE };

/** One that has ended, or ends, or is not for one program, stays as it is. */
export function decideAbandoned(step: Step, { jobId }: AbandonPool, actor: Actor): Answer {
  const allowed = needRole(actor, 'operator', 'end a pool whose program is gone');
  if (!allowed.ok) return allowed;
  const job = step.state.jobs.get(jobId);
  if (job?.spec.pool?.isTemporary !== true || job.outcome !== null || isStopping(job)) {
    return ok({ kind: 'changed', count: 0 });
  }
  const by = nameOf(actor);
  const working = [...job.active.values()].filter(({ ending }) => ending?.kind !== 'cancel');
  for (const task of working) askCancel(step, task, { by, because: BECAUSE });
  const count = working.length + job.pending.size;
  if (job.pending.size > 0) endPending(step, job, job.pending, OUTCOME);
  return ok({ kind: 'changed', count });
}
