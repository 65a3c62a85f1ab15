// Inner calls: a program that itself runs in a call of this pool, and waits for calls of it, keeps
// a worker from them. As long as no other worker is idle that one runs them, one by one, in a
// process beside (C17): so a wait always ends, however few workers the pool may have.

import { CALL_DEPTH_MAX } from '../../../../kernel/model/limits.ts';
import { settle } from './ends.ts';
import { isOver } from './phases.ts';
import { give, isRefused, nextGivable, take } from './pump.ts';
import type { Session, Worker } from './records.ts';
import type { RouterState } from './state.ts';

const TOO_DEEP = {
  why: 'refused',
  detail: `No worker is idle, and calls of this pool wait for each other ${CALL_DEPTH_MAX} deep. Call what is inside directly, or give the pool more workers.`,
} as const;

/** What no idle worker has taken is run where its program is. */
export function lend(state: RouterState): void {
  for (const session of state.inner) lendTo(state, session);
}

function lendTo(state: RouterState, session: Session): void {
  const { inside } = session;
  if (inside === null) return;
  const depth = inside.depth + 1;
  for (;;) {
    const call = nextGivable(session);
    if (call === null) return;
    if (isRefused(state, call)) continue;
    const worker = state.workers.get(inside.worker);
    if (worker?.line == null || worker.isSuspended || worker.duty === 'leaves') return;
    if (depth > CALL_DEPTH_MAX) {
      settle(state, call, TOO_DEEP);
      continue;
    }
    if (isTaken(worker, depth)) return;
    take(session);
    give(state, call, worker.line, depth);
  }
}

function isTaken({ calls }: Worker, depth: number): boolean {
  for (const call of calls) {
    if (call.depth === depth && !isOver(call)) return true;
  }
  return false;
}
