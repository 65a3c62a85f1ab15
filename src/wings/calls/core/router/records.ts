// What a router knows: sessions of clients, their calls, workers, assets. Plain records; how they
// change is in the files beside this one.

import { Heap } from '../../../../kernel/base/heap.ts';
import type { JobId } from '../../../../kernel/model/ids.ts';
import { CallTable } from '../call-table.ts';
import { Fifo } from '../fifo.ts';
import type { Hash } from '../hash.ts';
import type {
  AssetNumber,
  Bytes,
  CallNumber,
  RouterToClient,
  RouterToWorker,
  SessionNumber,
} from '../messages.ts';
import type { Peer } from '../peer.ts';
import { Meter } from './meter.ts';

/** What was told of the end of a call. */
export type End = Extract<RouterToClient, { kind: 'result' | 'settled' }>;

/** Where a call is, and what it has only there; `phases.ts` has every change of it. */
export type Phase = Unplaced | AtWorker<'given'> | AtWorker<'started'> | Ended | Lost;

/**
 * `limbo`: sent again after a restart of the head, and no worker that is back holds it so far.
 * `nowhere`: on its way from one place to the next, or kept by nobody any more.
 */
interface Unplaced {
  readonly state: 'nowhere' | 'limbo' | 'queued';
  readonly worker: null;
  readonly end: null;
}

/** `given`: for all the router knows not started. */
interface AtWorker<S> {
  readonly state: S;
  readonly worker: Worker;
  readonly end: null;
}

/** Told: the end is kept until the client has it. */
interface Ended {
  readonly state: 'ended';
  /** Had it when it ended. */
  readonly worker: Worker | null;
  readonly end: End;
}

/**
 * A worker has lost it before its client had named it again: nobody knows whether it may run once
 * more.
 */
interface Lost {
  readonly state: 'lost';
  readonly worker: Worker;
  readonly end: null;
  readonly detail: string;
}

export type Call = CallFacts & Phase;

interface CallFacts {
  readonly session: Session;
  readonly number: CallNumber;
  /** Null as long as only a worker has told of it. */
  asset: Asset | null;
  shared: readonly Asset[];
  retriesMax: number;
  timeoutMs: number;
  /** Attempts so far, the present one included. */
  attempt: number;
  /** The call's arguments, when they are small and may still be needed. */
  inline: Bytes | null;
  size: number;
  since: number | null;
  /** How it was lost, in the phase of that name. */
  readonly detail: string | null;
  isCancelled: boolean;
  /** Nobody waits for it; it is here until its worker says that it is rid of it. */
  isDropped: boolean;
  /** Expected duration at its worker, and bytes, as they were counted there. */
  aheadMs: number;
  /** 0: it is run by its worker's own process; else by that for inner calls of this depth. */
  depth: number;
  queuedAt: number;
  givenAt: number;
  /** Bytes that it takes of its client's window; -1 when it takes no room there. */
  credit: number;
  /** Which return of its client has named it: what a return leaves out is over. */
  round: number;
}

/** Streams of one line: numbers that the other side asked for, and numbers that we asked for. */
export interface Streams {
  next: number;
  readonly asked: Map<number, Relay | Reader>;
  readonly given: Map<number, Relay | Fetch>;
}

export interface PeerLine<M> extends Streams {
  readonly peer: Peer<M>;
  heardAt: number;
  isOpen: boolean;
  /** Lines that have the same can read each other's memory; null: nobody's. */
  readonly host: string | null;
}

/** Where a program runs that is itself in a call of a pool, as its worker has proved. */
export interface Inside {
  /** Absent: this one. */
  readonly pool?: JobId;
  readonly worker: string;
  /** Level of the process: 0 is the worker's own. */
  readonly depth: number;
}

export interface ClientLine extends PeerLine<RouterToClient> {
  session: Session | null;
  readonly inside: Inside | null;
}

export interface WorkerLine extends PeerLine<RouterToWorker> {
  worker: Worker | null;
  pingAt: number;
  /** By the numbers of this line. */
  readonly sessions: Session[];
  readonly numbers: Map<Session, SessionNumber>;
  readonly told: Set<Asset>;
}

/** A payload on its way from the one who has it to the one who wants it. */
export interface Relay {
  readonly kind: 'relay';
  readonly call: Call;
  readonly of: 'call' | 'result';
  readonly sink: ClientLine | WorkerLine;
  readonly sinkStream: number;
  source: ClientLine | WorkerLine | null;
  sourceStream: number;
  position: number;
  upTo: number;
}

/** An asset on its way from the router to a worker. */
export interface Reader {
  readonly kind: 'reader';
  readonly asset: Asset;
  readonly sink: WorkerLine;
  readonly sinkStream: number;
  position: number;
  upTo: number;
}

/** An asset on its way from a client to the router. */
export interface Fetch {
  readonly kind: 'fetch';
  readonly asset: Asset;
  readonly source: ClientLine;
  readonly sourceStream: number;
  readonly bytes: Bytes;
  readonly hash: Hash;
  position: number;
}

export interface Asset {
  readonly number: AssetNumber;
  readonly sha256: string;
  readonly size: number;
  bytes: Bytes | null;
  fetch: Fetch | null;
  readonly readers: Set<Reader>;
  /** Sessions that have announced it, and so can send it. */
  readonly holders: Set<Session>;
  /** How long its calls take, the latest counting most; null before the first. */
  meanMs: number | null;
}

