// A head for tests of the agent: takes sessions over memory links on which every message is really
// encoded and decoded, answers as a head does, and keeps what it was told.

import type { EpochId } from '../../../../src/kernel/model/ids.ts';
import type { MemoryUse } from '../../../../src/kernel/model/memory-use.ts';
import type { NodeHello } from '../../../../src/kernel/model/node.ts';
import type { Order, Report } from '../../../../src/kernel/model/orders.ts';
import type { Dialer, Session } from '../../../../src/kernel/ports/net.ts';
import { decodeAgentMessage, encode } from '../../../../src/kernel/wire/codec.ts';
import {
  type AgentToHead,
  HEAD_FEATURES,
  type HeadToAgent,
} from '../../../../src/kernel/wire/messages.ts';

export interface FakeHeadOptions {
  readonly heartbeatMs?: number;
  readonly nodeTimeoutMs?: number;
  readonly killGraceMs?: number;
  readonly logBytesMax?: number;
  readonly features?: readonly string[];
}

/** Both ends of one connection; messages are delivered in later microtasks, in order. */
class MemorySession implements Session {
  readonly peer: string;
  other: MemorySession | null = null;
  #onMessage: (message: Uint8Array) => void = () => undefined;
  #onClose: (why: string) => void = () => undefined;
  #closed = false;

  constructor(peer: string) {
    this.peer = peer;
  }

