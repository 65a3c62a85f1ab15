// The calls of a child, one at a time, in the order in which they came.

import { AsyncLocalStorage } from 'node:async_hooks';
import { CALL_INLINE_BYTES_MAX } from '../../../../kernel/model/limits.ts';
import { release } from '../../core/kept.ts';
import { type CallContext, provideContext } from '../serialization/context.ts';
import { releaseRead } from '../serialization/graph-bytes.ts';
import { loadPackages } from '../serialization/load-packages.ts';
import { packResult, packThrown, unpackArguments } from '../serialization/values.ts';
import { type Brought, readBrought } from '../serialization/variables.ts';
import { Assets, BrokenAsset, type Callable } from './assets.ts';
import {
  type CallOrder,
  type Frame,
  type FrameHead,
  placeOf,
  readNumbers,
  readOrder,
  readPlace,
  TO_CHILD,
  TO_SUPERVISOR,
} from './frames.ts';
import type { Isolation } from './isolation.ts';

export interface RunnerOptions {
  readonly scratch: string;
  /** Calls after which the process is to be replaced; 0 for never. */
  readonly callsMax: number;
  /** Resident bytes after which it is; 0 for never. */
  readonly bytesMax: number;
  /** Whose files in memory hold large values; absent: none do. */
  readonly supervisor?: number;
  /** Release of the supervisor; absent: one that did not say it yet. */
  readonly release?: string;
}

/** What the runner needs of its process. */
export interface RunnerPorts {
  /** Keeps a frame for the next flush. */
  readonly write: (head: FrameHead, bytes?: Uint8Array) => void;
  /** All frames are with the kernel when it returns, and survive this process. */
  readonly flush: () => void;
  readonly tell: (line: string) => void;
  /** Ends the process: what a frame of this kind asks for cannot be known. */
  readonly refuse: (kind: number) => void;
  readonly isolation: Isolation;
  /** By this call's number it is found what it has started. */
  readonly mark: (run: number) => void;
  readonly now: () => number;
  readonly residentBytes: () => number;
  /** A value that lies in memory; null: it cannot be had there. */
  readonly read: (file: string, length: number) => Buffer | null;
  /** Writes a value into a room; false: it cannot be there. */
  readonly fill: (room: string, bytes: Uint8Array) => boolean;
  /** Runs it when the event loop has been around. */
  readonly later: (act: () => void) => void;
}

/** The call that runs. */
class Running {
  /** The call's number between supervisor and child. */
  readonly number: number;
  readonly startedAt: number;
  name = 'a function';
  context: CallContext | undefined;
  isOver = false;
  #controller: AbortController | undefined;

