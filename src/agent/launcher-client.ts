// The Processes port over a connection to the launcher. The connection is made elsewhere; what is
// asked for in one turn of the event loop goes out in one write.

import type {
  KnownProcess,
  LaunchRequest,
  LaunchStage,
  ProcessEvent,
  Processes,
} from '../ports/processes.ts';
import { AnswerReader } from './launcher-answers.ts';
import {
  LAUNCHER_VERSION,
  type LauncherAnswer,
  type LauncherRecord,
  RequestWriter,
} from './launcher-wire.ts';

/** A connected stream, for example a unix socket. */
export interface Duplex {
  write(bytes: Uint8Array): void;
  onData(handler: (bytes: Uint8Array) => void): void;
  onClose(handler: () => void): void;
  close(): void;
}

export interface LauncherClientOptions {
  /** A request the launcher refused, in its words; the connection goes on. */
  readonly onRefused: (why: string) => void;
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

type Answer<K extends LauncherAnswer['kind']> = Extract<LauncherAnswer, { kind: K }>;

const STAGES: readonly LaunchStage[] = [
  'fork',
  'cgroup',
  'limits',
  'credentials',
  'chdir',
  'stdin',
  'stdout',
  'stderr',
  'exec',
];
const STATE_STOPPED = 2;
const STATE_EXITED = 3;
const STATE_FAILED = 4;
const EINVAL = 22;
/** Many large starts go out in slices: one buffer of all would be copied as it grows. */
const SLICE_BYTES = 1_048_576;
/** ERROR codes after which the launcher closes (launcher/wire.h). */
const LAST_FATAL_ERROR = 3;
const ERROR_UNKNOWN_ID = 4;

export class LauncherClient implements Processes {
  readonly #stream: Duplex;
  readonly #options: LauncherClientOptions;
  readonly #writer = new RequestWriter();
  readonly #reader = new AnswerReader();
  readonly #leftovers = new Map<number, Waiting<number>[]>();
  #listed: LauncherRecord[] = [];
  #listing: Waiting<readonly KnownProcess[]> | null = null;
  #onEvent: (event: ProcessEvent) => void = () => undefined;
  #onLost: (why: string) => void = () => undefined;
  #why = 'the launcher closed the connection';
  #flushing = false;
  #closed = false;

