// What the first page shows: figures and the first few jobs of each kind, looked for among all; and
// the load of the last day.

import { ok } from '../../../base/result.ts';
import { jobsInLine } from '../../../machine/answers/questions.ts';
import type { Job } from '../../../machine/jobs/facts.ts';
import type { UserName } from '../../../model/ids.ts';
import { recordOf } from '../../answers/job-record.ts';
import { jobState } from '../../answers/job-state.ts';
import { viewJob } from '../../answers/job-view.ts';
import {
  clusterResources,
  countJobs,
  lastFailed,
  lastStarted,
  roomOf,
  stuckJobs,
  unusableGpus,
} from '../../answers/overview.ts';
import { Reasons } from '../../answers/reasons.ts';
import { withLastRuns } from '../../answers/run-start.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';

/** Jobs listed of each kind: what somebody reads at a glance. */
const SHOWN_MAX = 8;

export const overview: Handler<'overview'> = async (services, { actor }) => {
  const { load, engine, shared } = services;
  // Words are for their reader: who has many pages open has one answer.
  const seen = shared.of(`overview ${actor.name}`, () => lookOver(services, actor.name));
  const { failed, ...rest } = seen;
  const ended = load.ends(engine.now());
  return ok({ ...rest, ended, failed: await withLastRuns(engine, failed) });
};

function lookOver({ engine }: Pick<Services, 'engine'>, reader: UserName) {
  const { state } = engine;
  const reasons = new Reasons(engine, reader);
  const view = (jobs: readonly Job[]) => jobs.map((job) => viewJob(engine, recordOf(job), reasons));
  return {
    ...countJobs(state),
    ...roomOf(state),
    ...unusableGpus(state),
    resources: clusterResources(engine),
    running: view(lastStarted(state, SHOWN_MAX)),
    waiting: view(jobsInLine(engine, SHOWN_MAX, isPending)),
    stuck: view(stuckJobs(engine, SHOWN_MAX)),
    failed: view(lastFailed(state, SHOWN_MAX)),
  };
}

/** Also tasks of an array that runs are in line; it is shown once. */
const isPending = (job: Job): boolean => jobState(job) === 'pending';

export const loadHistory: Handler<'loadHistory'> = ({ engine, load, shared }) => {
  const now = engine.now();
  return ok({ points: shared.of('load', () => load.points(now)), now });
};
