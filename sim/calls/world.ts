// One simulated pool: clients, a head, workers and the lines between them; a storm of faults, then
// healing, then everything must settle and nothing may be left. A function of its seed.

import type { Router } from '../../src/wings/calls/core/router/router.ts';
import {
  CLIENT_TO_ROUTER,
  ROUTER_TO_CLIENT,
  ROUTER_TO_WORKER,
  WORKER_TO_ROUTER,
} from '../../src/wings/calls/wire/call-frames.ts';
import { Streams } from '../chance.ts';
import { Chronicle } from '../chronicle.ts';
import { Time } from '../clock.ts';
import type { RunEnd, RunRequest } from '../family.ts';
import { Recurring } from '../recurring.ts';
import { Violation } from '../violation.ts';
import { type CallCanary, NO_CALL_CANARY, type PlantedCalls } from './canary.ts';
import { checkRouter, GiveWatch, leftAtRouter } from './checks.ts';
import { ClientHost } from './client-host.ts';
import { CallHead } from './head.ts';
import { SimulatedLine } from './line.ts';
import { CallTruths } from './truth.ts';
import { type CallWeather, drawCallWeather } from './weather.ts';
import { WorkerHost } from './worker-host.ts';

type CallRunRequest = RunRequest<CallCanary, CallWeather>;

export interface CallRunResult extends RunEnd {
  readonly weather: CallWeather;
  readonly calls: number;
}

/**
 * After the last fault something settles in this time: a lost worker is given up after a minute.
 */
const SETTLE_MS = 120_000;
const CHECK_MS = 100;
/** Shorter and longer than lines and workers are waited for. */
const SUSPENDED_MS = [500, 5000, 30_000, 90_000];
/** Many more than any run has: beyond it something goes in a circle. */
const EVENTS_MAX = 3_000_000;

class CallWorld {
  readonly weather: CallWeather;
  readonly time = new Time();
  readonly chronicle: Chronicle;
  readonly #streams: Streams;
  readonly #truths = new CallTruths();
  readonly #head: CallHead;
  readonly #planted: PlantedCalls;
  readonly #faults: Recurring;
  readonly #lines = new Set<SimulatedLine<never, never>>();
  readonly #clients: ClientHost[] = [];
  readonly #workers: WorkerHost[] = [];
  #watch: GiveWatch | null = null;
  #clientCount = 0;
  #isHealed = false;

