// What clients, the router of a pool and its workers say to each other about calls: types only.
// How they become bytes is in wire/call-frames.ts; who answers what, and when, in the three
// machines.

export type Bytes = Uint8Array;

/** Number of a call within its session, from 1; a client never uses one twice. */
export type CallNumber = number;

/** Number of an asset: of a client's choice towards the router, of the router's towards workers. */
export type AssetNumber = number;

/** Number of a session on one connection between router and worker, told by `session`. */
export type SessionNumber = number;

/**
 * Arguments, or a result. Beyond `CALL_INLINE_BYTES_MAX` they stay where they are until somebody
 * asks for them with `wanted`; `size` says how many bytes will come then.
 */
export type Payload = { readonly inline: Bytes } | { readonly size: number };

/** Why a call that has no result is over. */
export const SETTLED_WHYS = [
  /**
   * The worker is gone, or the process that ran the call; it may have run, and has no retries left.
   */
  'worker_lost',
  'timeout',
  'cancelled',
  'pool_closed',
  /** The router does not take it: too large, an asset that it cannot get, a broken rule. */
  'refused',
  /** The client was away for so long that the router had given its calls up. */
  'gone',
] as const;
export type SettledWhy = (typeof SETTLED_WHYS)[number];

/** Somebody who wants bytes asks for them; all streams end with their connection. */
interface Stream {
  /** Chosen by whoever asks, and not used twice on a connection. */
  readonly stream: number;
}

/** The next bytes of a stream, at most `CALL_PIECE_BYTES_MAX`; those of an unknown one are late. */
export interface Body extends Stream {
  readonly kind: 'body';
  readonly bytes: Bytes;
}

/** The sender may send all bytes before this one. */
export interface More extends Stream {
  readonly kind: 'more';
  readonly upTo: number;
}

/** From whoever asked: nobody wants these bytes any more. */
export interface Stop extends Stream {
  readonly kind: 'stop';
}

/** From whoever was asked: no more of these bytes will come. */
export interface None extends Stream {
  readonly kind: 'none';
}

/** Which bytes: from this one on, and at first only those before `upTo`. */
interface StreamRange extends Stream {
  readonly from: number;
  readonly upTo: number;
}

/**
 * All bytes of a stream at once: they lie in memory that whoever asked can read, until that says
 * `stop`. The answer to `wanted_near`, with which only those are asked that are on one machine.
 */
export interface Near extends Stream {
  readonly kind: 'near';
  readonly file: string;
}

/** The first message of a client, also when it comes back. */
export interface ClientHello {
  readonly kind: 'hello';
  /** 128 random bits in hex, kept over reconnections: who knows it may act for it. */
  readonly session: string;
  /** That of the last welcome; null when there was none. */
  readonly generation: string | null;
  /** Running calls go on when the client is gone. */
  readonly detach: boolean;
  /** For people: program, host and pid. */
  readonly label: string;
}

/** Code, or a shared value. Sent once per connection, before the first call that names it. */
export interface Asset {
  readonly kind: 'asset';
  readonly asset: AssetNumber;
  readonly sha256: string;
  readonly size: number;
  /** Null: they come when wanted. */
  readonly bytes: Bytes | null;
}

export interface ClientCall {
  readonly kind: 'call';
  readonly call: CallNumber;
  /** The function. */
  readonly asset: AssetNumber;
  /** Further attempts after one that was lost; an error that the function throws is a result. */
  readonly retriesMax: number;
  /** From the start of an attempt; 0 for none. */
  readonly timeoutMs: number;
  /**
   * Null the first time. When it is sent again: the losses (`welcome`, `pool`) that the client knew
   * of when it first sent it. If there are more by now, one of them may have had this call.
   */
  readonly since: number | null;
  /** The latest attempt that the client heard of; 0 for none. */
  readonly attempt: number;
  /** Shared values in its arguments. */
  readonly shared: readonly AssetNumber[];
  readonly payload: Payload;
}

export type ClientToRouter =
  | ClientHello
  | Asset
  | ClientCall
  /** All calls that are open were sent again; the router drops what it has besides. */
  | { readonly kind: 'synced' }
  | { readonly kind: 'cancel'; readonly call: CallNumber }
  /** Their results, or what else settled them, have arrived. */
  | { readonly kind: 'ack'; readonly calls: readonly CallNumber[] }
  /** The bytes of a large result. */
  | ({ readonly kind: 'wanted'; readonly call: CallNumber } & StreamRange)
  | More
  | Stop
  | None
  | Body
  | Near
  | { readonly kind: 'bye' }
  | { readonly kind: 'ping' };

/** Numbers about a pool, told to its clients when they change, at most every second. */
export interface PoolNumbers {
  readonly kind: 'pool';
  readonly workers: number;
  readonly busy: number;
  readonly waiting: number;
  readonly losses: number;
  /** Why there are no workers, or fewer than wanted; null when nothing is amiss. */
  readonly why: string | null;
}

export interface ClientWelcome {
  readonly kind: 'welcome';
  /** Random for each start of the router. */
  readonly generation: string;
  /** How many workers the pool has ever lost; only grows, also across restarts of the head. */
  readonly losses: number;
  /** Calls, and bytes of their inline payloads, that may be sent before `taken` gives room. */
  readonly windowCalls: number;
  readonly windowBytes: number;
}

