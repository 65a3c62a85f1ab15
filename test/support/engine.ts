// An engine on a clock and a disk that do nothing unless told: every commit waits until it is let
// go.

import assert from 'node:assert/strict';
import { HEAD_MACHINE } from '../../sim/head-machine.ts';
import { MemoryDisk, MemoryStore } from '../../sim/memory-store.ts';
import type { Result } from '../../src/kernel/base/result.ts';
import { Engine } from '../../src/kernel/head/engine.ts';
import type { EngineOptions } from '../../src/kernel/head/engine-options.ts';
import type { Input } from '../../src/kernel/machine/controller.ts';
import type { Command } from '../../src/kernel/machine/declared.ts';
import type { Reply } from '../../src/kernel/machine/reply.ts';
import type { Actor } from '../../src/kernel/model/actor.ts';
import type { Refusal } from '../../src/kernel/model/errors.ts';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import type { Settings } from '../../src/kernel/model/settings.ts';
import type { Submission } from '../../src/kernel/model/submission.ts';
import type { Clock, Timer } from '../../src/kernel/ports/clock.ts';
import { StoreFailure } from '../../src/kernel/ports/store.ts';
import { ADMIN, ANN, orderWords, SETTINGS, START_AT, submission } from './controller.ts';
import { helloOf, type NodeOptions } from './nodes.ts';

/** Time stands still until it is told to pass. */
export class StillClock implements Clock {
  at = START_AT;
  /** How long the machine slept: the clock that never jumps does not count it. */
  sleptMs = 0;
  #soon: (() => void)[] = [];
  #timers: { readonly dueAt: number; readonly then: () => void }[] = [];

  now(): number {
    return this.at + this.sleptMs;
  }

  monotonic(): number {
    return this.at - START_AT;
  }

  after(delayMs: number, then: () => void): Timer {
    const timer = { dueAt: this.at + delayMs, then };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((one) => one !== timer);
      },
    };
  }

  soon(then: () => void): void {
    this.#soon.push(then);
  }

  /** The end of an event-loop turn; false when nothing was waiting for it. */
  endTurn(): boolean {
    const due = this.#soon.splice(0);
    for (const then of due) then();
    return due.length > 0;
  }

  pass(ms: number): void {
    this.at += ms;
    const due = this.#timers.filter((one) => one.dueAt <= this.at);
    this.#timers = this.#timers.filter((one) => one.dueAt > this.at);
    for (const { then } of due) then();
  }
}

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** Lets promises settle; nothing here waits for real time. */
export function settlePromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class EngineBench {
  readonly clock = new StillClock();
  disk = new MemoryDisk();
  /** What happened, in order: replies, orders, reloads. */
  readonly trace: string[] = [];
  readonly settings: Settings;
  /** What the engine is told beside that at its next start. */
  more: Pick<EngineOptions, 'nonce' | 'acceptLoss' | 'firstWordMs' | 'bootClock'> = {};
  /** What nodes say of their load, per cpu. */
  readonly loads = new Map<NodeName, number>();
  /** Writes asked for and not let go yet. */
  #waiting: (() => void)[] = [];
  #store: MemoryStore | null = null;
  #engine: Engine | null = null;

  constructor(settings: Partial<Settings> = {}) {
    this.settings = { ...SETTINGS, ...settings };
  }

  get engine(): Engine {
    assert.ok(this.#engine !== null);
    return this.#engine;
  }

  get store(): MemoryStore {
    assert.ok(this.#store !== null);
    return this.#store;
  }

  /** How many writes have been asked for and wait. */
  get writes(): number {
    return this.#waiting.length;
  }

  async start(): Promise<this> {
    const store = new MemoryStore({
      disk: this.disk,
      commitSoon: (commit) => this.#waiting.push(commit),
    });
    this.#store = store;
    this.#engine = await Engine.start({
      machine: HEAD_MACHINE,
      store,
      clock: this.clock,
      log: QUIET,
      settings: this.settings,
      send: (node, orders) => this.trace.push(`to ${node}: ${orders.map(orderWords).join(', ')}`),
      loads: () => this.loads,
      onReload: () => this.trace.push('reload'),
      ...this.more,
    });
    await this.settle();
    return this;
  }

  /** A crash of the head: what was not written is gone. */
  async crash(): Promise<this> {
    this.store.crash();
    this.#waiting = [];
    this.clock.endTurn();
    this.#waiting = [];
    return this.start();
  }

  /** Writes what waits, oldest first; with a number, only that many. */
  async letGo(count = Infinity): Promise<void> {
    for (const commit of this.#waiting.splice(0, count)) commit();
    await settlePromises();
  }

  /** Turns and writes until nothing is left to do. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      const worked = this.clock.endTurn() || this.writes > 0;
      await this.letGo();
      quiet = worked ? 0 : quiet + 1;
    }
  }

  perform(name: string, input: Input): void {
    this.engine.perform(input, (result) => this.trace.push(`${name}: ${resultWords(result)}`));
  }

  command(name: string, command: Command, actor: Actor = ADMIN): void {
    this.perform(name, { kind: 'command', command, actor });
  }

  submit(name: string, wish: Partial<Submission> = {}): void {
    this.command(name, submission(wish, { key: name }), ANN);
  }

  async connect(name: string, options: NodeOptions = {}): Promise<void> {
    const node = name as NodeName;
    if (!this.engine.state.nodes.has(node)) {
      const given = { secretHash: '', resources: null, labels: [], replace: false };
      this.command('enrol', { kind: 'enroll_node', node, ...given });
    }
    this.perform('hello', { kind: 'hello', hello: helloOf(name, options) });
    await this.settle();
  }

  /** What has happened since it was last taken. */
  take(): string[] {
    return this.trace.splice(0);
  }

  breakDisk(): void {
    this.disk.failure = new StoreFailure('full', 'no space left');
  }
}

function resultWords(result: Result<Reply, Refusal>): string {
  if (!result.ok) return result.error.code;
  const reply = result.value;
  return reply.kind === 'submitted'
    ? `job ${reply.jobId}${reply.again ? ' again' : ''}`
    : reply.kind;
}