  constructor({ seed, canary = NO_CALL_CANARY, weather, trace }: CallRunRequest) {
    this.#streams = new Streams(seed, 'calls ');
    this.chronicle = new Chronicle(this.time, trace);
    const drawn = drawCallWeather(this.#streams.under('weather'));
    this.weather = { ...drawn, ...weather, ...canary.weather };
    this.#planted = canary.plant();
    const { time } = this;
    this.#faults = new Recurring(time, this.#streams.under('faults'));
    this.#head = new CallHead({
      time,
      weather: this.weather,
      note: this.chronicle.note,
      startWorker: (name) => this.#startWorker(name),
      options: (options) => this.#planted.options?.(options) ?? options,
      beforeGone: (router, worker) => this.#planted.beforeGone?.(router, worker),
      onRouter: (router) => this.#onRouter(router),
    });
  }

  get calls(): number {
    return this.#truths.calls.size;
  }

  run(): void {
    try {
      this.#head.boot();
      for (let at = 0; at < this.weather.clients; at += 1) this.#startClient();
      this.#storm();
      this.#until(this.weather.stormMs, () => false);
      this.#heal();
      const isQuiet = (): boolean => this.#left().length === 0;
      // As long as calls end, there is hope for the others.
      for (let ended = -1; !isQuiet() && ended < this.#truths.ended; ) {
        ended = this.#truths.ended;
        this.#until(this.time.now + SETTLE_MS, isQuiet);
      }
      if (!isQuiet()) throw this.#whyNotQuiet();
    } catch (error) {
      this.chronicle.fail(error);
    } finally {
      this.#planted.remove?.();
    }
  }

  #until(at: number, isDone: () => boolean): void {
    let checkAt = this.time.now;
    for (let events = 0; this.time.step(at); events += 1) {
      if (this.chronicle.violation !== null) throw this.chronicle.violation;
      if (events > EVENTS_MAX) throw new Violation('crash', 'too much happens');
      if (this.time.now < checkAt) continue;
      checkAt = this.time.now + CHECK_MS;
      const { router } = this.#head;
      if (router !== null) checkRouter(router);
      if (isDone()) return;
    }
  }

  #left(): string[] {
    const open = this.#truths.open();
    const { router } = this.#head;
    if (open.length > 0) return open;
    const held = this.#workers
      .filter(({ life, session, isBusy }) => life.alive && (session.calls > 0 || isBusy))
      .map(
        ({ name, session, isBusy }) => `${name} holds ${session.calls}${isBusy ? ', busy' : ''}`,
      );
    const unsent = this.#clients
      .filter(({ isAlive, session }) => isAlive && session.openCalls + session.unsentCalls > 0)
      .map(({ name, session }) => `${name} has ${session.openCalls} open`);
    return [...(router === null ? ['no router'] : leftAtRouter(router)), ...held, ...unsent];
  }

  #whyNotQuiet(): Violation {
    const open = this.#truths.open();
    if (open.length > 0) return new Violation('C1', `never settled: ${open.slice(0, 10)}`);
    return new Violation('C6', `left behind: ${this.#left().slice(0, 10).join('; ')}`);
  }

  #onRouter(router: Router): void {
    this.#planted.onRouter?.(router);
    this.#watch = new GiveWatch(router);
    this.#truths.headStarts += 1;
  }

  #startClient(): void {
    this.#clientCount += 1;
    const name = `c${this.#clientCount}`;
    const { time, weather } = this;
    const client = new ClientHost(name, {
      time,
      weather,
      truths: this.#truths,
      dice: this.#streams.of(`client ${name}`),
      note: this.chronicle.note,
      fail: (error) => this.chronicle.fail(error),
      dial: (one) => this.#dialClient(one),
    });
    this.#clients.push(client);
  }

  #startWorker(name: string): void {
    const { time } = this;
    const dice = this.#streams.of(`worker ${name}`);
    time.after(dice.whole(50, 1000), () => {
      if (!this.#head.alive.has(name)) return;
      this.chronicle.note(`${name} starts`);
      const worker = new WorkerHost(name, {
        time,
        dice,
        truths: this.#truths,
        note: this.chronicle.note,
        dial: (one) => this.#dialWorker(one),
        onExit: (one, code) => this.#onExit(one, code),
      });
      this.#workers.push(worker);
    });
  }

  #onExit(worker: WorkerHost, code: number): void {
    if (code !== 0) {
      this.chronicle.fail(new Violation('C1', `${worker.name} is sent away`));
    }
    this.#gone(worker, code === 0 ? 'left' : 'lost');
  }

  /** The agent of a worker tells the head after a while. */
  #gone(worker: WorkerHost, how: 'left' | 'lost'): void {
    const dice = this.#streams.of('gone');
    for (const line of this.#lines) if (line.owner === worker) line.cut(0);
    this.time.after(dice.whole(1, 800), () => this.#head.gone(worker.name, how));
  }

  #dialClient(client: ClientHost): void {
    const line = new SimulatedLine(
      this.#lineWorld(),
      { up: CLIENT_TO_ROUTER, down: ROUTER_TO_CLIENT },
      client,
    );
    const head = this.#head.acceptClient(line.down);
    if (head === null)
      return void this.time.after(200, () => client.isAlive && this.#dialClient(client));
    line.up.to = head;
    const { toClient } = this.#planted;
    const side = client.connect(line.up);
    line.down.to = {
      take: (messages) => {
        toClient?.(client, messages);
        side.take(messages);
      },
      gone: () => side.gone(),
    };
    this.#lines.add(line as never);
  }

  #dialWorker(worker: WorkerHost): void {
    const line = new SimulatedLine(
      this.#lineWorld(),
      { up: WORKER_TO_ROUTER, down: ROUTER_TO_WORKER },
      worker,
    );
    const watched = this.#watch?.wrap(line.down) ?? line.down;
    const head = this.#head.acceptWorker(this.#planted.toWorker?.(watched) ?? watched);
    if (head === null)
      return void this.time.after(200, () => worker.life.alive && this.#dialWorker(worker));
    line.up.to = head;
    line.down.to = worker.connect(this.#planted.fromWorker?.(line.up) ?? line.up);
    this.#lines.add(line as never);
  }

  #lineWorld() {
    const { delayMaxMs } = this.weather;
    return { time: this.time, dice: this.#streams.of('lines'), delayMaxMs };
  }

  #storm(): void {
    const { weather } = this;
    const every = (name: string, ms: number | null, work: () => void): void =>
      this.#faults.every(name as never, ms, work);
    const dice = this.#streams.of('storm');
    const client = () => dice.pick(this.#clients.filter(({ isAlive }) => isAlive));
    const worker = () => dice.pick(this.#workers.filter(({ life }) => life.alive));
    every('submit', weather.submitMs / weather.clients, () => {
      const one = client();
      const room = weather.openMax - one.session.openCalls;
      for (let at = 0; at < Math.min(room, weather.burst); at += 1) one.submit();
    });
    every('cancel', weather.cancelMs, () => client().cancel());
    every('cut', weather.cutMs, () => this.#line()?.cut(dice.pick([1, 500, 15_000])));
    every('longCut', weather.longCutMs, () => this.#cutLong(dice.pick([client(), worker()])));
    every('stall', weather.stallMs, () => this.#line()?.stall(dice.whole(10, 8000)));
    every('headCrash', weather.headCrashMs, () => this.#crashHead());
    every('childDeath', weather.childDeathMs, () => worker()?.dieChild('signal SIGKILL', 2));
    every('workerDeath', weather.workerDeathMs, () => this.#killWorker(worker()));
    every('clientDeath', weather.clientDeathMs, () => this.#killClient(client()));
    every('suspend', weather.suspendMs, () => this.#suspend(worker(), dice.pick(SUSPENDED_MS)));
  }

  #line(): SimulatedLine<never, never> | undefined {
    for (const line of this.#lines) if (line.isOver) this.#lines.delete(line);
    return this.#streams.of('storm').pick([...this.#lines]);
  }

  /** Somebody is cut off again and again for a while. */
  #cutLong(owner: object | undefined): void {
    const until = this.time.now + this.#streams.of('storm').whole(5000, 90_000);
    const again = (): void => {
      if (this.#isHealed || this.time.now > until) return;
      for (const line of this.#lines) if (line.owner === owner) line.cut(100);
      this.time.after(1, again);
    };
    again();
  }

  #crashHead(): void {
    this.#head.crash();
    for (const line of this.#lines) line.cut(this.#streams.of('storm').pick([1, 2000]));
    this.time.after(this.#streams.of('storm').pick([10, 2000, 15_000]), () => this.#head.boot());
  }

  /** The agent of a worker tells the head a moment later, of the stop and of the end of it. */
  #suspend(worker: WorkerHost | undefined, ms: number): void {
    if (worker === undefined || worker.isSuspended) return;
    this.chronicle.note(`${worker.name} is stopped for ${ms} ms`);
    worker.suspend();
    const tellMs = this.#streams.of('storm').whole(1, 500);
    this.time.after(tellMs, () => this.#head.suspended(worker.name, true));
    this.time.after(Math.max(ms, tellMs), () => this.#resume(worker));
  }

  #resume(worker: WorkerHost): void {
    this.chronicle.note(`${worker.name} goes on`);
    worker.resume();
    this.#head.suspended(worker.name, false);
  }

  #killWorker(worker: WorkerHost | undefined): void {
    if (worker === undefined) return;
    this.chronicle.note(`${worker.name} is killed`);
    worker.die();
    this.#gone(worker, 'lost');
  }

  #killClient(client: ClientHost): void {
    const isPolite = this.#streams.of('storm').happens(0.5);
    this.chronicle.note(`${client.name} ${isPolite ? 'says goodbye' : 'is killed'}`);
    client.die(isPolite);
    for (const line of this.#lines)
      if (line.owner === client) this.time.after(1, () => line.cut(100));
    this.#startClient();
  }

  #heal(): void {
    this.chronicle.note('everything is healed');
    this.#isHealed = true;
    this.#faults.stop();
    this.#head.boot();
  }
}

export function runCallSeed(wish: CallRunRequest): CallRunResult {
  const world = new CallWorld(wish);
  world.run();
  const { weather, calls, time, chronicle } = world;
  const { violation, hash } = chronicle;
  return { seed: wish.seed, weather, violation, hash, virtualMs: time.now, calls };
}
