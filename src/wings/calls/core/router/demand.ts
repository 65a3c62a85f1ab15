// How many workers a pool should have now, and which of its idle ones may leave.

import { CALL_BACKLOG_MS } from '../../../../kernel/model/limits.ts';
import type { Session, Worker } from './records.ts';
import type { RouterState } from './state.ts';

/** Workers wanted now: those there, more for what waits too long, within the pool's bounds. */
export function demand(state: RouterState): number {
  const staying = countStaying(state);
  const wanted = state.waiting === 0 ? staying : Math.max(staying, state.busy + forBacklog(state));
  return Math.max(state.min, Math.min(state.max, wanted));
}

function countStaying({ workers }: RouterState): number {
  let count = 0;
  for (const { duty } of workers.values()) if (duty !== 'leaves') count += 1;
  return count;
}

/** One for each call of which nothing is known; fewer for calls that are short. */
function forBacklog({ sessions }: RouterState): number {
  let ms = 0;
  for (const session of sessions.values()) ms += backlogMs(session);
  return Math.ceil(ms / CALL_BACKLOG_MS);
}

/** By the next call of each client: looking at all of them would cost too much. */
function backlogMs({ fresh, again }: Session): number {
  const next = again.first ?? fresh.first;
  const meanMs = next?.asset?.meanMs ?? CALL_BACKLOG_MS;
  return (fresh.length + again.size) * Math.min(CALL_BACKLOG_MS, Math.max(0.001, meanMs));
}

/** Asks those to leave that have been idle for long, and all that are beyond the most. */
export function release(state: RouterState): void {
  let staying = countStaying(state);
  if (staying <= state.min || state.waiting > 0) return;
  for (const worker of state.workers.values()) {
    if (staying <= state.min) return;
    const isLong = state.now - worker.idleSince >= state.options.idleMs || staying > state.max;
    if (!isIdle(worker) || !isLong) continue;
    worker.duty = 'leaves';
    worker.line?.peer.send({ kind: 'leave' });
    state.loads.refresh(worker);
    staying -= 1;
  }
}

function isIdle({ line, load, duty, isSuspended, calls }: Worker): boolean {
  return line !== null && load === 0 && duty !== 'leaves' && !isSuspended && calls.size === 0;
}
