// After a restart of the head: what the clients send again, and what the workers say they hold, are
// put together. Nothing that may have run is given to anybody again, unless it has retries.

import { CALL_RECOVERY_MS } from '../../../../kernel/model/limits.ts';
import { enqueue, fail, type Reason, settle } from './ends.ts';
import { toLimbo, toNowhere } from './phases.ts';
import type { Call } from './records.ts';
import type { RouterState } from './state.ts';

/** Workers of the router before this one are waited for. */
export function beginRecovery(state: RouterState): void {
  const { workers } = state.options;
  if (workers.length === 0) return;
  state.recovery = { until: state.now + CALL_RECOVERY_MS, missing: new Set(workers) };
}

/** A worker has said what it holds, or is gone and counted as a loss. */
export function accountFor(state: RouterState, worker: string): void {
  state.missing.delete(worker);
  const { recovery } = state;
  if (recovery === null) return;
  recovery.missing.delete(worker);
  if (recovery.missing.size === 0) endRecovery(state);
}

export function recoveryTick(state: RouterState): void {
  const { recovery } = state;
  if (recovery === null || state.now < recovery.until) return;
  for (const worker of recovery.missing) state.missing.add(worker);
  endRecovery(state);
}

function endRecovery(state: RouterState): void {
  state.recovery = null;
  for (const session of state.sessions.values()) {
    if (session.limbo === 0) continue;
    for (const call of session.calls.values()) if (call.state === 'limbo') decide(state, call);
    state.enter(session);
  }
}

/** A call that was first sent to an earlier router, and that no worker holds so far. */
export function judge(state: RouterState, call: Call): void {
  toLimbo(call);
  call.session.limbo += 1;
  if (state.recovery === null) decide(state, call);
}

function decide(state: RouterState, call: Call): void {
  const { session } = call;
  const isOver = state.over.has(session.id);
  const mayHaveRun = isOver || state.missing.size > 0 || state.losses > (call.since ?? 0);
  // Leaving limbo by itself, before it is queued: the window stays as it is.
  session.limbo -= 1;
  toNowhere(call);
  if (!mayHaveRun && !call.isCancelled) return enqueue(state, call, 'again');
  if (!mayHaveRun) {
    settle(state, call, { why: 'cancelled', detail: 'It was cancelled before it started.' });
  } else {
    call.attempt = Math.max(1, call.attempt);
    fail(state, call, isOver ? GIVEN_UP : MAY_HAVE_RUN);
  }
}

const GIVEN_UP: Reason = {
  why: 'gone',
  detail: 'The client was away for so long that its calls were given up.',
};
const MAY_HAVE_RUN: Reason = {
  why: 'worker_lost',
  detail: 'The head was started anew, and a worker is lost that may have run this call.',
};
