// What can be asked about a cluster without changing it: who is next, why a task waits, what a
// submission would come to.

import { ok, type Result } from '../core/base/result.ts';
import { stepOf } from '../core/controller/controller.ts';
import type { SubmitJob } from '../core/controller/jobs/commands.ts';
import type { Job } from '../core/controller/jobs/facts.ts';
import { acceptSubmission } from '../core/controller/jobs/submit.ts';
import { snapshotOf } from '../core/controller/schedule.ts';
import type { State } from '../core/controller/state.ts';
import type { UserActor } from '../core/model/actor.ts';
import type { Refusal } from '../core/model/errors.ts';
import type { UserName } from '../core/model/ids.ts';
import type { Outcome, PendingReason } from '../core/model/job.ts';
import type { Settings } from '../core/model/settings.ts';
import { lineRules, type Snapshot } from '../core/scheduler/cycle/snapshot.ts';
import { type FairStanding, fairStandings } from '../core/scheduler/line/fair-share.ts';
import { Line, type LineRules } from '../core/scheduler/line/line.ts';
import {
  explainPending,
  type LookAhead,
  lookAhead,
  type Pending,
  pendingAs,
  pendingOf,
} from './explain.ts';

/** Who is asked: the engine. */
export interface Known {
  readonly state: State;
  readonly settings: Settings;
  now(): number;
}

/** What a submission would come to. */
export interface Rehearsal {
  readonly pending: Pending;
  /** It would end at once like this: a dependency can never be met. */
  readonly broken: Outcome | null;
}

/** Why the task waits, in words. */
export function explainTask(known: Known, job: Job, index: number): PendingReason {
  return explainPending(known.state, known.settings, pendingOf(job, index), known.now());
}

/** Why the task waits and what it can expect; it may be one that was never submitted. */
export function expect(known: Known, pending: Pending): LookAhead {
  return lookAhead(known.state, known.settings, pending, known.now());
}

/** The standing of everybody with a share or with usage. */
export function standings(known: Known): ReadonlyMap<UserName, FairStanding> {
  const { fairShare } = known.settings.scheduling;
  return fairStandings(fairShare, known.state.usage.usageAt(known.now()));
}

/** Who goes before whom now. */
export function rulesOfLine(known: Known): LineRules {
  return lineRules(snapshotNow(known));
}

/** Jobs that wait for the scheduler, in the order in which it considers them. */
export function jobsInLine(known: Known, max: number, isWanted: (job: Job) => boolean): Job[] {
  const snapshot = snapshotNow(known);
  snapshot.queue.weigh(snapshot.scheduling.weights);
  const line = new Line(snapshot.queue.bands, lineRules(snapshot));
  const jobs: Job[] = [];
  for (let next = line.first; next !== undefined && jobs.length < max; next = line.first) {
    const job = known.state.jobs.get(next.entry.jobId);
    if (job !== undefined && isWanted(job)) jobs.push(job);
    line.skipEntry();
  }
  return jobs;
}

/** The submission as it would wait, or why it would be refused. Nothing happens. */
export function rehearse(
  known: Known,
  command: Pick<SubmitJob, 'submission' | 'retired'>,
  actor: UserActor,
): Result<Rehearsal, Refusal> {
  const { state, settings } = known;
  const at = known.now();
  const accepted = acceptSubmission(stepOf(state, settings, at), command, actor);
  if (!accepted.ok) return accepted;
  const pending = pendingAs(state, accepted.value, actor.name, at);
  return ok({ pending, broken: accepted.value.broken });
}

function snapshotNow(known: Known): Snapshot {
  return snapshotOf(known.state, known.settings, 0, known.now());
}