  send(message: Uint8Array): void {
    const { other } = this;
    if (this.#closed || other === null) return;
    queueMicrotask(() => {
      if (!other.#closed) other.#onMessage(message);
    });
  }

  onMessage(handler: (message: Uint8Array) => void): void {
    this.#onMessage = handler;
  }

  onClose(handler: (why: string) => void): void {
    this.#onClose = handler;
  }

  close(why: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.other?.close(why);
    this.#onClose(why);
  }
}

export class FakeHead {
  readonly hellos: NodeHello[] = [];
  /** What it said of standard input. */
  readonly fed: Extract<AgentToHead, { kind: 'stdin_ack' }>[] = [];
  /** The fault that the last heartbeat told. */
  fault: string | undefined;
  /** What heartbeats told of memory, one after the other. */
  readonly memory: (readonly MemoryUse[])[] = [];
  readonly reports: Report[] = [];
  /** Everything, reports of later sessions included, as it came. */
  readonly received: AgentToHead[] = [];
  /** The same as bytes. */
  readonly bytes: Uint8Array[] = [];
  readonly logs = new Map<string, Buffer>();
  readonly ended = new Set<string>();
  readonly dropped = new Map<string, number>();
  /** False: reports and logs are taken but not acknowledged. */
  acknowledges = true;
  /** Answers that may wait do. */
  leavesOut = false;
  /** False: nobody answers the dial. */
  reachable = true;
  refusal: Extract<HeadToAgent, { kind: 'refused' }> | null = null;
  /** Hellos are answered later. */
  isBusy = false;
  #unanswered: (() => void) | null = null;
  readonly #options: FakeHeadOptions;
  #session: Session | null = null;
  #seen = 0;
  #waiting: (() => void)[] = [];

  constructor(options: FakeHeadOptions = {}) {
    this.#options = options;
  }

  readonly dialer: Dialer = {
    dial: () => {
      if (!this.reachable) return Promise.reject(new Error('no head here'));
      const agent = new MemorySession('');
      const head = new MemorySession('n1');
      agent.other = head;
      head.other = agent;
      this.accept(head);
      return Promise.resolve(agent);
    },
  };

  /** A connection from anywhere; it takes the place of the one before. */
  accept(session: Session): void {
    this.#session = session;
    this.#seen = 0;
    session.onMessage((bytes) => this.#onBytes(session, bytes));
  }

  order(...orders: Order[]): void {
    this.tell({ kind: 'orders', orders });
  }

  tell(message: HeadToAgent): void {
    this.#session?.send(encode(message));
  }

  cut(why = 'cut'): void {
    this.#session?.close(why);
    this.#session = null;
  }

  endOf(epochId: EpochId): Extract<Report, { kind: 'task_ended' }> | undefined {
    for (const report of this.reports) {
      if (report.kind === 'task_ended' && report.epochId === epochId) return report;
    }
    return undefined;
  }

  kindsOf(epochId: EpochId): string[] {
    const isOfIt = (report: Report) => 'epochId' in report && report.epochId === epochId;
    return this.reports.filter(isOfIt).map(({ kind }) => kind);
  }

  /** Resolves when the condition is true; rejects after far longer than a busy machine needs. */
  async until(condition: () => boolean, boundMs = 120_000): Promise<void> {
    const deadline = performance.now() + boundMs;
    while (!condition()) {
      if (performance.now() > deadline) {
        throw new Error(`not within ${boundMs} ms: ${condition}\n${this.#lastWords()}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** What came last, for the message of a test that waits in vain. */
  #lastWords(): string {
    const { fault = 'no fault', hellos } = this;
    const reports = this.reports.slice(-5).map((report) => JSON.stringify(report));
    return [`${hellos.length} hellos, ${fault}; the last reports:`, ...reports].join('\n');
  }

  #onBytes(session: Session, bytes: Uint8Array): void {
    const decoded = decodeAgentMessage(bytes);
    if (!decoded.ok) throw new Error(`the agent sent what cannot be read: ${decoded.error}`);
    this.bytes.push(bytes);
    this.received.push(decoded.value);
    this.#handle(session, decoded.value);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #handle(session: Session, message: AgentToHead): void {
    const say = (answer: HeadToAgent): void => session.send(encode(answer));
    switch (message.kind) {
      case 'hello':
        this.hellos.push(message.hello);
        this.#answerHello(() => say(this.refusal ?? this.#welcome()));
        return;
      case 'heartbeat':
        this.fault = message.fault;
        if (message.memory !== undefined) this.memory.push(message.memory);
        if (this.leavesOut && message.mayWait) return;
        if (this.acknowledges) say({ kind: 'heartbeat_ack', sentAt: message.sentAt });
        return;
      case 'reports':
        this.#onReports(message);
        if (this.acknowledges) say({ kind: 'reports_ack', upTo: this.#seen });
        return;
      case 'stdin_ack':
        this.fed.push(message);
        return;
      case 'site':
      case 'wing':
        return;
      default: {
        const kept = this.#onLog(message);
        if (this.acknowledges) say({ kind: 'log_ack', name: message.name, ...kept });
      }
    }
  }

  #answerHello(answer: () => void): void {
    if (this.isBusy) this.#unanswered = answer;
    else answer();
  }

  /** Answers the hello that waits, and those that come. */
  goOn(): void {
    this.isBusy = false;
    this.#unanswered?.();
    this.#unanswered = null;
  }

  #welcome(): HeadToAgent {
    return {
      kind: 'welcome',
      session: this.hellos.length,
      heartbeatMs: this.#options.heartbeatMs ?? 1000,
      nodeTimeoutMs: this.#options.nodeTimeoutMs ?? 15_000,
      killGraceMs: this.#options.killGraceMs ?? 10_000,
      logBytesMax: this.#options.logBytesMax ?? 1_048_576,
      features: this.#options.features ?? HEAD_FEATURES,
    };
  }

  #onReports(message: Extract<AgentToHead, { kind: 'reports' }>): void {
    message.reports.forEach((report, at) => {
      const number = message.first + at;
      if (number <= this.#seen) return;
      if (number !== this.#seen + 1) throw new Error(`report ${number} after ${this.#seen}`);
      this.#seen = number;
      this.reports.push(report);
    });
  }

  #onLog(message: Extract<AgentToHead, { kind: 'log' }>): { offset: number; end: boolean } {
    const { epochId, rank, stream } = message.name;
    const key = `${epochId}/${rank}/${stream}`;
    const before = this.logs.get(key) ?? Buffer.alloc(0);
    if (message.offset > before.length) return { offset: before.length, end: false };
    const fresh = message.bytes.subarray(before.length - message.offset);
    this.logs.set(key, Buffer.concat([before, fresh]));
    if (message.end) this.ended.add(key);
    if (message.dropped > 0) this.dropped.set(key, message.dropped);
    return { offset: before.length + fresh.length, end: this.ended.has(key) };
  }
}
