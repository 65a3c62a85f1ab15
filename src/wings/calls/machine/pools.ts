// Pools as a noun. They are saved with their jobs.

import { assert } from '../../../kernel/base/assert.ts';
import { ok } from '../../../kernel/base/result.ts';
import { nameOf, needRole } from '../../../kernel/machine/authority.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import { askCancel } from '../../../kernel/machine/tasks/cancel.ts';
import { endPending } from '../../../kernel/machine/tasks/ending.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import type { Outcome } from '../../../kernel/model/job.ts';
import { targetOf } from '../model/pool.ts';
import { isLivePool, isStopping, notePool } from './live.ts';
import type { AbandonPool } from './pool.ts';
import { applyPoolScaled, decideScale } from './scale.ts';
import { decideStartPool } from './start.ts';

export const pools: Noun<'pools'> = {
  commands: { start_pool: decideStartPool, scale_pool: decideScale, abandon_pool: decideAbandoned },
  events: { pool_scaled: applyPoolScaled },
  facts: () => ({}),
  save: () => ({}),
  load: () => undefined,
  index(state) {
    for (const job of state.jobs.values()) notePool(state, job);
  },
  check(state) {
    const live = [...state.jobs.values()].filter(isLivePool);
    assert(live.length === state.indexes.pools.size, `there are ${live.length} pools`);
    const names = new Set<string>();
    for (const job of live) checkPool(state, job, names);
  },
};

function checkPool({ indexes }: State, job: Job, names: Set<string>): void {
  const { id, owner, spec, taskCount } = job;
  const { pool } = spec;
  if (pool === undefined) return;
  assert(indexes.pools.has(job), `pool ${id} is among the pools`);
  const target = targetOf(spec);
  const { min, max, name } = pool;
  assert(min <= target && target <= max, `pool ${id} asks for ${target} of ${min}-${max} workers`);
  assert(max <= taskCount, `pool ${id} has a task for each worker`);
  if (name === null || isStopping(job)) return;
  const key = `${owner} ${name}`;
  assert(!names.has(key), `pool name ${key} is there once`);
  names.add(key);
}

/**
 * A pool that is there for one program ends when that is gone for good: nobody else would stop it.
 */
const BECAUSE = 'its program is gone';
const OUTCOME: Outcome = { kind: 'cancelled', detail: BECAUSE };

/** One that has ended, or ends, or is not for one program, stays as it is. */
function decideAbandoned(step: Step, { jobId }: AbandonPool, actor: Actor): Answer {
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
