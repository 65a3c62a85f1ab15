// The planted bugs in the scheduler: in what it plans, and in what it keeps of the site's rules.

import type { Event } from '../src/core/controller/events.ts';
import { placeOf, type State } from '../src/core/controller/state.ts';
import { Step } from '../src/core/controller/step.ts';
import type { TaskPlace } from '../src/core/model/ids.ts';
import { Board } from '../src/core/scheduler/board.ts';
import { QuotaBook } from '../src/core/scheduler/quota.ts';
import { type Canary, type Planted, replaceMethod } from './canary.ts';

/** Often enough that several tasks compete for a few nodes. */
const CROWDED = { isPlain: false, submissionMs: 1000, nodeCount: 2 } as const;

/** Whoever starts has somebody sent away as well. */
function evictTheFirst(): Planted {
  return {
    remove: replaceMethod(Step.prototype, 'emit', (original) => {
      return function emit(this: Step, event: Event): void {
        original.call(this, event);
        if (event.kind !== 'task_allocated') return;
        const victim = firstRunning(this.state);
        if (victim === null || victim.jobId === event.place.jobId) return;
        const because = `preempted by ${event.place.jobId} of alice`;
        this.emit({ kind: 'end_asked', place: victim, why: 'requeue', by: 'scheduler', because });
      };
    }),
  };
}

function firstRunning({ jobs }: State): TaskPlace | null {
  for (const job of jobs.values()) {
    for (const { state, index } of job.active.values()) {
      if (state === 'running') return placeOf(job, index);
    }
  }
  return null;
}

export const SCHEDULER_CANARIES: readonly Canary[] = [
  {
    name: 'limit-ignored',
    sentence: 'users have more tasks running than they may',
    plant: () => ({
      remove: replaceMethod(QuotaBook.prototype, 'allows', () => () => true),
    }),
    weather: CROWDED,
  },
  {
    name: 'promise-broken',
    sentence: 'what starts before its turn delays the task that was promised a time',
    plant: () => ({
      remove: replaceMethod(Board.prototype, 'promise', () => () => undefined),
    }),
    weather: CROWDED,
  },
  {
    name: 'preempts-for-nothing',
    sentence: 'a task is sent away for one that starts without that',
    plant: evictTheFirst,
    weather: CROWDED,
  },
];
