// The router of a pool: takes calls of clients, in turn, to workers, and ends of calls back. A pure
// machine: messages, lost lines and ticks go in; messages to peers come out. Nothing is on disk:
// after a restart of the head clients and workers tell the next router what there is (SPEC.md, C).

import { asSentence } from '../../../../kernel/base/sentence.ts';
import {
  CALL_CLIENT_AWAY_MS,
  CALL_CLIENT_SILENT_MS,
  CALL_HEARTBEAT_MS,
  CALL_RECALL_MS,
  CALL_SILENT_MS,
  CALL_WORKER_AWAY_MS,
} from '../../../../kernel/model/limits.ts';
import type {
  ClientToRouter,
  PoolNumbers,
  RouterToClient,
  RouterToWorker,
  WorkerToRouter,
} from '../messages.ts';
import type { Peer } from '../peer.ts';
import { evict, fetch } from './assets.ts';
import { takeFromClient } from './clients.ts';
import { demand, release } from './demand.ts';
import { settle } from './ends.ts';
import { lend } from './lend.ts';
import { cut, lineGone } from './lines.ts';
import { isOver } from './phases.ts';
import { toAway } from './presence.ts';
import { pump } from './pump.ts';
import { type ClientLine, type Inside, newStreams, type WorkerLine } from './records.ts';
import { accountFor, beginRecovery, recoveryTick } from './recovery.ts';
import { over } from './sessions.ts';
import { type RouterOptions, RouterState } from './state.ts';
import { type PoolView, viewOf } from './view.ts';
import { abandon, takeFromWorker } from './workers.ts';

/** One end of a line, as the shell feeds it. */
export interface Port<M> {
  /** The messages of a frame; whatever follows from them is told before this returns. */
  take(messages: readonly M[], now: number): void;
  /** What came was none: the line is cut for this reason. */
  refuse(detail: string, now: number): void;
  /** The line is gone. */
  gone(now: number): void;
}

/** A tick later than this was held up: nobody is taken for silent for that. */
const LATE_TICK_MS = 1000;
/** Between two tellings of a pool's numbers, unless a worker was lost. */
const NUMBERS_MS = 1000;

/** How many workers there may be, and why there are not so many; null: nothing is amiss. */
export interface PoolScale {
  readonly min: number;
  readonly max: number;
  readonly why: string | null;
  /** Why no worker will come as things are; calls are refused with it as long as there is none. */
  readonly hopeless: string | null;
}

export class Router {
  /** For those who check its books. */
  readonly state: RouterState;
  #tickAt: number;
  #numbersAt = 0;
  #numbers = '';
  #lossesTold: number;

  constructor(options: RouterOptions, now: number) {
    this.state = new RouterState(options, now);
    this.#tickAt = now;
    this.#lossesTold = options.losses;
    beginRecovery(this.state);
    options.room?.join(this);
  }

  /** Lets go of one of the functions and values that it keeps. */
  evict(): boolean {
    return evict(this.state);
  }