export type RouterToClient =
  | ClientWelcome
  | {
      readonly kind: 'result';
      readonly call: CallNumber;
      /** False: the payload is the error that the function threw. */
      readonly ok: boolean;
      readonly attempt: number;
      readonly payload: Payload;
    }
  | {
      readonly kind: 'settled';
      readonly call: CallNumber;
      readonly why: SettledWhy;
      readonly detail: string;
      readonly worker: string | null;
    }
  /** This much of the window is free again. */
  | { readonly kind: 'taken'; readonly calls: number; readonly bytes: number }
  | {
      readonly kind: 'started';
      readonly call: CallNumber;
      readonly attempt: number;
      readonly worker: string;
    }
  | { readonly kind: 'progress'; readonly call: CallNumber; readonly bytes: Bytes }
  | ({ readonly kind: 'wanted'; readonly of: 'call' | 'asset'; readonly id: number } & StreamRange)
  | ({ readonly kind: 'wanted_near'; readonly call: CallNumber } & StreamRange)
  | More
  | Stop
  | None
  | Body
  | Near
  | PoolNumbers
  /** The last message: the router cuts the connection for this reason. */
  | { readonly kind: 'closing'; readonly detail: string; readonly isFinal: boolean }
  | { readonly kind: 'pong' };

/** A call as workers and router name it on one connection. */
export interface CallRef {
  readonly session: SessionNumber;
  readonly call: CallNumber;
}

/** One attempt of it: what is said of an older one is late. */
export interface AttemptRef extends CallRef {
  readonly attempt: number;
}

export interface WorkerCall extends CallRef {
  readonly kind: 'call';
  readonly asset: AssetNumber;
  readonly shared: readonly AssetNumber[];
  readonly attempt: number;
  readonly timeoutMs: number;
  readonly payload: Payload;
}

/**
 * A call of a program that runs in a call of this worker, for a process of its own there: the one
 * that waits for it keeps its process. Only to workers whose programs have proved where they run.
 */
export interface InnerCall extends Omit<WorkerCall, 'kind'> {
  readonly kind: 'inner';
  /** 1: it is of a program in the worker's own process; 2: of one in a process of depth 1; … */
  readonly depth: number;
}

export type RouterToWorker =
  | {
      readonly kind: 'welcome';
      readonly generation: string;
      /** A line that is silent for several times this is dead. */
      readonly heartbeatMs: number;
    }
  /** Which number a session has on this connection; before the first message that uses it. */
  | { readonly kind: 'session'; readonly session: SessionNumber; readonly id: string }
  | Asset
  | WorkerCall
  | InnerCall
  | ({ readonly kind: 'cancel' } & CallRef)
  | {
      readonly kind: 'ack';
      readonly session: SessionNumber;
      readonly calls: readonly CallNumber[];
    }
  /** The bytes of a large result. */
  | ({ readonly kind: 'wanted' } & CallRef & StreamRange)
  | ({ readonly kind: 'wanted_near' } & CallRef & StreamRange)
  | More
  | Stop
  | None
  | Body
  | Near
  /** Give back so many calls that have not started, the last ones first. */
  | { readonly kind: 'recall'; readonly count: number }
  /**
   * The session, by its id, is over: remember that, return its queued calls, and cancel its running
   * ones unless they may go on. They end as `cancelled`; no end of the session is held any more.
   */
  | { readonly kind: 'over'; readonly id: string; readonly isDetached: boolean }
  | { readonly kind: 'forget'; readonly assets: readonly AssetNumber[] }
  /** Exit with code 0 as soon as nothing is held. */
  | { readonly kind: 'leave' }
  /** The last message: the connection is cut for this reason. Final: do not come back. */
  | { readonly kind: 'closing'; readonly detail: string; readonly isFinal: boolean }
  | { readonly kind: 'ping' };

/** How far a call is that a worker holds; an ended one is held until its end is acknowledged. */
export const HELD_STATES = ['queued', 'running', 'ended'] as const;

/** A call that a worker has when it says hello, by the id of its session. */
export interface Held {
  readonly session: string;
  readonly call: CallNumber;
  readonly attempt: number;
  readonly state: (typeof HELD_STATES)[number];
}

/** The first message of a worker, also when it comes back. Ends of `held` follow the welcome. */
export interface WorkerHello {
  readonly kind: 'hello';
  /** Node, task and epoch; another process never has the same. */
  readonly worker: string;
  /** That of the last welcome; null when there was none. */
  readonly generation: string | null;
  readonly held: readonly Held[];
  /** Sessions that were over, the latest last: calls of theirs may have run here. */
  readonly over: readonly string[];
}

export type WorkerToRouter =
  | WorkerHello
  /** Told of calls that take longer than a moment; the others just end. */
  | ({ readonly kind: 'started' } & AttemptRef)
  | ({ readonly kind: 'progress'; readonly bytes: Bytes } & AttemptRef)
  | ({
      readonly kind: 'result';
      readonly ok: boolean;
      /** How long it ran. */
      readonly elapsedMs: number;
      readonly payload: Payload;
    } & AttemptRef)
  /** The process that ran it is gone: by which signal or code, and its last words. */
  | ({ readonly kind: 'lost'; readonly detail: string } & AttemptRef)
  | ({ readonly kind: 'timed_out' } & AttemptRef)
  | ({ readonly kind: 'cancelled' } & AttemptRef)
  /**
   * The call cannot be run here: a broken asset, arguments that never came. Nothing of it has run.
   */
  | ({ readonly kind: 'refused'; readonly detail: string } & AttemptRef)
  /**
   * These have certainly not started, and are no longer here. None: the worker will run nothing any
   * more, and ends when it is told to leave; what comes until then it returns.
   */
  | { readonly kind: 'returned'; readonly calls: readonly CallRef[] }
  | ({
      readonly kind: 'wanted';
      readonly of: 'call' | 'asset';
      /** 0 of an asset. */
      readonly session: SessionNumber;
      readonly id: number;
    } & StreamRange)
  | More
  | Stop
  | None
  | Body
  | Near
  | { readonly kind: 'pong' };
