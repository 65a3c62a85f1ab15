// Making room for what is more urgent: tasks told to leave or to stop, and stopped ones that go on.

import type { Preemption } from '../../scheduler/cycle/preempt.ts';
import type { Taker } from '../../scheduler/room/board.ts';
import { jobOf } from '../jobs/apply.ts';
import { placeOf } from '../jobs/place.ts';
import { siteOf } from '../nodes/members.ts';
import type { Step } from '../step.ts';
import { taskOf } from './apply.ts';
import { askCancel } from './cancel.ts';

/** In the journal, instead of a user's name. */
const BY = 'scheduler';

export function preempt(step: Step, { jobId, index, mode, for: taker }: Preemption): void {
  const place = placeOf(jobOf(step.state, jobId), index);
  const task = taskOf(step.state, place);
  const because = `preempted by ${taker.jobId} of ${jobOf(step.state, taker.jobId).owner}`;
  if (mode === 'suspend') {
    // Another part of it is at a site: it would run on there.
    if (siteOf(step.state, task) !== null) return;
    step.emit({ kind: 'suspend_asked', place, by: BY, because, stopper: 'scheduler' });
  } else if (mode === 'cancel') askCancel(step, task, { by: BY, because });
  else step.emit({ kind: 'end_asked', place, why: mode, by: BY, because });
}

export function resume(step: Step, { jobId, index }: Taker): void {
  const place = placeOf(jobOf(step.state, jobId), index);
  step.emit({ kind: 'resume_asked', place, by: BY, stopper: 'scheduler' });
}
