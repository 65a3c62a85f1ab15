// What people are shown of a pool's calls.

import type { Speed } from './meter.ts';
import { isOver } from './phases.ts';
import type { Call, Session, Worker } from './records.ts';
import type { RouterState } from './state.ts';

export interface PoolView {
  readonly workers: readonly WorkerView[];
  readonly clients: readonly ClientView[];
  readonly waiting: number;
  readonly busy: number;
  /** Calls that have ended since the router began. */
  readonly done: number;
  /** Those of them without a value, and not cancelled. */
  readonly failed: number;
  /** In the last minute; null: no call has ended in it. */
  readonly speed: Speed | null;
}

export interface WorkerView {
  readonly name: string;
  readonly state: 'idle' | 'busy' | 'away' | 'leaving' | 'suspended';
  /** Calls that it has and that are not over. */
  readonly calls: number;
  readonly done: number;
  readonly failed: number;
  /** The call that runs there for more than a moment. */
  readonly running: RunningView | null;
}

export interface RunningView {
  readonly client: string;
  readonly call: number;
  readonly attempt: number;
  readonly forMs: number;
}

export interface ClientView {
  readonly session: string;
  readonly label: string;
  readonly isAway: boolean;
  readonly waiting: number;
  readonly open: number;
  readonly done: number;
  readonly failed: number;
  readonly speed: Speed | null;
}

export function viewOf(state: RouterState): PoolView {
  const { waiting, busy, doneCount: done, failedCount: failed } = state;
  return {
    workers: [...state.workers.values()].map((worker) => viewWorker(state, worker)),
    clients: [...state.sessions.values()].map((session) => viewClient(state, session)),
    waiting,
    busy,
    done,
    failed,
    speed: state.meter.speed(state.now),
  };
}

function viewWorker(state: RouterState, worker: Worker): WorkerView {
  const { name, doneCount: done, failedCount: failed } = worker;
  const running = runningOf(worker);
  return {
    name,
    state: workerStateOf(worker),
    calls: worker.load + lentTo(worker),
    done,
    failed,
    running: running === null ? null : viewRunning(state, running),
  };
}

function workerStateOf({ line, duty, isSuspended, load }: Worker): WorkerView['state'] {
  if (isSuspended) return 'suspended';
  if (line === null) return 'away';
  if (duty === 'leaves') return 'leaving';
  return load > 0 ? 'busy' : 'idle';
}

/** Inner calls, which are not in its load. */
function lentTo({ calls }: Worker): number {
  let count = 0;
  for (const call of calls) if (call.depth > 0 && !isOver(call)) count += 1;
  return count;
}

function runningOf({ calls }: Worker): Call | null {
  for (const call of calls) if (call.state === 'started') return call;
  return null;
}

function viewRunning(
  { now }: RouterState,
  { session, number, attempt, givenAt }: Call,
): RunningView {
  return { client: session.label, call: number, attempt, forMs: now - givenAt };
}

function viewClient({ now }: RouterState, session: Session): ClientView {
  const { id, label, line, fresh, again, calls, unacked, meter } = session;
  return {
    // Not the id: whoever knows it may act for the client.
    session: id.slice(0, 8),
    label,
    isAway: line === null,
    waiting: fresh.length + again.size,
    open: calls.size - unacked,
    done: session.doneCount,
    failed: session.failedCount,
    speed: meter.speed(now),
  };
}
