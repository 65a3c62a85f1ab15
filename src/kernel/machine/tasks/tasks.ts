// Tasks as a noun. They are saved with their jobs.

import type { Noun } from '../noun.ts';
import * as apply from './apply.ts';
import { checkTasks } from './check.ts';
import * as control from './control.ts';
import * as next from './next.ts';
import { decideStart } from './start.ts';
import * as suspension from './suspension.ts';

export interface TasksData {
  readonly signalSerial: number;
}

export const tasks: Noun<'tasks', TasksData> = {
  commands: {
    start_task: decideStart,
    cancel_task: (step, command, actor) => control.decideCancel(step, command, actor),
    signal_task: control.decideSignal,
    suspend_task: (step, { place }, actor) => control.decideSuspend(step, place, actor),
    resume_task: (step, { place }, actor) => control.decideResume(step, place, actor),
    requeue_task: (step, command, actor) => control.decideRequeue(step, command, actor),
  },
  events: {
    task_allocated: apply.applyTaskAllocated,
    task_held: apply.applyTaskHeld,
    task_requeued: apply.applyTaskRequeued,
    task_done: apply.applyTaskDone,
    task_returned: next.applyTaskReturned,
    part_placed: next.applyPartPlaced,
    part_recalled: next.applyPartRecalled,
    part_asked: apply.applyPartAsked,
    part_started: apply.applyPartStarted,
    part_suspended: suspension.applyPartSuspended,
    part_resumed: suspension.applyPartResumed,
    part_turns_heard: suspension.applyPartTurnsHeard,
    part_built: apply.applyPartBuilt,
    part_storing: suspension.applyPartStoring,
    part_ended: apply.applyPartEnded,
    claim_dropped: apply.applyClaimDropped,
    suspend_asked: suspension.applySuspendAsked,
    resume_asked: suspension.applyResumeAsked,
    end_asked: apply.applyEndAsked,
    signal_asked: apply.applySignalAsked,
  },
  facts: () => ({ signalSerial: 0 }),
  save: ({ signalSerial }) => ({ signalSerial }),
  load(state, { signalSerial }) {
    state.signalSerial = signalSerial;
  },
  check: checkTasks,
};
