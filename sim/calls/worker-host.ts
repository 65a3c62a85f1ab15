// A worker of a simulated pool: the real mind of it, and a child that runs calls one at a time.

import { createHash } from 'node:crypto';
import type { RouterToWorker, WorkerToRouter } from '../../src/wings/calls/core/messages.ts';
import { bytesOf } from '../../src/wings/calls/core/near.ts';
import type { Peer } from '../../src/wings/calls/core/peer.ts';
import type { ChildCall, WorkerPort } from '../../src/wings/calls/core/worker/entries.ts';
import { WorkerSession } from '../../src/wings/calls/core/worker/worker-session.ts';
import type { Dice } from '../chance.ts';
import type { Life, Time } from '../clock.ts';
import type { Side } from './line.ts';
import type { CallTruths, Plan } from './truth.ts';

export const sha256 = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

export interface WorkerWorld {
  readonly time: Time;
  readonly dice: Dice;
  readonly truths: CallTruths;
  readonly note: (text: string) => void;
  readonly dial: (worker: WorkerHost) => void;
  readonly onExit: (worker: WorkerHost, code: number) => void;
}

const TICK_MS = 20;
const CHILD_START_MS = 30;

export class WorkerHost implements WorkerPort {
  readonly name: string;
  readonly session: WorkerSession;
  readonly life: Life = { alive: true, buffersLost: false } as Life;
  readonly #world: WorkerWorld;
  /** Which child this is: what an older one had planned does not happen. */
  #child = 0;
  #pipe: ChildCall[] = [];
  #running: { readonly call: ChildCall; readonly plan: Plan } | null = null;
  #isAborted = false;
  #loaded = new Set<string>();
  /** What waits until it goes on; null: it is not stopped. */
  #frozen: (() => void)[] | null = null;

  constructor(name: string, world: WorkerWorld) {
    this.name = name;
    this.#world = world;
    this.session = new WorkerSession({ worker: name, sha256 }, this, world.time.now);
    this.#tick();
    world.dial(this);
  }

  get isBusy(): boolean {
    return this.life.alive && this.#running !== null;
  }

  connect(peer: Peer<WorkerToRouter>): Side<RouterToWorker> {
    const { time } = this.#world;
    const port = this.session.open(peer, time.now);
    let isOpen = true;
    return {
      take: (messages) => {
        this.#unfrozen(() => {
          if (this.life.alive && isOpen) port.take(messages, time.now);
        });
      },
      gone: () =>
        this.#unfrozen(() => {
          if (!this.life.alive || !isOpen) return;
          isOpen = false;
          port.gone();
          time.after(this.#world.dice.whole(10, 500), () => this.#dial());
        }),
    };
  }

  #dial(): void {
    this.#unfrozen(() => {
      if (this.life.alive) this.#world.dial(this);
    });
  }

  get isSuspended(): boolean {
    return this.#frozen !== null;
  }

  /** Worker and child stand still: what comes waits in sockets and pipes. */
  suspend(): void {
    this.#frozen ??= [];
  }

  resume(): void {
    const waiting = this.#frozen ?? [];
    this.#frozen = null;
    for (const act of waiting) act();
  }

  #unfrozen(act: () => void): void {
    if (this.#frozen === null) act();
    else this.#frozen.push(act);
  }

  #tick(): void {
    this.#world.time.after(TICK_MS, () =>
      this.#unfrozen(() => {
        if (!this.life.alive) return;
        this.session.tick(this.#world.time.now);
        this.#tick();
      }),
    );
  }

  #after(ms: number, then: () => void): void {
    const child = this.#child;
    this.#world.time.after(ms, () =>
      this.#unfrozen(() => {
        if (this.life.alive && child === this.#child) then();
      }),
    );
  }

  /** No program here runs in a call. */
  seat(): never {
    throw new Error('no inner calls here');
  }

  startChild(): void {
    this.#child += 1;
    this.#pipe = [];
    this.#running = null;
    this.#loaded = new Set();
    this.#after(CHILD_START_MS, () => this.session.childReady(this.#world.time.now));
  }

  killChild(): void {
    this.dieChild('signal SIGKILL', 5);
  }

  /** The child is gone at once, and the worker hears of it a little later. */
  dieChild(detail: string, afterMs: number): void {
    this.#child += 1;
    this.#running = null;
    this.#pipe = [];
    this.#after(afterMs, () => this.session.childDied(detail, this.#world.time.now));
  }

  load(hash: string): void {
    this.#loaded.add(hash);
  }

  run(call: ChildCall): void {
    if (!this.#loaded.has(call.code)) throw new Error(`${call.code} is not loaded`);
    this.#pipe.push(call);
    if (this.#pipe.length === 1 && this.#running === null) this.#after(0, () => this.#next());
  }

  #next(): void {
    if (this.#running !== null) return;
    const call = this.#pipe.shift();
    if (call === undefined) return;
    const plan = planOf(bytesOf(call.payload));
    this.#running = { call, plan };
    this.#isAborted = false;
    this.#world.note(`${this.name} starts ${plan.id} #${call.attempt}`);
    this.#world.truths.started(plan.id, call.attempt);
    this.session.childStarting(call.run, this.#world.time.now);
    if (plan.does === 'hang') return;
    this.#after(plan.ms, () => this.#end(call, plan));
  }

  #end(call: ChildCall, plan: Plan): void {
    if (this.#running?.call !== call) return;
    if (plan.does === 'die') return this.dieChild('signal SIGSEGV', 1);
    this.#running = null;
    this.#world.truths.completed(plan.id);
    const bytes = new Uint8Array(plan.id.length + plan.size);
    bytes.set(new TextEncoder().encode(plan.id));
    this.session.childEnded(
      { run: call.run, ok: plan.does === 'echo', bytes },
      this.#world.time.now,
    );
    this.#after(0, () => this.#next());
  }

  takeBack(runs: readonly number[]): void {
    this.#after(1, () => {
      const here = this.#pipe.filter(({ run }) => runs.includes(run));
      this.#pipe = this.#pipe.filter((call) => !here.includes(call));
      const back = here.map(({ run }) => run);
      this.session.childGaveBack(back, this.#world.time.now);
    });
  }

  /** Half of the functions end when they are told to. */
  abort(run: number): void {
    const running = this.#running;
    if (running?.call.run !== run || this.#isAborted) return;
    this.#isAborted = true;
    if (this.#world.dice.happens(0.5)) {
      this.#after(this.#world.dice.whole(1, 300), () => {
        if (this.#running !== running) return;
        const bytes = new Uint8Array();
        this.#running = null;
        this.session.childEnded({ run, ok: false, bytes }, this.#world.time.now);
        this.#after(0, () => this.#next());
      });
    }
  }

  exit(code: number, detail: string): void {
    if (!this.life.alive) return;
    this.#world.note(`${this.name} exits ${code}: ${detail}`);
    this.die();
    this.#world.onExit(this, code);
  }

  /** The whole worker is gone. */
  die(): void {
    this.life.alive = false;
    this.#running = null;
  }
}

export function payloadOf(plan: Plan): Uint8Array {
  const head = new TextEncoder().encode(JSON.stringify(plan));
  const bytes = new Uint8Array(head.length + plan.padding).fill(0x20);
  bytes.set(head);
  return bytes;
}

function planOf(payload: Uint8Array): Plan {
  return JSON.parse(new TextDecoder().decode(payload)) as Plan;
}
