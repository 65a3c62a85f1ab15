// The calls of one program to one pool: functions and shared values become assets once, arguments
// become bytes, and what comes back becomes values and errors.

import { formatDuration } from '../../../kernel/base/duration.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import {
  CALL_ASSET_BYTES_MAX,
  CALL_ASSETS_MAX,
  CALL_SHARED_MAX,
} from '../../../kernel/model/limits.ts';
import { wrongArgument } from '../../../kernel/sdk/errors.ts';
import { CallTable } from '../core/call-table.ts';
import type { PoolNumbers } from '../core/messages.ts';
import type { CallEnd } from '../core/own-call.ts';
import { releaseRead } from '../functions/serialization/graph-bytes.ts';
import { NotSendable } from '../functions/serialization/not-sendable.ts';
import type { Packed } from '../functions/serialization/pack.ts';
import type { Shared } from '../functions/serialization/shared.ts';
import {
  type Captured,
  captureForCalls,
  packArguments,
  share,
  unpackResult,
} from '../functions/serialization/values.ts';
import { type Variables, withVariables } from '../functions/serialization/variables.ts';
import { errorOf, RemoteError } from './call-errors.ts';
import { CallRecord } from './call-record.ts';
import { PoolLine, type PoolLineOptions } from './pool-line.ts';
import type { ModuleReference } from './pool-options.ts';
import type { Progress } from './progress.ts';

/** What is said of one call, checked. */
export interface CallRequest {
  readonly retriesMax: number;
  /** Limit of the whole call; 0: none. */
  readonly timeoutMs: number;
  /** Limit of one attempt; 0: none. */
  readonly attemptTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A function that this pool knows. */
interface KnownFunction {
  readonly sha256: string;
  readonly code: Uint8Array;
  readonly name: string;
  readonly shared: readonly number[];
  /** The function's variables. */
  readonly uses: Captured['uses'];
  /** What each of its calls brings for them; null: all is in its code. */
  readonly variables: Variables | null;
}

interface Sending {
  readonly known: KnownFunction;
  readonly packed: Packed;
  readonly wish: CallRequest;
}

export class PoolCalls {
  /** What the head last said of the pool; null: nothing yet. */
  numbers: PoolNumbers | null = null;
  /** Told when it is closed here. */
  onClose: () => void = () => undefined;
  #line: PoolLine | null = null;
  readonly #records = new CallTable<CallRecord<unknown>>();
  /** Calls whose module is being read. */
  readonly #unsent = new Set<CallRecord<unknown>>();
  readonly #modules = new Map<string, Promise<KnownFunction>>();
  readonly #functions = new WeakMap<object, KnownFunction>();
  /** Assets by what they hold: equal functions and values are sent once. */
  readonly #assets = new Map<string, number>();
  /** Those of them that are functions. */
  readonly #code = new Set<number>();
  /** Functions that may be there before unneeded ones are looked for. */
  #codeMax = CALL_ASSETS_MAX;
  #nextId = 1;
  #onIdle: (() => void)[] = [];
  #toldWhy: string | null = null;

