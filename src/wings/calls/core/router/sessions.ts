// How a session ends: by goodbye, or given up because its client stayed away.

import { isMostlyOver } from '../fifo.ts';
import { dropUnnamed, withdraw } from './assets.ts';
import { toNowhere } from './phases.ts';
import type { Call, Session } from './records.ts';
import type { RouterState } from './state.ts';
import { closeRelaysOf } from './streams.ts';

/**
 * The session is over. Workers hear that before anything else of it, so that they remember it when
 * they have forgotten its calls: a client that comes back to the next router must not run them
 * anew.
 */
export function over(state: RouterState, session: Session, how: 'detached' | 'ended'): void {
  state.sessions.delete(session.id);
  state.inner.delete(session);
  state.remember(session.id, session.highest);
  session.line = null;
  for (const { peer } of state.workerLines)
    peer.send({ kind: 'over', id: session.id, isDetached: how === 'detached' });
  for (const call of session.calls.values()) leave(state, call);
  // Behind a session whose calls wait it would stay in the ring, with all that it had.
  session.fresh.retain(isNone);
  session.again.retain(isNone);
  if (isMostlyOver(state.ring.length, state.sessions.size)) {
    state.ring.retain(({ id }) => state.sessions.has(id));
  }
  withdraw(session);
  dropUnnamed(state, session);
}

function isNone(): boolean {
  return false;
}

/** What a worker still has is counted there until the worker is rid of it. */
function leave(state: RouterState, call: Call): void {
  closeRelaysOf(call);
  if (call.state === 'queued') state.waiting -= 1;
  if (call.state === 'given' || call.state === 'started') {
    call.isDropped = true;
    return;
  }
  call.worker?.calls.delete(call);
  toNowhere(call);
  call.session.calls.delete(call.number);
}
