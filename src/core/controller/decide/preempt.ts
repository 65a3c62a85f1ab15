// Making room for what is more urgent: tasks told to leave or to stop, and stopped ones that go on.

import { present } from '../../base/assert.ts';
import { Board, type Taker } from '../../scheduler/board.ts';
import type { Preemption } from '../../scheduler/preempt.ts';
import { Resumer } from '../../scheduler/resume.ts';
import { windowsOf } from '../../scheduler/windows.ts';
import { jobOf } from '../apply/jobs.ts';
import { mayGetWork } from '../node-view.ts';
import { schedulingOf } from '../partitions.ts';
import { placeOf } from '../state.ts';
import type { Step } from '../step.ts';
import { poolOf, stoppedTasks } from './stopped.ts';

/** In the journal, instead of a user's name. */
const BY = 'scheduler';

export function preempt(step: Step, { jobId, index, mode, for: taker }: Preemption): void {
  const place = placeOf(jobOf(step.state, jobId), index);
  const because = `preempted by ${taker.jobId} of ${jobOf(step.state, taker.jobId).owner}`;
  if (mode === 'suspend') step.emit({ kind: 'suspend_asked', place, by: BY, because });
  else step.emit({ kind: 'end_asked', place, why: mode, by: BY, because });
}

export function resume(step: Step, { jobId, index }: Taker): void {
  step.emit({ kind: 'resume_asked', place: placeOf(jobOf(step.state, jobId), index), by: BY });
}

/**
 * Where nothing new may start, as on a drained node, nobody but the stopped tasks wants the cpus;
 * what is set aside there they heed as elsewhere.
 */
export function resumeApart(step: Step): void {
  const { state, settings, at } = step;
  const apart = stoppedTasks(state, at).filter(({ nodes }) => {
    return !nodes.every((name) => mayGetWork(present(state.nodes.get(name), `node ${name}`)));
  });
  if (apart.length === 0) return;
  const pool = poolOf(
    state,
    apart.flatMap(({ nodes }) => nodes),
  );
  const board = new Board({ pool, windows: windowsOf(state.reservations.values()), now: at });
  const resumer = new Resumer(board, {
    stopped: apart,
    scheduling: schedulingOf(state, settings),
  });
  resumer.resumeFrom(-Infinity);
  for (const taker of resumer.made) resume(step, taker);
}
