// A router's memory, and its smallest changes: who is told what at the end of a turn.

import {
  CALL_OVER_MAX,
  CALL_WINDOW_BYTES,
  CALL_WINDOW_CALLS,
} from '../../../../kernel/model/limits.ts';
import { Fifo } from '../fifo.ts';
import type { Hash } from '../hash.ts';
import type { SessionNumber } from '../messages.ts';
import type { AssetRoom } from './asset-room.ts';
import { Loads } from './loads.ts';
import { Meter } from './meter.ts';
import type { Asset, Call, ClientLine, Session, Worker, WorkerLine } from './records.ts';

export interface RouterOptions {
  /** Random for each start: it tells a router that goes on from one that has forgotten. */
  readonly generation: string;
  /** How many epochs of the pool have ended but as the router had asked; durable, only grows. */
  readonly losses: number;
  /** Workers that live by the head's state: a router that starts waits for them. */
  readonly workers: readonly string[];
  /** Processes that a function may kill in a row. */
  readonly crashLimit: number;
  readonly min: number;
  readonly max: number;
  /** A worker idle for so long is asked to leave, down to `min`. */
  readonly idleMs: number;
  /** A SHA-256 that is fed piece by piece. */
  readonly newHash: () => Hash;
  /** Shared with the other routers of a head. */
  readonly room?: AssetRoom;
}

/** A router that has started and does not know yet what its workers hold. */
export interface Recovery {
  readonly until: number;
  /** Workers that were alive and have not said hello. */
  readonly missing: Set<string>;
}

export class RouterState {
  readonly options: RouterOptions;
  now: number;
  losses: number;
  min: number;
  max: number;
  why: string | null = null;
  /** Why no worker will come; null: one may. */
  hopeless: string | null = null;
  isClosed = false;
  recovery: Recovery | null;
  /** Workers that never came back to this router: calls of earlier times may have run there. */
  readonly missing = new Set<string>();
  readonly sessions = new Map<string, Session>();
  /** Those of them whose programs are in calls of this pool. */
  readonly inner = new Set<Session>();
  readonly workers = new Map<string, Worker>();
  readonly clientLines = new Set<ClientLine>();
  readonly workerLines = new Set<WorkerLine>();
  readonly assets = new Map<string, Asset>();
  assetBytes = 0;
  nextAsset = 1;
  /**
   * Sessions that are over, by id, the oldest first: the highest number that a call of theirs had.
   */
  readonly over = new Map<string, number>();
  /** Workers that are stopped, as the cluster says, and go on some time. */
  readonly suspended = new Set<string>();
  readonly ring = new Fifo<Session>();
  readonly loads = new Loads();
  waiting = 0;
  /** Somebody is to be told the numbers of the pool, changed or not. */
  hasNewcomer = false;
  busy = 0;
  doneCount = 0;
  /** Those of them that gave no value and were not cancelled. */
  failedCount = 0;
  readonly meter = new Meter();
  #sessions: Session[] = [];
  #workers: Worker[] = [];

  constructor(options: RouterOptions, now: number) {
    this.options = options;
    this.now = now;
    this.losses = options.losses;
    this.min = options.min;
    this.max = options.max;
    this.recovery = null;
  }

  /** Queues a session whose calls may be given as soon as it is its turn. */
  enter(session: Session): void {
    if (session.isInRing) return;
    session.isInRing = true;
    this.ring.push(session);
  }

  /** Calls of it with higher numbers than that were never here. */
  remember(id: string, highest: number): void {
    this.over.delete(id);
    this.over.set(id, highest);
    if (this.over.size <= CALL_OVER_MAX) return;
    for (const oldest of this.over.keys()) {
      this.over.delete(oldest);
      return;
    }
  }

  count(call: Call, bytes: number): void {
    call.credit = bytes;
    call.session.windowCalls += 1;
    call.session.windowBytes += bytes;
  }

  uncount(call: Call): void {
    if (call.credit < 0) return;
    call.session.windowCalls -= 1;
    call.session.windowBytes -= call.credit;
    call.credit = -1;
  }

  /**
   * Room in the client's window: told with something else, or when it is worth a frame of its own.
   */
  credit(call: Call): void {
    const { session, credit } = call;
    if (credit < 0) return;
    this.uncount(call);
    session.creditCalls += 1;
    session.creditBytes += credit;
    this.#touch(session);
  }

  /** Marks a session that gets a message in this turn: what else there is goes with it. */
  hasNews(session: Session): void {
    session.hasNews = true;
    this.#touch(session);
  }

  #touch(session: Session): void {
    if (session.isDirty) return;
    session.isDirty = true;
    this.#sessions.push(session);
  }

  /** The client has the end of this call: its worker may forget it. */
  ack(call: Call): void {
    const { worker, session } = call;
    if (worker === null || worker.line === null) return;
    if (worker.ackSession !== session) this.#flushAcks(worker);
    worker.ackSession = session;
    worker.acks.push(call.number);
    if (worker.isDirty) return;
    worker.isDirty = true;
    this.#workers.push(worker);
  }

  /** Tells what has gathered. */
  flush(): void {
    for (const session of this.#sessions) flushCredit(session);
    for (const worker of this.#workers) {
      this.#flushAcks(worker);
      worker.isDirty = false;
    }
    if (this.#sessions.length > 0) this.#sessions = [];
    if (this.#workers.length > 0) this.#workers = [];
  }

  #flushAcks(worker: Worker): void {
    const { line, ackSession: session, acks: calls } = worker;
    if (session === null) return;
    worker.acks = [];
    worker.ackSession = null;
    if (line !== null) line.peer.send({ kind: 'ack', session: numberOf(line, session), calls });
  }
}

/** Whether its client, as far as that knows, has used up half of its window. */
function isShort({ windowCalls, windowBytes, creditCalls, creditBytes }: Session): boolean {
  const isFull = windowCalls + creditCalls > CALL_WINDOW_CALLS / 2;
  return isFull || windowBytes + creditBytes > CALL_WINDOW_BYTES / 2;
}

function flushCredit(session: Session): void {
  const { line, creditCalls: calls, creditBytes: bytes } = session;
  const isDue = session.hasNews || isShort(session);
  session.isDirty = false;
  session.hasNews = false;
  // By a frame for each call a client that waits for one would be woken twice.
  if (!isDue) return;
  session.creditCalls = 0;
  session.creditBytes = 0;
  if (calls > 0) line?.peer.send({ kind: 'taken', calls, bytes });
}

/** The number of a session on a worker's line, which is told it at first. */
export function numberOf(line: WorkerLine, session: Session): SessionNumber {
  const known = line.numbers.get(session);
  if (known !== undefined) return known;
  const number = line.sessions.length;
  line.sessions.push(session);
  line.numbers.set(session, number);
  line.peer.send({ kind: 'session', session: number, id: session.id });
  return number;
}

/** What a client is told at first. */
export function welcome(state: RouterState, line: ClientLine): void {
  line.peer.send({
    kind: 'welcome',
    generation: state.options.generation,
    losses: state.losses,
    windowCalls: CALL_WINDOW_CALLS,
    windowBytes: CALL_WINDOW_BYTES,
  });
}
