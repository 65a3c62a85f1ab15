// A router with clients and workers around it, all of them real, over lines in memory: every frame
// is encoded and decoded. Children are played by the test. Time stands still unless it is told to
// go.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ClientSession } from '../../../../../src/wings/calls/core/client-session.ts';
import type { RouterToClient } from '../../../../../src/wings/calls/core/messages.ts';
import type {
  NearBytes,
  NearFiles,
  PassedValue,
} from '../../../../../src/wings/calls/core/near.ts';
import type { CallEnd } from '../../../../../src/wings/calls/core/own-call.ts';
import type { Peer } from '../../../../../src/wings/calls/core/peer.ts';
import type { Inside } from '../../../../../src/wings/calls/core/router/records.ts';
import { Router } from '../../../../../src/wings/calls/core/router/router.ts';
import type { RouterOptions } from '../../../../../src/wings/calls/core/router/state.ts';
import type {
  ChildCall,
  ChildPort,
  WorkerPort,
} from '../../../../../src/wings/calls/core/worker/entries.ts';
import { WorkerSession } from '../../../../../src/wings/calls/core/worker/worker-session.ts';
import {
  CLIENT_TO_ROUTER,
  FrameWriter,
  type Layout,
  ROUTER_TO_CLIENT,
  ROUTER_TO_WORKER,
  readFrame,
  WORKER_TO_ROUTER,
} from '../../../../../src/wings/calls/wire/call-frames.ts';

export const sha256 = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const textOf = (value: PassedValue): string =>
  new TextDecoder().decode(value instanceof Uint8Array ? value : value.bytes());

interface Message {
  readonly kind: string;
}

/** One direction of a line: what was sent and has not arrived. */
class Way<M extends Message> implements Peer<M> {
  readonly #writer: FrameWriter<M>;
  readonly #layout: Layout<M>;
  readonly #frames: Uint8Array[] = [];
  isOpen = true;
  isBehind = false;
  onClose: () => void = () => undefined;
  deliver: (messages: readonly M[]) => void = () => undefined;

  constructor(layout: Layout<M>) {
    this.#layout = layout;
    this.#writer = new FrameWriter(layout);
  }

