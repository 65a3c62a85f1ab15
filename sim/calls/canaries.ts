// The planted bugs about calls: in clients, in the router, in workers and in what they say.

import type { WorkerToRouter } from '../../src/wings/calls/core/messages.ts';
import type { Peer } from '../../src/wings/calls/core/peer.ts';
import type { Session } from '../../src/wings/calls/core/router/records.ts';
import type { Router } from '../../src/wings/calls/core/router/router.ts';
import { RouterState } from '../../src/wings/calls/core/router/state.ts';
import { ChildMind } from '../../src/wings/calls/core/worker/child-mind.ts';
import { replaceMethod } from '../canary.ts';
import type { CallCanary, PlantedCalls } from './canary.ts';

/** Weather in which nothing goes wrong but what the canary is about. */
const CALM = {
  cancelMs: null,
  cutMs: null,
  longCutMs: null,
  stallMs: null,
  headCrashMs: null,
  childDeathMs: null,
  workerDeathMs: null,
  clientDeathMs: null,
  suspendMs: null,
  retriesPart: 0,
  workersMin: 2,
  workersMax: 3,
  openMax: 100,
  burst: 5,
  submitMs: 100,
  largePart: 0,
} as const;

/** A peer that says something else, or nothing. */
function saying<M>(peer: Peer<M>, change: (message: M) => M | null): Peer<M> {
  return {
    send: (message) => {
      const changed = change(message);
      if (changed !== null) peer.send(changed);
    },
    close: () => peer.close(),
    isBehind: false,
  };
}

/** Settles whatever is told to be over, known or not. */
function settlesAgain(): PlantedCalls {
  return {
    toClient: (client, messages) => {
      for (const message of messages) {
        if (message.kind !== 'result' || !('inline' in message.payload)) continue;
        const { call, ok, attempt, payload } = message;
        client.ended(call, { kind: 'result', ok, attempt, bytes: payload.inline });
      }
    },
  };
}

/** Forgets an end as soon as it was told: it does not wait for the acknowledgement. */
function forgetsEnds(message: WorkerToRouter): WorkerToRouter {
  if (message.kind !== 'hello') return message;
  return { ...message, held: message.held.filter(({ state }) => state !== 'ended') };
}

function forgetsCalls(router: Router, worker: string): void {
  router.state.workers.get(worker)?.calls.clear();
}

/** Serves whoever was served last, as long as that one has calls. */
function starves({ state }: Router): void {
  const first: Session[] = [];
  Object.assign(state.ring, {
    push: (session: Session) => first.unshift(session),
    shift: () => first.shift(),
  });
  Object.defineProperty(state.ring, 'first', { get: () => first[0] });
}

function notesNoStart(): PlantedCalls {
  return {
    remove: replaceMethod(ChildMind.prototype, 'starting', () => () => undefined),
  };
}

function leaksWindow(): PlantedCalls {
  return {
    remove: replaceMethod(RouterState.prototype, 'credit', (original) => {
      let count = 0;
      return function credit(this: RouterState, ...of: Parameters<RouterState['credit']>): void {
        count += 1;
        if (count % 10 !== 0) original.call(this, ...of);
      };
    }),
  };
}

export const CALL_CANARIES: readonly CallCanary[] = [
  {
    name: 'settles-again',
    sentence: 'a settled call settles again',
    plant: settlesAgain,
    weather: CALM,
  },
  {
    name: 'end-forgotten',
    sentence: 'an acknowledgement that is lost runs a call twice',
    plant: () => ({ fromWorker: (peer) => saying(peer, forgetsEnds) }),
    weather: { ...CALM, cutMs: 500 },
  },
  {
    name: 'dead-worker-forgotten',
    sentence: 'the call of a dead worker is forgotten',
    plant: () => ({ beforeGone: forgetsCalls }),
    weather: { ...CALM, workerDeathMs: 1000 },
  },
  {
    name: 'client-starves',
    sentence: 'one client starves another',
    plant: () => ({ onRouter: starves }),
    weather: { ...CALM, clients: 3, workersMin: 1, workersMax: 1 },
  },
  {
    name: 'running-is-run-again',
    sentence: 'a call that was running when its process died is run again',
    plant: notesNoStart,
    weather: { ...CALM, childDeathMs: 500 },
  },
  {
    name: 'workers-not-awaited',
    sentence: 'a head that starts gives calls anew before it has heard its workers',
    plant: () => ({ options: (options) => ({ ...options, workers: [] }) }),
    weather: { ...CALM, headCrashMs: 3000 },
  },
  {
    name: 'losses-forgotten',
    sentence: 'a head that starts does not know that workers were lost',
    plant: () => ({ options: (options) => ({ ...options, losses: 0 }) }),
    weather: { ...CALM, headCrashMs: 3000, workerDeathMs: 1500 },
  },
  {
    name: 'over-forgotten',
    sentence: 'workers do not remember the sessions that were over',
    plant: () => ({
      fromWorker: (peer) =>
        saying(peer, (message) => (message.kind === 'hello' ? { ...message, over: [] } : message)),
    }),
    // A client has to be away while its session ends and the head starts anew.
    weather: {
      ...CALM,
      longCutMs: 10_000,
      headCrashMs: 10_000,
      stormMs: 120_000,
      longPart: 0.3,
      clients: 3,
      submitMs: 500,
      burst: 1,
    },
  },
  {
    name: 'never-acknowledged',
    sentence: 'a worker keeps every result for ever',
    plant: () => ({
      toWorker: (peer) => saying(peer, (message) => (message.kind === 'ack' ? null : message)),
    }),
    weather: CALM,
  },
  {
    name: 'window-leaks',
    sentence: 'a client is not told of all the room that it has again',
    plant: leaksWindow,
    weather: CALM,
  },
];