  /** `inside`: where its program runs, when that is in a call. `host`: `PeerLine.host`. */
  openClient(
    peer: Peer<RouterToClient>,
    now: number,
    { inside = null, host = null }: { inside?: Inside | null; host?: string | null } = {},
  ): Port<ClientToRouter> {
    const line: ClientLine = {
      ...newStreams(),
      peer,
      heardAt: now,
      isOpen: true,
      session: null,
      inside,
      host,
    };
    this.state.clientLines.add(line);
    return this.#portOf(line, (message: ClientToRouter) =>
      takeFromClient(this.state, line, message),
    );
  }

  openWorker(
    peer: Peer<RouterToWorker>,
    now: number,
    host: string | null = null,
  ): Port<WorkerToRouter> {
    const line: WorkerLine = {
      ...newStreams(),
      peer,
      heardAt: now,
      isOpen: true,
      worker: null,
      pingAt: now,
      sessions: [],
      numbers: new Map(),
      told: new Set(),
      host,
    };
    this.state.workerLines.add(line);
    return this.#portOf(line, (message: WorkerToRouter) =>
      takeFromWorker(this.state, line, message),
    );
  }

  #portOf<M>(line: ClientLine | WorkerLine, takeOne: (message: M) => string | null): Port<M> {
    const state = this.state;
    const refuse = (detail: string): void => {
      // What comes late on a line that is over blames nobody: its worker may be on another by now.
      if (!line.isOpen) return;
      cut(state, line, { detail, isFinal: true });
      if (!('worker' in line) || line.worker === null) return;
      const words = `Its worker broke a rule: ${detail}`;
      abandon(state, line.worker, { detail: words, isBlamed: true });
    };
    return {
      take: (messages, now) => {
        state.now = now;
        line.heardAt = now;
        for (let at = 0; at < messages.length && line.isOpen; at += 1) {
          const flaw = takeOne(messages[at] as M);
          if (flaw !== null) refuse(flaw);
        }
        this.#turn();
      },
      refuse: (detail, now) => {
        state.now = now;
        refuse(detail);
        this.#turn();
      },
      gone: (now) => {
        state.now = now;
        lineGone(state, line);
        this.#turn();
      },
    };
  }

  /**
   * An epoch of the pool has ended: `left` when it was asked to and ended with code 0, `taken` when
   * the cluster has ended it, or its node is lost, which is no fault of what ran there. `why` in
   * words.
   */
  workerGone(name: string, how: 'left' | 'lost' | 'taken', now: number, why = ''): void {
    const state = this.state;
    state.now = now;
    if (how !== 'left') state.losses += 1;
    state.suspended.delete(name);
    const worker = state.workers.get(name);
    if (worker !== undefined) {
      if (worker.line !== null)
        cut(state, worker.line, { detail: 'the worker has ended', isFinal: true });
      const words = why === '' ? '' : `: ${why}`;
      const isBlamed = how === 'lost';
      abandon(state, worker, {
        detail: asSentence(`Its worker ${name} has ended${words}`),
        isBlamed,
      });
      state.workers.delete(name);
    }
    accountFor(state, name);
    this.#turn();
  }

  /**
   * The cluster has stopped this worker for a while, or lets it go on. It is not waited for as one
   * that is lost would be: its calls wait with it.
   */
  workerSuspended(name: string, isSuspended: boolean, now: number): void {
    const state = this.state;
    state.now = now;
    if (isSuspended) state.suspended.add(name);
    else state.suspended.delete(name);
    const worker = state.workers.get(name);
    if (worker === undefined) return;
    worker.isSuspended = isSuspended;
    worker.endedAt = now;
    if (worker.line === null) toAway(worker, now);
    else worker.line.heardAt = now;
    state.loads.refresh(worker);
    this.#turn();
  }

  /** Every 20 ms or so; what is to be done by time is done here. */
  tick(now: number): void {
    const state = this.state;
    state.now = now;
    if (now - this.#tickAt > LATE_TICK_MS) this.#forgive();
    this.#tickAt = now;
    recoveryTick(state);
    for (const line of state.clientLines) this.#watch(line);
    for (const line of state.workerLines) {
      if (line.worker?.isSuspended === true) continue;
      this.#watch(line);
      this.#ping(line);
    }
    this.#giveUp();
    this.#recall();
    release(state);
    for (const asset of state.assets.values()) if (asset.readers.size > 0) fetch(state, asset);
    this.#tellNumbers();
    this.#turn();
  }

  /** The pool's bounds as they are now, and why it has no more workers; null: nothing is amiss. */
  scale(of: PoolScale): void {
    this.state.min = of.min;
    this.state.max = of.max;
    this.state.why = of.why;
    this.state.hopeless = of.hopeless;
  }

  /** How many workers the pool should have. */
  demand(): number {
    return demand(this.state);
  }

  view(now: number): PoolView {
    this.state.now = now;
    return viewOf(this.state);
  }

  /** The pool is over: every call is settled, every line cut. */
  close(detail: string, now: number): void {
    const state = this.state;
    state.now = now;
    state.isClosed = true;
    for (const session of state.sessions.values()) {
      for (const call of session.calls.values()) {
        if (!isOver(call)) settle(state, call, { why: 'pool_closed', detail });
      }
    }
    for (const line of [...state.clientLines, ...state.workerLines]) {
      cut(state, line, { detail, isFinal: true });
    }
    state.options.room?.leave(this, state.assetBytes);
  }

  #turn(): void {
    if (!this.state.isClosed) {
      pump(this.state);
      lend(this.state);
    }
    this.state.flush();
  }

  /** This program stood still: what waits for it in sockets is heard before anybody is judged. */
  #forgive(): void {
    const { clientLines, workerLines, now } = this.state;
    for (const line of clientLines) line.heardAt = now;
    for (const line of workerLines) line.heardAt = now;
  }

  #watch(line: ClientLine | WorkerLine): void {
    if (this.state.now - line.heardAt < CALL_SILENT_MS) return;
    // The end of a program closes its line: whoever only fell silent may be there all the same.
    if ('session' in line && line.session !== null) line.session.isSilent = true;
    cut(this.state, line, { detail: 'nothing was heard for too long', isFinal: false });
  }

  #ping(line: WorkerLine): void {
    const { now } = this.state;
    if (!line.isOpen || now - line.pingAt < CALL_HEARTBEAT_MS) return;
    line.pingAt = now;
    line.peer.send({ kind: 'ping' });
  }

  #giveUp(): void {
    const state = this.state;
    const { now } = state;
    for (const session of state.sessions.values()) {
      const awayMsMax = session.isSilent ? CALL_CLIENT_SILENT_MS : CALL_CLIENT_AWAY_MS;
      const isAway = session.line === null && now - session.awayAt >= awayMsMax;
      if (isAway && state.recovery === null)
        over(state, session, session.detach ? 'detached' : 'ended');
    }
    for (const worker of state.workers.values()) {
      const { name, awaySince, isSuspended } = worker;
      if (awaySince === null || isSuspended || now - awaySince < CALL_WORKER_AWAY_MS) continue;
      abandon(state, worker, { detail: `Its worker ${name} cannot be reached.`, isBlamed: false });
    }
  }

  /** Work that waits behind something long is taken back when somebody else is idle. */
  #recall(): void {
    const { loads, waiting, workers, now } = this.state;
    if (waiting > 0 || loads.least?.load !== 0) return;
    for (const worker of workers.values()) {
      const { line, load, endedAt, isSuspended } = worker;
      if (line === null || isSuspended || load < 2 || now - endedAt < CALL_RECALL_MS) continue;
      worker.duty = 'held_up';
      loads.refresh(worker);
      line.peer.send({ kind: 'recall', count: load - 1 });
    }
  }

  #tellNumbers(): void {
    const { now, workers, busy, waiting, losses, why, clientLines } = this.state;
    // What a client submits from now on cannot have run with a worker lost before: it is to know
    // that before the head may be started anew, or such a call would not be run again (C7).
    const isNewLoss = losses !== this.#lossesTold;
    if (!isNewLoss && now - this.#numbersAt < NUMBERS_MS) return;
    const numbers: PoolNumbers = {
      kind: 'pool',
      workers: workers.size,
      busy,
      waiting,
      losses,
      why,
    };
    const text = JSON.stringify(numbers);
    if (text === this.#numbers && !this.state.hasNewcomer) return;
    this.state.hasNewcomer = false;
    this.#numbersAt = now;
    this.#numbers = text;
    this.#lossesTold = losses;
    for (const { peer, session } of clientLines) if (session !== null) peer.send(numbers);
  }
}
