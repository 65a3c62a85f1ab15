// Who may do what to which object: the one place in the core that says so.

import { err, ok, type Result } from '../base/result.ts';
import { type Actor, hasRole, type Role } from '../model/actor.ts';
import { type Refusal, refuse } from '../model/errors.ts';
import type { JobId } from '../model/ids.ts';
import type { Job } from './jobs/facts.ts';
import type { Step } from './step.ts';

/** For `by` fields and messages. */
export function nameOf(actor: Actor): string {
  return actor.kind === 'system' ? 'system' : actor.name;
}

export function needRole(actor: Actor, role: Role, action: string): Result<null, Refusal> {
  if (hasRole(actor, role)) return ok(null);
  const actual = actor.kind === 'user' ? actor.role : actor.kind;
  return err(refuse('auth.role_needed', { action, role, user: nameOf(actor), actual }));
}

/** The job, if the actor is its owner or looks after others' jobs. */
export function ownJob(step: Step, jobId: JobId, actor: Actor): Result<Job, Refusal> {
  const job = step.state.jobs.get(jobId);
  if (job === undefined) return step.refuse('job.not_found', { job: String(jobId) });
  // Whoever is called `system` is still not the cluster itself.
  const isSystems = job.spec.system !== undefined;
  const owns = actor.kind === 'user' && actor.name === job.owner && !isSystems;
  if (owns || hasRole(actor, 'operator')) return ok(job);
  return step.refuse('auth.not_owner', { job: String(jobId), owner: job.owner });
}
