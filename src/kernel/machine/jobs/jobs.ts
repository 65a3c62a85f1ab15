// Jobs as a noun, with the tasks in them.

import type { Noun } from '../noun.ts';
import * as control from '../tasks/control.ts';
import * as apply from './apply.ts';
import { applyElementMet } from './apply-elements.ts';
import { decideChange } from './change.ts';
import { checkJobs } from './check.ts';
import { decideDueJobs } from './due.ts';
import { indexJobs } from './indexing.ts';
import { rebaseJobs } from './rebase.ts';
import { decideRetry } from './retry.ts';
import { type JobsData, loadJobs, noJobs, saveJobs } from './snapshot.ts';
import { decideSubmit } from './submit.ts';

export const jobs: Noun<'jobs', JobsData> = {
  commands: {
    submit_job: decideSubmit,
    change_job: decideChange,
    retry_job: decideRetry,
    hold_job: (step, { jobId }, actor) => control.decideHold(step, jobId, actor),
    release_job: (step, { jobId }, actor) => control.decideRelease(step, jobId, actor),
  },
  events: {
    environment_added: apply.applyEnvironmentAdded,
    job_submitted: apply.applyJobSubmitted,
    dependency_met: apply.applyDependencyMet,
    element_met: applyElementMet,
    begin_reached: apply.applyBeginReached,
    job_changed: apply.applyJobChanged,
    job_held: apply.applyJobHeld,
    job_released: apply.applyJobReleased,
    pending_ended: apply.applyPendingEnded,
    job_done: apply.applyJobDone,
    jobs_retired: apply.applyJobsRetired,
  },
  facts: noJobs,
  save: saveJobs,
  load: loadJobs,
  rebase: rebaseJobs,
  index: indexJobs,
  check: checkJobs,
  due: decideDueJobs,
};
