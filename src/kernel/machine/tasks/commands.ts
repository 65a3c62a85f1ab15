// What can be asked about tasks.

import type { NodeName, TaskPlace } from '../../model/ids.ts';
import type { SignalTo } from '../../model/job.ts';

export type TaskCommand =
  | StartTask
  | CancelTask
  | SignalTask
  | SuspendTask
  | ResumeTask
  | RequeueTask;

/** From an external scheduler: a task of a partition that it runs starts now, on these nodes. */
export interface StartTask {
  readonly kind: 'start_task';
  /** With the index, of an array. */
  readonly place: TaskPlace;
  /** One for each part; no node twice. */
  readonly nodes: readonly NodeName[];
}

/** A whole job (`index` null) or one task of an array. */
export interface CancelTask {
  readonly kind: 'cancel_task';
  readonly place: TaskPlace;
  /** In words for the outcome of what runs; absent: who cancelled it. */
  readonly because?: string;
  /** A pool that is not needed any more: it has completed. */
  readonly closes?: true;
}

export interface SignalTask {
  readonly kind: 'signal_task';
  readonly place: TaskPlace;
  readonly signal: number;
  /** Absent: to all of its processes. */
  readonly to?: SignalTo;
}

export interface SuspendTask {
  readonly kind: 'suspend_task';
  readonly place: TaskPlace;
}

export interface ResumeTask {
  readonly kind: 'resume_task';
  readonly place: TaskPlace;
}

/** Ends what runs and puts it back to the queue as the next epoch. */
export interface RequeueTask {
  readonly kind: 'requeue_task';
  readonly place: TaskPlace;
  /** In words for the outcome, when it is nobody's wish. */
  readonly because?: string;
  /** When it waits again it is held. */
  readonly holds?: true;
}
