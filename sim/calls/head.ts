// The head of a simulated pool: the real router, and what the head keeps on its disk about workers.

import { createHash } from 'node:crypto';
import type {
  ClientToRouter,
  RouterToClient,
  RouterToWorker,
  WorkerToRouter,
} from '../../src/wings/calls/core/messages.ts';
import type { Peer } from '../../src/wings/calls/core/peer.ts';
import { type Port, Router } from '../../src/wings/calls/core/router/router.ts';
import type { RouterOptions } from '../../src/wings/calls/core/router/state.ts';
import type { Time } from '../clock.ts';
import type { Side } from './line.ts';
import type { CallWeather } from './weather.ts';

export interface HeadWorld {
  readonly time: Time;
  readonly weather: CallWeather;
  readonly note: (text: string) => void;
  readonly startWorker: (name: string) => void;
  readonly options: (options: RouterOptions) => RouterOptions;
  readonly beforeGone: (router: Router, worker: string) => void;
  readonly onRouter: (router: Router) => void;
}

const TICK_MS = 20;
const SCALE_MS = 200;

export class CallHead {
  readonly #world: HeadWorld;
  router: Router | null = null;
  /** On disk: workers whose epochs have not ended as far as the head has heard, and its losses. */
  readonly alive = new Set<string>();
  /** Likewise: those that are stopped. */
  readonly #suspended = new Set<string>();
  #losses = 0;
  #epochs = 0;
  #starts = 0;
  /** Ends that agents have not been able to tell. */
  #untold: { readonly name: string; readonly how: 'left' | 'lost' }[] = [];

  constructor(world: HeadWorld) {
    this.#world = world;
  }

  boot(): void {
    if (this.router !== null) return;
    this.#starts += 1;
    const { time, weather } = this.#world;
    const { workersMin: min, workersMax: max, idleMs } = weather;
    const options: RouterOptions = {
      generation: `g${this.#starts}`,
      losses: this.#losses,
      workers: [...this.alive],
      crashLimit: 3,
      min,
      max,
      idleMs,
      newHash: () => createHash('sha256'),
    };
    const router = new Router(this.#world.options(options), time.now);
    this.router = router;
    for (const name of this.#suspended) router.workerSuspended(name, true, time.now);
    this.#world.note(`the head starts, with ${[...this.alive]}`);
    this.#world.onRouter(router);
    this.#every(router, TICK_MS, () => router.tick(time.now));
    this.#every(router, SCALE_MS, () => this.#scale(router));
    for (const { name, how } of this.#untold.splice(0)) this.gone(name, how);
  }

  #every(router: Router, ms: number, work: () => void): void {
    this.#world.time.after(ms, () => {
      if (this.router !== router) return;
      work();
      this.#every(router, ms, work);
    });
  }

  crash(): void {
    if (this.router === null) return;
    this.#world.note('the head crashes');
    this.router = null;
  }

  #scale(router: Router): void {
    const wanted = router.demand();
    while (this.alive.size < wanted) {
      this.#epochs += 1;
      const name = `n${this.#epochs % 3}:0#${this.#epochs}`;
      this.alive.add(name);
      this.#world.startWorker(name);
    }
  }

  /**
   * An agent tells that a worker is stopped, or goes on; while the head is away, its journal does.
   */
  suspended(name: string, isSuspended: boolean): void {
    if (!this.alive.has(name)) return;
    if (isSuspended) this.#suspended.add(name);
    else this.#suspended.delete(name);
    this.router?.workerSuspended(name, isSuspended, this.#world.time.now);
  }

  /** An agent tells that an epoch has ended. */
  gone(name: string, how: 'left' | 'lost'): void {
    const { router } = this;
    if (router === null) {
      this.#untold.push({ name, how });
      return;
    }
    this.#world.note(`${name} is gone: ${how}`);
    this.alive.delete(name);
    this.#suspended.delete(name);
    if (how === 'lost') this.#losses += 1;
    this.#world.beforeGone(router, name);
    router.workerGone(name, how, this.#world.time.now);
  }

  acceptClient(peer: Peer<RouterToClient>): Side<ClientToRouter> | null {
    const { router } = this;
    return router === null ? null : this.#sideOf(router, router.openClient(peer, this.#now));
  }

  acceptWorker(peer: Peer<RouterToWorker>): Side<WorkerToRouter> | null {
    const { router } = this;
    return router === null ? null : this.#sideOf(router, router.openWorker(peer, this.#now));
  }

  get #now(): number {
    return this.#world.time.now;
  }

  #sideOf<M>(router: Router, port: Port<M>): Side<M> {
    return {
      take: (messages) => {
        if (this.router === router) port.take(messages, this.#now);
      },
      gone: () => {
        if (this.router === router) port.gone(this.#now);
      },
    };
  }
}