  static async open(options: PoolLineOptions): Promise<PoolCalls> {
    const calls = new PoolCalls();
    calls.#line = await PoolLine.open(options, {
      ended: (number, end) => calls.#ended(number, end),
      started: (number, attempt, worker) => {
        const record = calls.#records.get(number);
        if (record === undefined) return;
        Object.assign(record, { state: 'running', attempt, worker });
      },
      progress: (number, bytes) => {
        const record = calls.#records.get(number);
        if (record?.progress != null) tellProgress(record, record.progress, bytes);
      },
      numbers: (numbers) => {
        calls.numbers = numbers;
        calls.#warn(numbers);
      },
      closed: () => undefined,
    });
    return calls;
  }

  get openCalls(): number {
    return this.#records.size + this.#unsent.size;
  }

  /** Once for each reason: a program that waits for workers should know why there are none. */
  #warn({ workers, why }: PoolNumbers): void {
    const isNew = why !== null && why !== this.#toldWhy;
    this.#toldWhy = why;
    const count = this.openCalls;
    if (!isNew || workers > 0 || count === 0) return;
    const waiting = count === 1 ? '1 call waits' : `${count} calls wait`;
    process.emitWarning(`${waiting} for a worker: ${why}`, 'WeftWarning');
  }

  /** Throws NotSendable before anything is sent; of a module, its call ends with that. */
  submit<T>(fn: object, args: readonly unknown[], wish: CallRequest): CallRecord<T> {
    wish.signal?.throwIfAborted();
    if (isModule(fn)) return this.#submitLater(fn, packArguments(args), wish);
    const known = this.#functions.get(fn) ?? this.#learn(fn);
    const packed = packArguments(args, known.uses);
    const record = this.#newRecord<T>(known.name, wish);
    try {
      this.#send(record, { known, packed, wish });
    } catch (error) {
      // Its timer would keep the program alive.
      record.end({ ok: false, error });
      throw error;
    }
    return record;
  }

  /** The same, but arguments that cannot be sent are the end of their call. */
  submitOrRefuse<T>(fn: object, args: readonly unknown[], wish: CallRequest): CallRecord<T> {
    // The function is none of the arguments' business.
    const known = isModule(fn) ? null : (this.#functions.get(fn) ?? this.#learn(fn));
    try {
      return this.submit(fn, args, wish);
    } catch (error) {
      if (!(error instanceof NotSendable)) throw error;
      const name = known?.name ?? (fn as ModuleReference).name ?? 'default';
      const record = new CallRecord<T>(this.#nextId, name);
      this.#nextId += 1;
      record.end({ ok: false, error });
      return record;
    }
  }

  #newRecord<T>(name: string, { signal, timeoutMs }: CallRequest): CallRecord<T> {
    const record = new CallRecord<T>(this.#nextId, name);
    this.#nextId += 1;
    if (signal !== undefined) this.#heed(record, signal);
    if (timeoutMs > 0) this.#limit(record as CallRecord<unknown>, timeoutMs);
    return record;
  }

  #send<T>(record: CallRecord<T>, { known, packed, wish }: Sending): void {
    const shared = packed.shared.map((sha256) => this.#assetOf(sha256));
    const { retriesMax } = wish;
    // Its worker ends it too, should this program not be there any more.
    const timeoutMs = wish.attemptTimeoutMs || wish.timeoutMs;
    const all = shared.length === 0 ? known.shared : [...new Set([...known.shared, ...shared])];
    if (all.length > CALL_SHARED_MAX) {
      throw wrongArgument(
        `one call uses ${all.length} shared values; at most ${CALL_SHARED_MAX} are sent`,
        'Share one list of them.',
      );
    }
    const { session } = this.#open;
    const asset = this.#assets.get(known.sha256) ?? this.#newFunction(known);
    const { variables } = known;
    const { bytes } = packed;
    const payload = variables === null ? bytes : withVariables(variables, bytes);
    const number = session.submit({ asset, shared: all, retriesMax, timeoutMs, payload });
    if (number === null) {
      const { why = 'pool_closed', detail = '' } = session.closed ?? {};
      // To a call that begins after this program's own goodbye the pool is just closed.
      const end = { why: why === 'cancelled' ? 'pool_closed' : why, detail } as const;
      return record.end({ ok: false, error: errorOf(nameOf(record, null), end) });
    }
    this.#open.noteCall();
    record.number = number;
    record.cancel = () => session.cancel(number);
    this.#records.set(number, record as CallRecord<unknown>);
  }

  /** Once its module is read. */
  #submitLater<T>(fn: ModuleReference, packed: Packed, wish: CallRequest): CallRecord<T> {
    const record = this.#newRecord<T>(fn.name ?? 'default', wish);
    const kept = record as CallRecord<unknown>;
    this.#unsent.add(kept);
    record.cancel = () => {
      const detail = 'It was cancelled before it was sent.';
      const error =
        record.abortReason?.reason ?? errorOf(nameOf(record, null), { why: 'cancelled', detail });
      record.end({ ok: false, error });
    };
    const send = (known: KnownFunction): void => {
      if (record.state !== 'done') this.#send(record, { known, packed, wish });
    };
    const refuse = (error: unknown): void => record.end({ ok: false, error });
    void this.#learnModule(fn)
      .then(send)
      .catch(refuse)
      .finally(() => {
        this.#unsent.delete(kept);
        this.#tellIdle();
      });
    return record;
  }

  /** Shares a value, whose bytes go to each worker once. */
  share<T>(value: T): Shared<T> {
    const { shared, bytes } = share(value);
    this.#asset(shared.sha256, bytes);
    return shared;
  }

  /** Resolves when no call is open. */
  async idle(): Promise<void> {
    while (this.openCalls > 0) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    }
  }

  /** What is open ends as cancelled. */
  close(): void {
    this.onClose();
    this.#line?.close();
  }

  /** This program has stopped the pool: what is open ends with it. */
  stopped(): void {
    this.onClose();
    this.#line?.stopped('This program has stopped it.');
  }

  get #open(): PoolLine {
    if (this.#line === null) throw new Error('the line of the pool is not open');
    return this.#line;
  }

  #learn(fn: object): KnownFunction {
    const { name, code, sha256, shared, uses, variables }: Captured = captureForCalls(fn);
    const known = {
      sha256,
      code,
      name,
      uses,
      variables,
      shared: shared.map((one) => this.#assetOf(one)),
    };
    if (!this.#assets.has(sha256)) this.#newFunction(known);
    this.#functions.set(fn, known);
    return known;
  }

  #newFunction({ sha256, code }: Pick<KnownFunction, 'sha256' | 'code'>): number {
    if (this.#code.size >= this.#codeMax) this.#forgetFunctions();
    const number = this.#add(sha256, code);
    this.#code.add(number);
    return number;
  }

  /** Those that no open call needs; they are sent again when they are called again. */
  #forgetFunctions(): void {
    const gone = new Set(this.#open.session.forgetAssets(this.#code));
    for (const [hash, number] of this.#assets) if (gone.has(number)) this.#assets.delete(hash);
    for (const number of gone) this.#code.delete(number);
    this.#codeMax = Math.max(CALL_ASSETS_MAX, 2 * this.#code.size);
  }

  /** Read once; equal contents are one function to workers. */
  #learnModule({ module, name, bundle = false }: ModuleReference): Promise<KnownFunction> {
    const key = JSON.stringify([String(module), name, bundle]);
    const known = this.#modules.get(key) ?? this.#readModule({ module, name, bundle });
    this.#modules.set(key, known);
    return known;
  }

  async #readModule({ module, name, bundle }: ModuleReference): Promise<KnownFunction> {
    const { captureModule } = await import('../functions/serialization/module.ts');
    const what = name === undefined ? { module } : { module, name };
    const captured = await captureModule(what, bundle ? 'bundle' : 'path');
    const { sha256, code } = captured;
    return { sha256, code, name: captured.name, shared: [], uses: [], variables: null };
  }

  #tellIdle(): void {
    if (this.openCalls > 0 || this.#onIdle.length === 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #asset(sha256: string, bytes: Uint8Array): number {
    const known = this.#assets.get(sha256);
    if (known !== undefined) return known;
    if (this.#assets.size - this.#code.size >= CALL_ASSETS_MAX) {
      throw wrongArgument(
        `a pool object takes ${CALL_ASSETS_MAX} different shared values`,
        'Share one list of them.',
      );
    }
    return this.#add(sha256, bytes);
  }

  #add(sha256: string, bytes: Uint8Array): number {
    if (bytes.length > CALL_ASSET_BYTES_MAX) {
      throw wrongArgument(
        `a function or shared value of ${formatSize(bytes.length)}; at most ${formatSize(CALL_ASSET_BYTES_MAX)} are sent`,
        'Share it in parts, or give the name of a file that the workers can read.',
      );
    }
    const number = this.#open.session.addAsset(sha256, bytes);
    this.#assets.set(sha256, number);
    return number;
  }

  #assetOf(sha256: string): number {
    const known = this.#assets.get(sha256);
    if (known !== undefined) return known;
    throw wrongArgument(
      'a shared value belongs to another pool object.',
      'Share it with this one.',
    );
  }

  #heed<T>(record: CallRecord<T>, signal: AbortSignal): void {
    const stop = (): void => {
      record.abortReason = { reason: signal.reason };
      record.cancel();
    };
    signal.addEventListener('abort', stop, { once: true });
    record.whenEnded(() => signal.removeEventListener('abort', stop));
  }

  /** Ends a call by its time limit, wherever it is. */
  #limit(record: CallRecord<unknown>, timeoutMs: number): void {
    const timer = setLongTimeout(timeoutMs, () => {
      const detail = this.#whyLate(record, timeoutMs);
      const { number } = record;
      if (number !== 0) return this.#open.session.expire(number, detail);
      record.end({ ok: false, error: errorOf(nameOf(record, null), { why: 'timeout', detail }) });
    });
    record.whenEnded(() => timer.cancel());
  }

  #whyLate({ state, worker }: CallRecord<unknown>, timeoutMs: number): string {
    const limit = `It took longer than ${formatDuration(timeoutMs)}`;
    if (state === 'running') return `${limit} in all; it was running on ${worker}.`;
    const why = this.numbers?.why ?? null;
    return `${limit} and waited for a worker until then${why === null ? '.' : `: ${why}`}`;
  }

  #ended(number: number, end: CallEnd): void {
    const record = this.#records.get(number);
    if (record === undefined) return;
    this.#records.delete(number);
    if (end.kind === 'result') record.attempt = end.attempt;
    else record.worker = end.worker ?? record.worker;
    record.end(outcomeOf(record, end));
    this.#tellIdle();
  }
}