  send(message: M): void {
    if (!this.isOpen) return;
    this.#writer.add(message);
    if (this.#writer.isFull) this.#frames.push(this.#writer.take());
  }

  close(): void {
    this.flush();
    this.onClose();
  }

  /** Whether anything arrived. */
  flush(): boolean {
    if (this.#writer.bytes > 0) this.#frames.push(this.#writer.take());
    const frames = this.#frames.splice(0);
    for (const frame of frames) {
      const read = readFrame(this.#layout, frame);
      assert.ok(read.ok, read.ok ? '' : read.error);
      if (this.isOpen) this.deliver(read.value);
    }
    return frames.length > 0;
  }
}

export class Line {
  readonly #ways: readonly Way<never>[];
  readonly #gone: () => void;

  constructor(ways: readonly Way<never>[], gone: () => void) {
    this.#ways = ways;
    this.#gone = gone;
    for (const way of ways) way.onClose = () => this.cut();
  }

  flush(): boolean {
    return this.#ways.map((way) => way.flush()).includes(true);
  }

  /** Nothing arrives any more, and nobody notices. */
  mute(): void {
    for (const way of this.#ways) way.deliver = () => undefined;
  }

  /** What is on its way is lost. */
  cut(): void {
    if (!this.#ways.every(({ isOpen }) => isOpen)) return;
    for (const way of this.#ways) way.isOpen = false;
    this.#gone();
  }
}

export class Client {
  readonly session: ClientSession;
  readonly ends = new Map<number, CallEnd>();
  readonly starts: { call: number; attempt: number; worker: string }[] = [];
  readonly progress: string[] = [];
  readonly #rig: Rig;
  /** Where its program runs, when that is in a call. */
  inside: Inside | null = null;
  closed: string | null = null;
  /** Stops what is told to the client. */
  drop: (message: RouterToClient) => boolean = () => false;
  line: Line | null = null;

  constructor(rig: Rig, id: string, detach = false) {
    this.#rig = rig;
    this.session = new ClientSession(
      { session: id, detach, label: `client ${id[0]}`, ...(rig.near && { near: rig.near }) },
      {
        ended: (call, end) => {
          assert.ok(!this.ends.has(call), `call ${call} ends once`);
          this.ends.set(call, end);
        },
        started: (call, attempt, worker) => this.starts.push({ call, attempt, worker }),
        progress: (_call, bytes) => this.progress.push(textOf(bytes)),
        numbers: () => undefined,
        closed: (detail) => {
          this.closed = detail;
        },
      },
    );
  }

  connect(): this {
    const rig = this.#rig;
    const up = new Way(CLIENT_TO_ROUTER);
    const down = new Way(ROUTER_TO_CLIENT);
    const port = rig.router.openClient(down, rig.now, {
      inside: this.inside,
      host: rig.host('client'),
    });
    const end = this.session.open(up, rig.now);
    up.deliver = (messages) => port.take(messages, rig.now);
    down.deliver = (messages) =>
      end.take(
        messages.filter((one) => !this.drop(one)),
        rig.now,
      );
    this.line = rig.add([up, down] as never, () => {
      port.gone(rig.now);
      end.gone();
    });
    return this;
  }

  asset(text = 'code'): number {
    return this.session.addAsset(sha256(bytesOf(text)), bytesOf(text));
  }

  submit(asset: number, text: string, of: Partial<{ retriesMax: number; timeoutMs: number }> = {}) {
    const call = this.session.submit({
      asset,
      shared: [],
      retriesMax: 0,
      timeoutMs: 0,
      payload: bytesOf(text),
      ...of,
    });
    assert.ok(call !== null);
    return call;
  }

  /** How a call ended, as a word or the text of its result. */
  how(call: number): string | undefined {
    const end = this.ends.get(call);
    if (end === undefined) return undefined;
    return end.kind === 'settled' ? end.why : `${end.ok ? '' : 'threw '}${textOf(end.bytes)}`;
  }
}

/** A worker whose child does what the test says. */
export class Worker implements WorkerPort {
  readonly name: string;
  readonly session: WorkerSession;
  readonly #rig: Rig;
  /** What the child has and has not ended, the first one started if `start` was called. */
  readonly runs: ChildCall[] = [];
  readonly aborted: number[] = [];
  readonly loaded: string[] = [];
  /** Every attempt that has started here: the text of its payload and its number. */
  readonly started: string[] = [];
  kills = 0;
  exitCode: number | null = null;
  line: Line | null = null;

  constructor(rig: Rig, name: string, near: NearBytes | null, nearFiles?: NearFiles) {
    this.#rig = rig;
    this.name = name;
    const options = {
      worker: name,
      sha256,
      ...(near && { near }),
      ...(nearFiles && { nearFiles }),
    };
    this.session = new WorkerSession(options, this, rig.now);
    this.session.childReady(rig.now);
  }

  connect(): this {
    const rig = this.#rig;
    const up = new Way(WORKER_TO_ROUTER);
    const down = new Way(ROUTER_TO_WORKER);
    const port = rig.router.openWorker(down, rig.now, rig.host('worker'));
    const end = this.session.open(up, rig.now);
    up.deliver = (messages) => port.take(messages, rig.now);
    down.deliver = (messages) => end.take(messages, rig.now);
    this.line = rig.add([up, down] as never, () => {
      port.gone(rig.now);
      end.gone();
    });
    return this;
  }

  startChild(): void {
    this.runs.length = 0;
  }
  killChild(): void {
    this.kills += 1;
  }
  load(hash: string): void {
    this.loaded.push(hash);
  }
  run(call: ChildCall): void {
    this.runs.push(call);
  }
  takeBack(runs: readonly number[]): void {
    this.givesBack.push(...runs);
  }
  abort(run: number): void {
    this.aborted.push(run);
  }
  exit(code: number): void {
    this.exitCode ??= code;
  }

  /** Calls of the processes for inner calls, by depth; these start when they are given. */
  readonly inner = new Map<number, ChildCall[]>();
  readonly seatStarts: number[] = [];
  readonly seatKills: number[] = [];

  seat(depth: number): ChildPort {
    const runs: ChildCall[] = [];
    this.inner.set(depth, runs);
    return {
      startChild: () => {
        runs.length = 0;
        this.seatStarts.push(depth);
      },
      killChild: () => this.seatKills.push(depth),
      load: (hash) => this.loaded.push(hash),
      run: (call) => runs.push(call),
      takeBack: (numbers) => this.givesBack.push(...numbers),
      abort: (run) => this.aborted.push(run),
    };
  }

  /** The process for inner calls of this depth is there. */
  seatReady(depth: number): void {
    this.session.childReady(this.#rig.now, depth);
  }

  startInner(depth: number): ChildCall {
    const call = this.inner.get(depth)?.[0];
    assert.ok(call !== undefined, `${this.name} has an inner call of depth ${depth} to start`);
    this.started.push(`${textOf(call.payload)}#${call.attempt}`);
    this.session.childStarting(call.run, this.#rig.now, depth);
    return call;
  }

  endInner(depth: number): void {
    const call = this.inner.get(depth)?.shift();
    assert.ok(call !== undefined, `${this.name} has an inner call of depth ${depth} to end`);
    const bytes = bytesOf(`did ${textOf(call.payload)}`);
    this.session.childEnded({ run: call.run, ok: true, bytes }, this.#rig.now, depth);
  }

  readonly givesBack: number[] = [];

  /** The child gives back what it was asked for. */
  giveBack(): void {
    const runs = this.givesBack.splice(0);
    const here = this.runs.filter(({ run }) => runs.includes(run));
    for (const one of here) this.runs.splice(this.runs.indexOf(one), 1);
    this.session.childGaveBack(
      here.map(({ run }) => run),
      this.#rig.now,
    );
  }

  /** The child starts its next call. */
  start(): ChildCall {
    const [call] = this.runs;
    assert.ok(call !== undefined, `${this.name} has a call to start`);
    this.started.push(`${textOf(call.payload)}#${call.attempt}`);
    this.session.childStarting(call.run, this.#rig.now);
    return call;
  }

  /** The call that runs is over. */
  end(result?: string | PassedValue, ok = true): void {
    const call = this.runs.shift();
    assert.ok(call !== undefined, `${this.name} has a call to end`);
    const given = result ?? `did ${textOf(call.payload)}`;
    const bytes = typeof given === 'string' ? bytesOf(given) : given;
    this.session.childEnded({ run: call.run, ok, bytes }, this.#rig.now);
  }

  /** Starts and ends all that the child has and gets. */
  work(): void {
    this.#rig.settle();
    while (this.runs.length > 0) {
      this.start();
      this.end();
      this.#rig.settle();
    }
  }

  /** The child dies; a new one is ready. */
  die(detail = 'signal SIGSEGV'): void {
    this.session.childDied(detail, this.#rig.now);
    this.session.childReady(this.#rig.now);
  }
}

export class Rig {
  router: Router;
  /** Memory that all share who are made from now on; null: none. */
  near: NearBytes | null = null;
  /** On which host a line says that it is. */
  host: (side: 'client' | 'worker') => string | null = () => null;
  now = 1000;
  readonly #lines: Line[] = [];
  readonly #clients: Client[] = [];
  readonly #workers: Worker[] = [];
  #generation = 1;

  constructor(of: Partial<RouterOptions> = {}) {
    this.router = this.#newRouter(of);
  }

  #newRouter(of: Partial<RouterOptions>): Router {
    return new Router(
      {
        generation: `g${this.#generation}`,
        losses: 0,
        workers: [],
        crashLimit: 3,
        min: 0,
        max: 10,
        idleMs: 60_000,
        newHash: () => createHash('sha256'),
        ...of,
      },
      this.now,
    );
  }

  add(ways: readonly Way<never>[], gone: () => void): Line {
    const line = new Line(ways, gone);
    this.#lines.push(line);
    return line;
  }

  client(letter = 'a', detach = false, inside: Inside | null = null): Client {
    const client = new Client(this, letter.repeat(32 / letter.length), detach);
    client.inside = inside;
    this.#clients.push(client);
    return client.connect();
  }

  worker(name = 'n1:0#1', near = this.near, nearFiles?: NearFiles): Worker {
    const worker = new Worker(this, name, near, nearFiles);
    this.#workers.push(worker);
    return worker.connect();
  }

  /** Everything that is on its way arrives, until nothing is. */
  settle(): this {
    for (let round = 0; this.#lines.map((line) => line.flush()).includes(true); round += 1) {
      assert.ok(round < 10_000, 'messages come to an end');
    }
    return this;
  }

  /** Time goes on in steps, with ticks for everybody. */
  pass(ms: number, stepMs = 500): this {
    for (let left = ms; left > 0; left -= stepMs) {
      this.now += Math.min(stepMs, left);
      this.router.tick(this.now);
      for (const { session } of this.#clients) session.tick(this.now);
      for (const { session } of this.#workers) session.tick(this.now);
      this.settle();
    }
    return this;
  }

  mute(line: Line | null): void {
    line?.mute();
  }

  /** The head ends and starts: all lines are cut, and the router knows nothing. */
  restart(of: Partial<RouterOptions>): this {
    for (const line of this.#lines) line.cut();
    this.#lines.length = 0;
    this.#generation += 1;
    this.router = this.#newRouter(of);
    return this;
  }
}
