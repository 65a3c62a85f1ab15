// How many workers a pool has: what its owner and its calls ask for.

import { assert, present } from '../../../kernel/base/assert.ts';
import { err, ok } from '../../../kernel/base/result.ts';
import { nameOf, ownJob } from '../../../kernel/machine/authority.ts';
import type { Of } from '../../../kernel/machine/events.ts';
import { dequeueEntry, entryOf, jobOf, requeueEntry } from '../../../kernel/machine/jobs/apply.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import { targetOf } from '../model/pool.ts';
import { isStopping } from './live.ts';
import type { ScalePool } from './pool.ts';
import { flawOf, indicesFor } from './start.ts';

/** A smaller target ends nobody: who has nothing to do is told to leave, and starts no more. */
export function decideScale(step: Step, command: ScalePool, actor: Actor): Answer {
  const owned = ownJob(step, command.jobId, actor);
  if (!owned.ok) return owned;
  const { id: jobId, spec, outcome } = owned.value;
  const { pool } = spec;
  if (pool === undefined) return step.refuse('pool.not_found', { pool: String(jobId) });
  if (outcome !== null) {
    return step.refuse('job.already_done', { job: String(jobId), outcome: outcome.kind });
  }
  // What it got now would outlive the stop.
  if (isStopping(owned.value)) {
    return step.refuse('job.already_done', { job: String(jobId), outcome: 'cancelled' });
  }
  const { min = pool.min, max = pool.max, idleMs = pool.idleMs } = command;
  const flaw = flawOf({ ...pool, min, max, idleMs });
  if (flaw !== null) return err(flaw);
  const target = Math.min(Math.max(command.target ?? targetOf(spec), min), max);
  const { min: minNow, max: maxNow, idleMs: idleNow } = pool;
  const isSame = min === minNow && max === maxNow && idleMs === idleNow;
  if (isSame && target === targetOf(spec)) return ok({ kind: 'changed', count: 0 });
  step.emit({ kind: 'pool_scaled', jobId, min, max, idleMs, target, by: nameOf(actor) });
  return ok({ kind: 'changed', count: 1 });
}

/** More workers than it ever might have are more tasks. */
export function applyPoolScaled(state: State, event: Of<'pool_scaled'>): void {
  const job = jobOf(state, event.jobId);
  const pool = present(job.spec.pool, 'the pool');
  dequeueEntry(state, job);
  const { min, max, idleMs, target } = event;
  if (max > job.taskCount) {
    assert(job.firstIndex === 0, 'workers count from 0');
    job.pending.addRange(job.taskCount, max - 1);
    job.taskCount = max;
    job.lastIndex = max - 1;
  }
  const array = { indices: indicesFor(job.taskCount), runningMax: target };
  job.spec = { ...job.spec, array, pool: { ...pool, min, max, idleMs } };
  job.entry = entryOf(state, job, job.entry.running);
  state.scratch.changedJobs.add(job);
  requeueEntry(state, job);
}