/** Node.js takes a longer one for none. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A timer of any length. */
function setLongTimeout(ms: number, then: () => void): { readonly cancel: () => void } {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number): void => {
    const nextMs = Math.min(leftMs, TIMER_MS_MAX);
    timer = setTimeout(() => (leftMs > nextMs ? wait(leftMs - nextMs) : then()), nextMs);
  };
  wait(ms);
  return { cancel: () => clearTimeout(timer) };
}

function tellProgress(record: CallRecord<unknown>, progress: Progress, bytes: Uint8Array): void {
  let value: unknown;
  try {
    value = unpackResult(bytes);
  } catch (error) {
    const detail = `What it said while it ran cannot be read: ${(error as Error).message}`;
    progress.fail(errorOf(nameOf(record, record.worker), { why: 'refused', detail }));
    return;
  }
  progress.push(value);
}

function isModule(fn: object): fn is ModuleReference {
  return typeof fn === 'object' && fn !== null && 'module' in fn;
}

function nameOf({ id, functionName }: { id: number; functionName: string }, worker: string | null) {
  return { callId: id, functionName, worker };
}

function outcomeOf(record: CallRecord<unknown>, end: CallEnd) {
  const name = nameOf(record, record.worker);
  if (end.kind === 'settled') {
    const isAborted = end.why === 'cancelled' && record.abortReason !== null;
    return {
      ok: false,
      error: isAborted ? record.abortReason?.reason : errorOf(name, end),
    } as const;
  }
  try {
    const value = unpackResult(end.bytes);
    releaseRead(end.bytes);
    if (end.ok) return { ok: true, value } as const;
    return { ok: false, error: new RemoteError(name, value, end.attempt) } as const;
  } catch (error) {
    const detail = `Its result cannot be read: ${(error as Error).message}`;
    return { ok: false, error: errorOf(name, { why: 'refused', detail }) } as const;
  }
}