  constructor(stream: Duplex, options: LauncherClientOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.onData((bytes) => this.#onData(bytes));
    stream.onClose(() => this.#onClose());
    this.#writer.hello();
    this.#flushSoon();
  }

  onEvent(handler: (event: ProcessEvent) => void): void {
    this.#onEvent = handler;
  }

  onLost(handler: (why: string) => void): void {
    this.#onLost = handler;
  }

  adopt(): Promise<readonly KnownProcess[]> {
    if (this.#closed) return Promise.reject(new Error(this.#why));
    this.#writer.list();
    this.#flushSoon();
    return new Promise((resolve, reject) => {
      this.#listing = { resolve, reject };
    });
  }

  start(request: LaunchRequest): void {
    const good = this.#writer.spawn({
      ...request,
      id: request.launchId,
      setIds: request.credentials,
      groupReadable: false,
      limits: [],
    });
    this.#flushSoon();
    if (good) return;
    // A NUL in a text, or too large: known here already, yet told as any failed start, later.
    const { launchId } = request;
    setImmediate(() => this.#onEvent({ kind: 'failed', launchId, errno: EINVAL, stage: 'exec' }));
  }

  signal(launchId: number, signal: number, scope: 'session' | 'all'): void {
    this.#writer.signal(launchId, signal, scope === 'all' ? 1 : 0);
    this.#flushSoon();
  }

  leftovers(launchId: number): Promise<number> {
    if (this.#closed) return Promise.reject(new Error(this.#why));
    this.#writer.leftovers(launchId);
    this.#flushSoon();
    return new Promise((resolve, reject) => {
      const waiting = this.#leftovers.get(launchId) ?? [];
      waiting.push({ resolve, reject });
      this.#leftovers.set(launchId, waiting);
    });
  }

  forget(launchId: number): void {
    this.#writer.forget(launchId);
    this.#flushSoon();
  }

  shutDown(): void {
    this.#writer.shutdown(true);
    this.#flushSoon();
  }

  /** Leaves; the launcher and its processes go on. */
  close(): void {
    this.#onLost = () => undefined;
    this.#why = 'closed';
    this.#flush();
    this.#stream.close();
  }

  #flushSoon(): void {
    if (this.#writer.length >= SLICE_BYTES) this.#flush();
    if (this.#flushing || this.#writer.isEmpty) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#writer.isEmpty || this.#closed) return;
    this.#stream.write(this.#writer.take());
  }

  #onData(bytes: Uint8Array): void {
    if (this.#closed) return;
    try {
      for (const answer of this.#reader.push(bytes)) this.#onAnswer(answer);
    } catch (error) {
      this.#why = `unreadable answer: ${error instanceof Error ? error.message : String(error)}`;
      this.#stream.close();
      this.#onClose();
    }
  }

  #onClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    const error = new Error(this.#why);
    this.#listing?.reject(error);
    for (const waiting of this.#leftovers.values()) for (const { reject } of waiting) reject(error);
    this.#leftovers.clear();
    this.#onLost(this.#why);
  }

  #onAnswer(answer: LauncherAnswer): void {
    switch (answer.kind) {
      case 'hello':
        this.#onHello(answer);
        return;
      case 'record':
        this.#onRecord(answer.record);
        return;
      case 'list_end':
        this.#onListEnd();
        return;
      case 'leftovers':
        this.#onLeftovers(answer.id, answer.count);
        return;
      case 'error':
        this.#onError(answer);
        return;
      case 'signalled':
        return;
      default:
        this.#onEvent(eventOf(answer));
    }
  }

  #onHello(answer: Answer<'hello'>): void {
    if (answer.version === LAUNCHER_VERSION) return;
    this.#why = `the launcher speaks version ${answer.version}, we speak ${LAUNCHER_VERSION}`;
    this.#stream.close();
  }

  // Outside a listing, a record answers a start that was sent before.
  #onRecord(record: LauncherRecord): void {
    if (this.#listing) this.#listed.push(record);
    else this.#onEvent(endOf(record) ?? startOf(record));
  }

  #onListEnd(): void {
    const known = this.#listed.map(knownOf);
    this.#listing?.resolve(known);
    this.#listing = null;
    this.#listed = [];
  }

  #onLeftovers(id: number, count: number): void {
    const waiting = this.#leftovers.get(id) ?? [];
    waiting.shift()?.resolve(count);
    if (waiting.length === 0) this.#leftovers.delete(id);
  }

  #onError(answer: Answer<'error'>): void {
    if (answer.code <= LAST_FATAL_ERROR) this.#why = `the launcher refused: ${answer.text}`;
    // What is forgotten has left nothing behind that the launcher could name.
    if (answer.code === ERROR_UNKNOWN_ID && this.#leftovers.has(answer.id)) {
      this.#onLeftovers(answer.id, 0);
      return;
    }
    this.#options.onRefused(`${answer.text} (launch ${answer.id})`);
  }
}

function eventOf(
  answer: Answer<'started' | 'failed' | 'exited' | 'stopped' | 'continued'>,
): ProcessEvent {
  if (answer.kind === 'started') return { kind: 'started', launchId: answer.id, pid: answer.pid };
  if (answer.kind === 'failed') return failedEvent(answer.id, answer.errno, answer.stage);
  if (answer.kind === 'exited') return exitedEvent(answer);
  return { kind: answer.kind, launchId: answer.id };
}

type EndEvent = Extract<ProcessEvent, { kind: 'exited' | 'failed' }>;

function failedEvent(launchId: number, errno: number, stage: number): EndEvent {
  return { kind: 'failed', launchId, errno, stage: STAGES[stage - 1] ?? 'exec' };
}

function exitedEvent(from: Omit<Answer<'exited'>, 'kind'>): EndEvent {
  const signal = from.status & 0x7f;
  return {
    kind: 'exited',
    launchId: from.id,
    exit: signal === 0 ? { code: (from.status >> 8) & 0xff } : { signal },
    usage: {
      userUs: from.userUs,
      systemUs: from.systemUs,
      memoryPeakBytes: from.rssPeakKib * 1024,
    },
    endedAt: from.endedAt,
  };
}

function endOf(record: LauncherRecord): EndEvent | undefined {
  if (record.state === STATE_EXITED) return exitedEvent(record);
  if (record.state === STATE_FAILED) return failedEvent(record.id, record.status, record.stage);
  return undefined;
}

function startOf(record: LauncherRecord): ProcessEvent {
  return { kind: 'started', launchId: record.id, pid: record.pid };
}

function knownOf(record: LauncherRecord): KnownProcess {
  const end = endOf(record);
  if (end) return { launchId: record.id, state: 'ended', end };
  return { launchId: record.id, state: record.state === STATE_STOPPED ? 'stopped' : 'running' };
}
