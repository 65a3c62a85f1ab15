// The Processes port over a connection to the launcher. The connection is made elsewhere; what is
// asked for in one turn of the event loop goes out in one write.

import type { SignalTo } from '../model/job.ts';
import type { KnownProcess, ProcessEvent } from '../model/processes.ts';
import { LAUNCHER_ERROR, LAUNCHER_VERSION } from '../ports/launcher-frames.ts';
import type { LauncherStream, LaunchRequest, Processes } from '../ports/processes.ts';
import { AnswerReader } from './launcher-answers.ts';
import { type Answer, eventOf, eventOfRecord, knownOf } from './launcher-events.ts';
import {
  LAUNCHER_VERSION_MIN,
  type LauncherAnswer,
  type LauncherRecord,
  RequestWriter,
} from './launcher-wire.ts';

export interface LauncherClientOptions {
  /** A request the launcher refused, in its words; the connection goes on. */
  readonly onRefused: (why: string) => void;
  /** What the agent's own launcher speaks; a test of upgrades says a later one. */
  readonly version?: number;
}

interface PendingReply<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

const EINVAL = 22;
/** Many large starts go out in slices: one buffer of all would be copied as it grows. */
const SLICE_BYTES = 1_048_576;

export class LauncherClient implements Processes {
  readonly #stream: LauncherStream;
  readonly #options: LauncherClientOptions;
  readonly #writer = new RequestWriter();
  readonly #reader = new AnswerReader();
  readonly #leftovers = new Map<number, PendingReply<number>[]>();
  #listed: LauncherRecord[] = [];
  /** What an outdated launcher still has records of. */
  readonly #held = new Set<number>();
  #listing: PendingReply<readonly KnownProcess[]> | null = null;
  #onEvent: (event: ProcessEvent) => void = () => undefined;
  #onLost: (why: string) => void = () => undefined;
  #why = 'the launcher closed the connection';
  #flushing = false;
  #knowsScopes = false;
  /** Asked for before the launcher's greeting, whose version decides the bytes. */
  #early: ((writer: RequestWriter) => void)[] | null = [];
  #closed = false;

  constructor(stream: LauncherStream, options: LauncherClientOptions) {
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

  get #own(): number {
    return this.#options.version ?? LAUNCHER_VERSION;
  }

  get outdated(): string | null {
    const { version } = this.#writer;
    return version < this.#own ? `a launcher of version ${version}` : null;
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

  /** A launcher of before, which an upgrade leaves running, reaches all or closes. */
  signal(launchId: number, signal: number, _isAsked?: boolean, to?: SignalTo): void {
    this.#ask((writer) => {
      writer.signal(launchId, signal, this.#knowsScopes ? to : undefined);
    });
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
    if (this.#held.delete(launchId) && this.#held.size === 0) this.#replace();
  }

  shutDown(): void {
    this.#ask((writer) => writer.shutdown());
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
    const { launchId, credentials } = request;
    // The agent takes no work meanwhile; a frame of ours would end the connection.
    if (this.outdated !== null) throw new Error(`${this.outdated} starts nothing new`);
    // Files that the user names are made as the user would; captured output is nobody else's.
    const byUmask = request.makeParents;
    const common = { id: launchId, setIds: credentials, byUmask, limits: [] };
    if (writer.spawn({ ...request, ...common })) return;
    // A NUL in a text, or too large: known here already. Told as any failed start, later.
    const failed = { kind: 'failed', launchId, errno: EINVAL, stage: 'exec' } as const;
    setImmediate(() => this.#onEvent(failed));
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
        this.#onRecord(answer);
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
    if (version < LAUNCHER_VERSION_MIN || version > this.#own) {
      const ours = `${LAUNCHER_VERSION_MIN} to ${this.#own}`;
      this.#why = `the launcher speaks version ${version}, this agent speaks ${ours}`;
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
    if (this.#listing) {
      this.#listed.push(record);
      return;
    }
    const event = eventOfRecord(record);
    if (event !== undefined) this.#onEvent(event);
  }

  #onListEnd(): void {
    const known = this.#listed.map(knownOf);
    this.#listing?.resolve(known);
    this.#listing = null;
    this.#listed = [];
    if (this.outdated === null) return;
    for (const { launchId } of known) this.#held.add(launchId);
    if (known.length === 0) this.#replace();
  }

  /**
   * An old launcher without a record makes way for one of our version. By force: what still belongs
   * to it is of no task any more, and would keep it for ever.
   */
  #replace(): void {
    this.#why = `the idle launcher of version ${this.#writer.version} is replaced`;
    this.#ask((writer) => writer.shutdown());
  }

  #onLeftovers(id: number, count: number): void {
    const waiting = this.#leftovers.get(id) ?? [];
    waiting.shift()?.resolve(count);
    if (waiting.length === 0) this.#leftovers.delete(id);
  }

  #onError(answer: Answer<'error'>): void {
    if (answer.code === LAUNCHER_ERROR.knowsScopes) {
      this.#knowsScopes = true;
      return;
    }
    if (answer.code <= LAUNCHER_ERROR.noHello) this.#why = `the launcher refused: ${answer.text}`;
    // What is forgotten has left nothing behind that the launcher could name.
    if (answer.code === LAUNCHER_ERROR.unknownId && this.#leftovers.has(answer.id)) {
      this.#onLeftovers(answer.id, 0);
      return;
    }
    this.#options.onRefused(`${answer.text} (launch ${answer.id})`);
  }
}