  constructor(number: number, startedAt: number) {
    this.number = number;
    this.startedAt = startedAt;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  cancel(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}

/** Calls that end at once are run in one turn of the event loop up to this time. */
const TURN_MS = 5;
/** Looking at memory and at what calls have left behind costs more than a small call. */
const LOOK_MS = 200;

export class Runner {
  readonly #options: RunnerOptions;
  readonly #ports: RunnerPorts;
  readonly #assets: Assets;
  readonly #storage = new AsyncLocalStorage<Running>();
  #queue: Frame[] = [];
  /** Where large results are written. */
  readonly #rooms: string[] = [];
  #current: Running | null = null;
  /** Why this process takes no more calls; null while it does. */
  #worn: string | null = null;
  #calls = 0;
  #turnSince = 0;
  #isTurnPending = false;
  #lookedAt = 0;
  #hasLeftOff = false;
  #lastName = '';

  constructor(options: RunnerOptions, ports: RunnerPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#assets = new Assets(options.scratch, ports.isolation.adopt);
    this.#lookedAt = ports.now();
    provideContext(() => {
      const running = this.#storage.getStore();
      return running === undefined || running.isOver ? undefined : running.context;
    });
  }

  get isRunning(): boolean {
    return this.#current !== null;
  }

  take(frame: Frame): void {
    if (frame.kind === TO_CHILD.call || frame.kind === TO_CHILD.callNear) {
      this.#queue.push(frame);
      if (this.#hasLeftOff) this.#giveBack(() => true);
      else if (this.#current === null && !this.#isTurnPending) {
        this.#turnSince = this.#ports.now();
        this.#next();
      }
    } else if (frame.kind === TO_CHILD.asset) {
      const sha256 = frame.bytes.toString('hex', 0, 32);
      this.#assets.keep(frame.a, sha256, frame.bytes.subarray(32));
    } else if (frame.kind === TO_CHILD.forget) this.#assets.forget(frame.a);
    else if (frame.kind === TO_CHILD.room) this.#rooms.push(frame.bytes.toString('latin1'));
    else if (frame.kind === TO_CHILD.withdraw) {
      const numbers = new Set(readNumbers(frame.bytes));
      this.#giveBack((number) => numbers.has(number));
    } else if (frame.kind === TO_CHILD.cancel) {
      if (this.#current?.number === frame.a) this.#current.cancel();
    } else this.#ports.refuse(frame.kind);
  }

  /** An exception or rejection that nobody caught; the call that it belongs to fails with it. */
  uncaught(error: unknown, what: string): void {
    const running = this.#storage.getStore();
    if (running !== undefined && !running.isOver) {
      this.#end(running, TO_SUPERVISOR.thrown, packThrown(error));
    } else {
      const whose = running === undefined ? 'no call that is known' : `a call of ${running.name}`;
      const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#ports.tell(`${what} of ${whose}, which had ended: ${words}`);
    }
    // What has not been caught may have left anything half done.
    this.#wearOut(what);
  }

  #wearOut(why: string): void {
    this.#worn ??= why;
    // Also when it was worn before: the end of a call may wait to be sent.
    if (this.#current === null) this.#next();
  }

  /** Starts the next calls until one has to be waited for. */
  #next(): void {
    while (this.#current === null && this.#worn === null) {
      if (this.#ports.now() - this.#turnSince > TURN_MS) {
        this.#ports.flush();
        return this.#nextTurn();
      }
      const frame = this.#queue.shift();
      if (frame === undefined) {
        this.#ports.flush();
        return this.#look();
      }
      this.#start(frame);
    }
    if (this.#current === null) this.#leaveOff();
  }

  /** Lets timers, signals, orders to cancel and uncaught rejections have their turn. */
  #nextTurn(): void {
    if (this.#isTurnPending) return;
    this.#isTurnPending = true;
    this.#ports.later(() => {
      this.#isTurnPending = false;
      this.#turnSince = this.#ports.now();
      this.#look();
      if (this.#current === null) this.#next();
    });
  }

  #leaveOff(): void {
    if (this.#hasLeftOff) return;
    this.#hasLeftOff = true;
    this.#giveBack(() => true);
    this.#ports.write({ kind: TO_SUPERVISOR.worn, a: 0 }, Buffer.from(this.#worn ?? ''));
    this.#ports.flush();
  }

  #giveBack(isMeant: (number: number) => boolean): void {
    const gone = this.#queue.filter(({ a }) => isMeant(a));
    if (gone.length === 0) return;
    this.#queue = this.#queue.filter(({ a }) => !isMeant(a));
    for (const { a } of gone) this.#ports.write({ kind: TO_SUPERVISOR.withdrawn, a });
    this.#ports.flush();
  }

  #look(): void {
    const { now, isolation, tell, residentBytes } = this.#ports;
    if (now() - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now();
    const { bytesMax } = this.#options;
    if (bytesMax > 0 && residentBytes() > bytesMax)
      this.#wearOut(`its memory is over ${bytesMax} bytes`);
    // While a call runs, what it has open is no leak.
    const leaked = this.#current === null ? isolation.leaked() : null;
    if (leaked !== null)
      tell(`a call of ${this.#lastName}, or one before it, has left this running: ${leaked}`);
  }

  /** With the result of the last call, in one write, goes that this one begins. */
  #start(frame: Frame): void {
    const { write, flush, now, mark } = this.#ports;
    const given = this.#given(frame);
    if (given === null && this.#calls > 0) {
      // A call has taken a right from this process, or all its files: another one can read it.
      this.#queue.unshift(frame);
      this.#worn = 'it cannot read what lies in memory any more';
      return;
    }
    mark(frame.a);
    write({ kind: TO_SUPERVISOR.starting, a: frame.a });
    flush();
    const running = new Running(frame.a, now());
    this.#current = running;
    const outcome = this.#storage.run(running, () => this.#attempt(given, running));
    if (outcome.is === 'value') this.#finish(running, outcome.value);
    else if (outcome.is === 'thrown') this.#fail(running, outcome.value);
    else {
      const then = (act: (running: Running, value: unknown) => void) => (value: unknown) => {
        act.call(this, running, value);
        if (this.#current === null) this.#next();
      };
      Promise.resolve(outcome.value).then(then(this.#finish), then(this.#fail));
    }
  }

  /** Null: its arguments are not in memory where they should be. */
  #given({ kind, bytes }: Frame): Given | null {
    const order = readOrder(bytes);
    if (kind === TO_CHILD.call) return order;
    const place = readPlace(order.args);
    const args = place === null ? null : this.#ports.read(place.file, place.length);
    return args === null ? null : { ...order, args };
  }

  /** Most functions are ready, and many answer at once: those are not made to wait. */
  #attempt(given: Given | null, running: Running): Outcome {
    try {
      if (given === null) throw new BrokenAsset('its arguments are not where they should be');
      const order = orderOf(given);
      running.context = contextOf(running, order, this.#ports);
      const loading = this.#loadPackages(order);
      const value =
        loading === null
          ? this.#call(running, order)
          : loading.then(() => this.#call(running, order));
      return { is: isThenable(value) ? 'pending' : 'value', value };
    } catch (error) {
      return { is: 'thrown', value: error };
    }
  }

  /** Those of arguments and shared values: whoever opens these does so at once. */
  #loadPackages({ shared, args }: Order): Promise<unknown> | null {
    const ofShared = shared.length === 0 ? null : this.#assets.loadShared(shared);
    const ofArguments = loadPackages(args);
    if (ofShared === null || ofArguments === null) return ofShared ?? ofArguments;
    return Promise.all([ofShared, ofArguments]);
  }

  #call(running: Running, { asset, shared, args, variables }: Order): unknown {
    const before = shared.length === 0 ? NONE : this.#assets.setUp(shared);
    const fn = this.#assets.functionOf(asset, variables);
    const unpack = (): unknown[] => {
      const values = unpackArguments(args, this.#assets.sharedValue);
      releaseRead(args);
      return values;
    };
    if (typeof fn !== 'function' || before.length > 0)
      return prepareAndCall(running, { fn, unpack, before });
    const values = unpack();
    running.name = fn.name;
    return fn(...values);
  }

  #finish(running: Running, value: unknown): void {
    if (running.isOver) return;
    let bytes: Uint8Array;
    try {
      bytes = packResult(value);
    } catch (error) {
      return this.#fail(running, error);
    }
    this.#end(running, TO_SUPERVISOR.result, bytes);
  }

  #fail(running: Running, error: unknown): void {
    if (!running.isOver) this.#end(running, TO_SUPERVISOR.thrown, packThrown(error));
  }

  /** The result is written before the next call begins: so the supervisor knows what has begun. */
  #end(running: Running, kind: number, bytes: Uint8Array): void {
    running.isOver = true;
    this.#current = null;
    this.#lastName = running.name;
    this.#restore();
    const { length } = bytes;
    const room = kind === TO_SUPERVISOR.result ? this.#roomOf(bytes) : null;
    if (room === null) this.#ports.write({ kind, a: running.number }, bytes);
    else {
      const place = placeOf({ length, file: room });
      this.#ports.write({ kind: TO_SUPERVISOR.resultNear, a: running.number }, place);
    }
    this.#calls += 1;
    const { callsMax } = this.#options;
    if (callsMax > 0 && this.#calls >= callsMax) this.#worn ??= `it has run ${callsMax} calls`;
  }

  /** Where a large result has been written; null: it goes through the pipe. */
  #roomOf(bytes: Uint8Array): string | null {
    const [room] = this.#rooms;
    if (room === undefined || bytes.length <= CALL_INLINE_BYTES_MAX) return null;
    if (!this.#ports.fill(room, bytes)) return null;
    release(bytes);
    this.#rooms.shift();
    return room;
  }

  /** A call may have made that impossible: it ends all the same, and is the last one here. */
  #restore(): void {
    try {
      this.#ports.isolation.restore();
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.#worn ??= `what a call of ${this.#lastName} has changed cannot be put back: ${words}`;
    }
  }
}

