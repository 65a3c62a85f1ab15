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
  LAUNCHER_VERSION_MIN,
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
  'lease',
];
const STATE_STOPPED = 2;
const STATE_EXITED = 3;
const STATE_FAILED = 4;
const STATE_LAUNCHING = 5;
const EINVAL = 22;
const EPROTONOSUPPORT = 93;
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
  /** Asked for before the launcher's greeting, whose version decides the bytes. */
  #early: ((writer: RequestWriter) => void)[] | null = [];
  #closed = false;

  constructor(stream: Duplex, options: LauncherClientOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.onData((bytes) => this.#onData(bytes));
    stream.onClose(() => this.#onClose());
  }

  onEvent(handler: (event: ProcessEvent) => void): void {
    this.#onEvent = handler;
  }

  onLost(handler: (why: string) => void): void {
    this.#onLost = handler;
  }

  adopt(): Promise<readonly KnownProcess[]> {
    if (this.#closed) return Promise.reject(new Error(this.#why));
    this.#ask((writer) => writer.list());
    return new Promise((resolve, reject) => {
      this.#listing = { resolve, reject };
    });
  }

  start(request: LaunchRequest): void {
    this.#ask((writer) => this.#spawn(writer, request));
  }

  heard(monotonic: number): void {
    this.#ask((writer) => writer.heard(monotonic));
  }

  signal(launchId: number, signal: number, scope: 'session' | 'all'): void {
    this.#ask((writer) => writer.signal(launchId, signal, scope === 'all' ? 1 : 0));
  }

  leftovers(launchId: number): Promise<number> {
    if (this.#closed) return Promise.reject(new Error(this.#why));
    this.#ask((writer) => writer.leftovers(launchId));
    return new Promise((resolve, reject) => {
      const waiting = this.#leftovers.get(launchId) ?? [];
      waiting.push({ resolve, reject });
      this.#leftovers.set(launchId, waiting);
    });
  }

  forget(launchId: number): void {
    this.#ask((writer) => writer.forget(launchId));
  }

  shutDown(): void {
    this.#ask((writer) => writer.shutdown(true));
  }

  /** Leaves; the launcher and its processes go on. */
  close(): void {
    this.#onLost = () => undefined;
    this.#why = 'closed';
    this.#flush();
    this.#stream.close();
  }

  #ask(write: (writer: RequestWriter) => void): void {
    if (this.#early !== null) {
      this.#early.push(write);
      return;
    }
    write(this.#writer);
    this.#flushSoon();
  }

  #spawn(writer: RequestWriter, request: LaunchRequest): void {
    const { launchId, leaseMs, credentials } = request;
    if (leaseMs !== null && writer.version < 2) {
      // It would not keep the lease; another node may.
      this.#failSoon({ launchId, errno: EPROTONOSUPPORT, stage: 'fork' });
      return;
    }
    const common = { id: launchId, setIds: credentials, groupReadable: false, limits: [] };
    // A NUL in a text, or too large: known here already.
    const good = writer.spawn({ ...request, ...common });
    if (!good) this.#failSoon({ launchId, errno: EINVAL, stage: 'exec' });
  }

  /** Told as any failed start, later. */
  #failSoon(failed: { launchId: number; errno: number; stage: LaunchStage }): void {
    setImmediate(() => this.#onEvent({ kind: 'failed', ...failed }));
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
    const { version } = answer;
    if (version < LAUNCHER_VERSION_MIN || version > LAUNCHER_VERSION) {
      const ours = `${LAUNCHER_VERSION_MIN} to ${LAUNCHER_VERSION}`;
      this.#why = `the launcher speaks version ${version}, we speak ${ours}`;
      this.#stream.close();
      return;
    }
    this.#writer.version = version;
    const early = this.#early ?? [];
    this.#early = null;
    this.#writer.hello();
    this.#flushSoon();
    for (const write of early) this.#ask(write);
  }

  // Outside a listing, a record answers a start that was sent before.
  #onRecord(record: LauncherRecord): void {
    if (this.#listing) this.#listed.push(record);
    else if (record.state !== STATE_LAUNCHING) this.#onEvent(endOf(record) ?? startOf(record));
  }

  #onListEnd(): void {
    const known = this.#listed.map(knownOf);
    if (known.length === 0 && this.#writer.version < LAUNCHER_VERSION) this.#replace();
    else this.#listing?.resolve(known);
    this.#listing = null;
    this.#listed = [];
  }

  /** An old launcher that holds nothing makes way for one of our version. */
  #replace(): void {
    this.#why = `an idle launcher of version ${this.#writer.version} is replaced`;
    this.#listing?.reject(new Error(this.#why));
    this.#writer.shutdown(false);
    this.#flush();
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
    leaseOver: from.leaseOver,
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
  if (record.state === STATE_LAUNCHING) return { launchId: record.id, state: 'launching' };
  return { launchId: record.id, state: record.state === STATE_STOPPED ? 'stopped' : 'running' };
}
