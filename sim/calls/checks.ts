// The rules about calls that are judged on what the router gives, and on its books: order (C3),
// fairness (C4), bounds (C5), and that nothing is left (C6).

import {
  CALL_AHEAD_MAX,
  CALL_UNACKED_MAX,
  CALL_WINDOW_CALLS,
} from '../../src/kernel/model/limits.ts';
import type { RouterToWorker } from '../../src/wings/calls/core/messages.ts';
import type { Peer } from '../../src/wings/calls/core/peer.ts';
import type { Session } from '../../src/wings/calls/core/router/records.ts';
import type { Router } from '../../src/wings/calls/core/router/router.ts';
import { Violation } from '../violation.ts';

interface Seen {
  /** The latest call that was given for the first time. */
  latest: number;
  readonly given: Set<number>;
  /** How often others were served while it waited. */
  passed: number;
}

/** Watches what one life of the router gives. */
export class GiveWatch {
  readonly #router: Router;
  readonly #seen = new Map<Session, Seen>();

  constructor(router: Router) {
    this.#router = router;
  }

  /** A peer that watches what is sent to a worker. */
  wrap(peer: Peer<RouterToWorker>): Peer<RouterToWorker> {
    const numbers = new Map<number, string>();
    return {
      send: (message) => {
        if (message.kind === 'session') numbers.set(message.session, message.id);
        if (message.kind === 'call') {
          this.#gave(numbers.get(message.session) ?? '', message.call, message.attempt);
        }
        peer.send(message);
      },
      close: () => peer.close(),
      get isBehind() {
        return peer.isBehind;
      },
    };
  }

  #gave(id: string, call: number, attempt: number): void {
    const { sessions } = this.#router.state;
    const session = sessions.get(id);
    if (session === undefined) return;
    const seen = this.#seenOf(session);
    if (!seen.given.has(call) && attempt === 1) {
      // C3: in the order in which they were submitted.
      if (call < seen.latest && !this.#isSortedOut(session)) {
        throw new Violation('C3', `${session.label} has ${call} given after ${seen.latest}`);
      }
      seen.latest = Math.max(seen.latest, call);
    }
    seen.given.add(call);
    seen.passed = 0;
    for (const other of sessions.values()) if (other !== session) this.#passed(other);
  }

  /** What came back with a client is put in order as it comes. */
  #isSortedOut(session: Session): boolean {
    return session.round > 1 || this.#router.state.options.generation !== 'g1';
  }

  /**
   * C4: nobody is passed over for long. Twice as often as there are clients: a turn may be spent on
   * a call that is settled without being run.
   */
  #passed(session: Session): void {
    const seen = this.#seenOf(session);
    const waits = [...session.calls.values()].some(({ state }) => state === 'queued');
    const isHeldUp = session.limbo > 0 || session.unacked >= CALL_UNACKED_MAX;
    if (!waits || isHeldUp || session.unackedBytes > 1_000_000) {
      seen.passed = 0;
      return;
    }
    seen.passed += 1;
    if (seen.passed <= 2 * this.#router.state.sessions.size) return;
    throw new Violation(
      'C4',
      `${session.label} waits while others are served ${seen.passed} times`,
    );
  }

  #seenOf(session: Session): Seen {
    const known = this.#seen.get(session) ?? { latest: 0, given: new Set(), passed: 0 };
    this.#seen.set(session, known);
    return known;
  }
}

/** C5: what the router keeps is bounded, and its counts agree with what there is. */
export function checkRouter({ state }: Router): void {
  let waiting = 0;
  for (const session of state.sessions.values()) {
    const queued = countQueued(session);
    waiting += queued;
    const name = session.label;
    // Beside the window: what was at workers when it was queued again.
    const most = CALL_WINDOW_CALLS + CALL_AHEAD_MAX * (state.workers.size + 8) + CALL_UNACKED_MAX;
    if (queued > most) throw new Violation('C5', `${name} has ${queued} calls at the router`);
    if (session.windowCalls < 0 || session.windowBytes < 0) {
      throw new Violation('C5', `the window of ${name} is ${session.windowCalls}`);
    }
    if (session.unacked > CALL_UNACKED_MAX + CALL_AHEAD_MAX * 10 || session.unacked < 0) {
      throw new Violation('C5', `${name} has ${session.unacked} ends unacknowledged`);
    }
    if (session.unackedBytes < 0)
      throw new Violation('C5', `${name}: ${session.unackedBytes} bytes`);
  }
  if (waiting !== state.waiting) {
    throw new Violation('C5', `${waiting} calls wait, and ${state.waiting} are counted`);
  }
  for (const worker of state.workers.values()) {
    const load = [...worker.calls].filter(
      (call) => call.state === 'given' || call.state === 'started',
    );
    if (load.length !== worker.load || worker.load > CALL_AHEAD_MAX) {
      throw new Violation(
        'C5',
        `${worker.name} has ${load.length} calls, counted as ${worker.load}`,
      );
    }
  }
}

function countQueued({ calls }: Session): number {
  let count = 0;
  for (const { state } of calls.values()) if (state === 'queued') count += 1;
  return count;
}

/** C6: what a router still has when everybody has all they wait for. */
export function leftAtRouter({ state }: Router): string[] {
  const left: string[] = [];
  for (const session of state.sessions.values()) {
    const { calls, relays, label } = session;
    if (calls.size > 0) left.push(`${calls.size} calls of ${label} at the router`);
    if (relays.size > 0) left.push(`${relays.size} streams of ${label}`);
    if (session.windowCalls !== 0) left.push(`${session.windowCalls} in the window of ${label}`);
    if (session.unacked !== 0) left.push(`${session.unacked} unacknowledged of ${label}`);
  }
  for (const { calls, relays, name, line } of state.workers.values()) {
    if (calls.size > 0) left.push(`${calls.size} calls of ${name}`);
    if (relays.size > 0) left.push(`${relays.size} streams of ${name}`);
    if (line !== null && line.asked.size + line.given.size > 0) left.push(`streams to ${name}`);
  }
  if (state.waiting !== 0 || state.busy !== 0)
    left.push(`${state.waiting} waiting, ${state.busy} busy`);
  return left;
}