type Given = CallOrder & { readonly args: Buffer };
type Order = CallOrder & Brought;

function orderOf({ call, attempt, asset, shared, args: payload }: Given): Order {
  const { variables, args } = readBrought(payload);
  return { call, attempt, asset, shared, args, variables };
}

interface Outcome {
  readonly is: 'value' | 'thrown' | 'pending';
  readonly value: unknown;
}

function contextOf(
  running: Running,
  { call: id, attempt }: CallOrder,
  { write, flush }: RunnerPorts,
): CallContext {
  return {
    id,
    attempt,
    get signal() {
      return running.signal;
    },
    progress: (value) => {
      const bytes = packResult(value);
      if (running.isOver) return;
      write({ kind: TO_SUPERVISOR.progress, a: running.number }, bytes);
      flush();
    },
  };
}

interface Prepared {
  readonly fn: Callable | Promise<Callable>;
  readonly unpack: () => unknown[];
  readonly before: readonly Promise<void>[];
}

async function prepareAndCall(
  running: Running,
  { fn, unpack, before }: Prepared,
): Promise<unknown> {
  const [ready] = await Promise.all([fn, ...before]);
  running.name = ready.name;
  return ready(...unpack());
}

function isThenable(value: unknown): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}

const NONE: Promise<void>[] = [];
