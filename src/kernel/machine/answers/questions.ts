// What can be asked about a cluster without changing it: who is next, why a task waits, what a
// submission would come to.

import { ok, type Result } from '../../base/result.ts';
import type { UserActor } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import type { UserName } from '../../model/ids.ts';
import type { Outcome } from '../../model/job.ts';
import type { Reason } from '../../model/reason.ts';
import type { Settings } from '../../model/settings.ts';
import { plannedStarts } from '../../scheduler/answers/forecast.ts';
import { lineRules, type Snapshot } from '../../scheduler/cycle/snapshot.ts';
import { type FairStanding, fairStandings } from '../../scheduler/line/fair-share.ts';
import { Line, type LineRules } from '../../scheduler/line/line.ts';
import type { Brokerage } from '../../scheduler/room/brokerage.ts';
import { stepOf } from '../controller.ts';
import type { SubmitJob } from '../jobs/commands.ts';
import type { Job } from '../jobs/facts.ts';
import { acceptSubmission } from '../jobs/submit.ts';
import { snapshotOf } from '../schedule.ts';
import type { State } from '../state.ts';
import {
  explainPending,
  type LookAhead,
  lookAhead,
  type Pending,
  pendingAs,
  pendingOf,
  withSites,
} from './explain.ts';

/** What answers are made from: the engine. */
export interface AnswerSource {
  readonly state: State;
  readonly settings: Settings;
  now(): number;
  /** Queues of sites whose own schedulers decide; absent: nothing is known of any. */
  standings?(): Brokerage['standings'] | null;
}

/** What a submission would come to. */
export interface Rehearsal {
  readonly pending: Pending;
  /** How the job would end at once, when a dependency can never be met. */
  readonly broken: Outcome | null;
}

/** Why the task waits. */
export function explainTask(known: AnswerSource, job: Job, index: number): Reason {
  return explainPending(known.state, known.settings, pendingOf(job, index), known.now());
}

/** Why the task waits and what it can expect; it may be one that was never submitted. */
export function expect(known: AnswerSource, pending: Pending): LookAhead {
  const { state, settings } = known;
  return lookAhead(state, settings, pending, known.now(), standingsIn(known));
}

/** When and where all that wait would start, as far as a forecast reaches. */
export function outlook(known: AnswerSource) {
  const snapshot = withSites(known.state, snapshotNow(known), standingsIn(known));
  return plannedStarts(snapshot, known.now());
}

function standingsIn(known: AnswerSource): Brokerage['standings'] | null {
  return known.standings?.() ?? null;
}

/** The standing of everybody with a share or with usage. */
export function standings(known: AnswerSource): ReadonlyMap<UserName, FairStanding> {
  const { fairShare } = known.settings.scheduling;
  return fairStandings(fairShare, known.state.usage.usageAt(known.now()));
}

/** The order of tasks in the line now. */
export function rulesOfLine(known: AnswerSource): LineRules {
  return lineRules(snapshotNow(known));
}

/** Jobs that wait for the scheduler, in the order in which it considers them. */
export function jobsInLine(
  known: AnswerSource,
  max: number,
  isWanted: (job: Job) => boolean,
): Job[] {
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
  known: AnswerSource,
  command: Pick<SubmitJob, 'submission' | 'retired'>,
  actor: UserActor,
): Result<Rehearsal, Refusal> {
  const { state, settings } = known;
  const at = known.now();
  const accepted = acceptSubmission(stepOf(state, settings, at), command, actor);
  if (!accepted.ok) return accepted;
  const pending = pendingAs(state, accepted.value, actor, at);
  return ok({ pending, broken: accepted.value.broken });
}

function snapshotNow(known: AnswerSource): Snapshot {
  return snapshotOf(known.state, known.settings, 0, known.now());
}
