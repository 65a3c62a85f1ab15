// Who is served next: sessions in turn, the calls of each in order, by the worker with the fewest.

import {
  CALL_AHEAD_MS,
  CALL_INLINE_BYTES_MAX,
  CALL_UNACKED_BYTES_MAX,
  CALL_UNACKED_MAX,
} from '../../../../kernel/model/limits.ts';
import { tellAssets } from './assets.ts';
import { assign, settle } from './ends.ts';
import type { Asset, Call, Session, Worker, WorkerLine } from './records.ts';
import { numberOf, type RouterState } from './state.ts';

/** A function that is very short is still counted as so long: 64 of them are enough ahead. */
const SHORTEST_MS = 0.02;

/** Gives calls to workers as long as there are both. */
export function pump(state: RouterState): void {
  let passed = 0;
  for (;;) {
    const session = state.ring.first;
    if (session === undefined) return;
    const call = nextGivable(session);
    if (call === null) {
      state.ring.shift();
      session.isInRing = false;
      continue;
    }
    if (isRefused(state, call)) continue;
    const worker = state.loads.least;
    if (worker?.line == null) return;
    if (worker.load > 0 && session.inside !== null) {
      // Behind a call that waits for it it would wait for ever. Who is next may be put there.
      if (passed >= state.ring.length) return;
      passed += 1;
      state.ring.shift();
      state.ring.push(session);
      continue;
    }
    if (!fits(worker, call)) return;
    passed = 0;
    state.ring.shift();
    take(session);
    give(state, call, worker.line);
    state.ring.push(session);
  }
}

/** True for a call that can be run nowhere, which is then settled with the reason. */
export function isRefused(state: RouterState, call: Call): boolean {
  const refusal = poison(state, call);
  if (refusal !== null) {
    settle(state, call, { why: 'worker_lost', detail: refusal });
    return true;
  }
  if (state.hopeless === null || state.workers.size > 0 || state.recovery !== null) return false;
  settle(state, call, { why: 'refused', detail: state.hopeless });
  return true;
}

/** The next call of a session that may be given now; null: there is none. */
export function nextGivable(session: Session): Call | null {
  return isHeldUp(session) ? null : nextOf(session);
}

/** A client that does not take its results gets no more; one that is not sorted out waits. */
function isHeldUp(session: Session): boolean {
  return (
    session.limbo > 0 ||
    session.unacked >= CALL_UNACKED_MAX ||
    session.unackedBytes >= CALL_UNACKED_BYTES_MAX
  );
}

function nextOf({ again, fresh }: Session): Call | null {
  while (again.first !== undefined && again.first.state !== 'queued') again.pop();
  if (again.first !== undefined) return again.first;
  while (fresh.first !== undefined && fresh.first.state !== 'queued') fresh.shift();
  return fresh.first ?? null;
}

export function take({ again, fresh }: Session): void {
  if (again.first !== undefined) again.pop();
  else fresh.shift();
}

function poison(state: RouterState, { session, asset }: Call): string | null {
  if (session.crashes.size === 0 || asset === null) return null;
  const crashes = session.crashes.get(asset.sha256) ?? 0;
  if (crashes < state.options.crashLimit) return null;
  return `This function has killed its process ${crashes} times in a row; it is not run again for this client.`;
}

function expectedMs(asset: Asset | null): number {
  const meanMs = asset?.meanMs ?? CALL_AHEAD_MS;
  return meanMs < SHORTEST_MS ? SHORTEST_MS : meanMs;
}

/** An idle worker takes anything; ahead goes only what is short, and one large payload. */
function fits(worker: Worker, call: Call): boolean {
  if (worker.load === 0) return true;
  if (worker.aheadMs + expectedMs(call.asset) > CALL_AHEAD_MS) return false;
  return call.size <= CALL_INLINE_BYTES_MAX || worker.load === 1;
}

/** `depth`: 0 for the worker's own process, else that for inner calls of this depth. */
export function give(state: RouterState, call: Call, line: WorkerLine, depth = 0): void {
  const { asset, shared, inline, size } = call;
  const { worker } = line;
  const session = numberOf(line, call.session);
  if (asset === null || worker === null) return;
  tellAssets(line, call);
  call.aheadMs = expectedMs(asset);
  call.attempt += 1;
  call.depth = depth;
  assign(state, call, worker);
  const told = {
    session,
    call: call.number,
    asset: asset.number,
    shared: shared.length === 0 ? NONE : shared.map(({ number }) => number),
    attempt: call.attempt,
    timeoutMs: call.timeoutMs,
    payload: inline === null ? { size } : { inline },
  };
  line.peer.send(depth === 0 ? { kind: 'call', ...told } : { kind: 'inner', depth, ...told });
}

const NONE: readonly number[] = [];