export interface Session {
  readonly id: string;
  label: string;
  detach: boolean;
  /** Null when its program is not in a call of this pool. */
  inside: Inside | null;
  /** Null: nor is it in a call of another pool. */
  within: Required<Inside> | null;
  line: ClientLine | null;
  /** Since when it has no line. */
  awayAt: number;
  /** The last line was not closed: nothing was heard on it. */
  isSilent: boolean;
  readonly calls: CallTable<Call>;
  readonly fresh: Fifo<Call>;
  /** Calls that were at a worker and are to be given once more: these go first, in order. */
  readonly again: Heap<Call>;
  limbo: number;
  readonly assets: Map<AssetNumber, Asset>;
  /** Assets that it had named on an older line, and has not named again. */
  readonly unnamed: Set<Asset>;
  /** Processes that calls of a function have killed in a row, by its SHA-256. */
  readonly crashes: Map<string, number>;
  unacked: number;
  unackedBytes: number;
  isInRing: boolean;
  isDirty: boolean;
  windowCalls: number;
  windowBytes: number;
  /** Something is told to it in this turn. */
  hasNews: boolean;
  /** Room in the window that the client is still to be told of. */
  creditCalls: number;
  creditBytes: number;
  round: number;
  isSynced: boolean;
  /**
   * The router had given it up before it came back: what is sent again and has no higher number is
   * not run. 0: it had not.
   */
  lateUpTo: number;
  /** The highest number that a call of it had. */
  highest: number;
  doneCount: number;
  failedCount: number;
  readonly meter: Meter;
  /** Payloads that its client is to send. */
  readonly relays: Set<Relay>;
}

/** Whether there is a line to a worker; `presence.ts` has every change of it. */
type Presence = Here | Away;

interface Here {
  readonly line: WorkerLine;
  readonly awaySince: null;
}

/** Calls that it has wait for its return, for a while. */
interface Away {
  readonly line: null;
  readonly awaySince: number;
}

/**
 * `held_up`: what it runs takes longer than expected, and nothing more is put behind that.
 * `leaves`: it was idle, or can run nothing any more, and was asked to go.
 */
type Duty = 'takes' | 'held_up' | 'leaves';

export type Worker = WorkerFacts & Presence;

interface WorkerFacts {
  readonly name: string;
  /** Given and not over, ended and not acknowledged: in the order in which they were given. */
  readonly calls: Set<Call>;
  /** Calls that have not ended, what they may take, and their bytes. */
  load: number;
  aheadMs: number;
  aheadBytes: number;
  duty: Duty;
  /** Stopped by the cluster for a while, here or away: it gets no calls, and what it has waits. */
  isSuspended: boolean;
  idleSince: number;
  endedAt: number;
  doneCount: number;
  /** Those of them whose function threw. */
  failedCount: number;
  acks: CallNumber[];
  ackSession: Session | null;
  isDirty: boolean;
  readonly relays: Set<Relay>;
  /** Place in the lists of `Loads`: -1 when it takes no calls. */
  bucket: number;
  previous: Worker | null;
  next: Worker | null;
}

export function newSession(id: string, now: number): Session {
  return {
    id,
    label: '',
    detach: false,
    inside: null,
    within: null,
    line: null,
    awayAt: now,
    isSilent: false,
    calls: new CallTable<Call>(),
    fresh: new Fifo(),
    again: new Heap((a: Call, b: Call) => a.number < b.number),
    limbo: 0,
    assets: new Map(),
    crashes: new Map(),
    unacked: 0,
    unackedBytes: 0,
    isInRing: false,
    isDirty: false,
    windowCalls: 0,
    windowBytes: 0,
    hasNews: false,
    creditCalls: 0,
    creditBytes: 0,
    round: 0,
    isSynced: false,
    lateUpTo: 0,
    highest: 0,
    doneCount: 0,
    failedCount: 0,
    relays: new Set(),
    unnamed: new Set(),
    meter: new Meter(),
  };
}

export function newWorker(name: string, now: number): Worker {
  return {
    name,
    line: null,
    awaySince: now,
    calls: new Set(),
    load: 0,
    aheadMs: 0,
    aheadBytes: 0,
    duty: 'takes',
    isSuspended: false,
    idleSince: now,
    endedAt: now,
    doneCount: 0,
    failedCount: 0,
    acks: [],
    ackSession: null,
    isDirty: false,
    relays: new Set(),
    bucket: -1,
    previous: null,
    next: null,
  };
}

export function newStreams(): Streams {
  return { next: 1, asked: new Map(), given: new Map() };
}

/** Field by field, and in one piece: it is made for every call. */
export function newCall(session: Session, number: CallNumber): Call {
  return {
    session,
    number,
    state: 'nowhere',
    asset: null,
    shared: NONE,
    retriesMax: 0,
    timeoutMs: 0,
    attempt: 0,
    inline: null,
    size: 0,
    since: null,
    worker: null,
    end: null,
    detail: null,
    isCancelled: false,
    isDropped: false,
    aheadMs: 0,
    depth: 0,
    queuedAt: 0,
    givenAt: 0,
    credit: -1,
    round: 0,
  };
}

const NONE: readonly Asset[] = [];
