// A client of a simulated pool: the real session of it, and somebody who submits and cancels calls.

import { ClientSession } from '../../src/wings/calls/core/client-session.ts';
import type { ClientToRouter, RouterToClient } from '../../src/wings/calls/core/messages.ts';
import type { CallEnd } from '../../src/wings/calls/core/own-call.ts';
import type { Peer } from '../../src/wings/calls/core/peer.ts';
import type { Dice } from '../chance.ts';
import type { Time } from '../clock.ts';
import { Violation } from '../violation.ts';
import type { Side } from './line.ts';
import type { CallTruths, Plan } from './truth.ts';
import type { CallWeather } from './weather.ts';
import { payloadOf, sha256 } from './worker-host.ts';

export interface ClientWorld {
  readonly time: Time;
  readonly dice: Dice;
  readonly truths: CallTruths;
  readonly weather: CallWeather;
  readonly note: (text: string) => void;
  readonly fail: (error: unknown) => void;
  readonly dial: (client: ClientHost) => void;
}

const TICK_MS = 500;

export class ClientHost {
  readonly name: string;
  readonly id: string;
  readonly session: ClientSession;
  readonly #world: ClientWorld;
  readonly #assets: number[];
  readonly #poison: number;
  isAlive = true;
  readonly isDetached: boolean;

  constructor(name: string, world: ClientWorld) {
    this.name = name;
    this.#world = world;
    this.id = Buffer.from(world.dice.bytes(16)).toString('hex');
    this.isDetached = world.dice.happens(0.2);
    this.session = new ClientSession(
      { session: this.id, detach: this.isDetached, label: name },
      {
        ended: (call, end) => this.ended(call, end),
        started: () => undefined,
        progress: () => undefined,
        numbers: () => undefined,
        closed: (detail) => world.fail(new Violation('C1', `${name} is sent away: ${detail}`)),
      },
    );
    // One that all clients share, one of its own, a large one, and one that kills its process.
    const code = ['code', `own ${name}`, `large ${name} ${'x'.repeat(200_000)}`, `poison ${name}`];
    this.#assets = code.map((text) => {
      const bytes = new TextEncoder().encode(text);
      return this.session.addAsset(sha256(bytes), bytes);
    });
    this.#poison = this.#assets.pop() as number;
    this.#tick();
    world.dial(this);
  }

  ended(call: number, end: CallEnd): void {
    const id = `${this.name}:${call}`;
    this.#world.note(
      `${id} ends: ${end.kind === 'settled' ? `${end.why}: ${end.detail}` : end.ok}`,
    );
    try {
      this.#world.truths.settled(id, end);
    } catch (error) {
      this.#world.fail(error);
    }
  }

  connect(peer: Peer<ClientToRouter>): Side<RouterToClient> {
    const { time, dice } = this.#world;
    const port = this.session.open(peer, time.now);
    let isOpen = true;
    return {
      take: (messages) => {
        if (this.isAlive && isOpen) port.take(messages, time.now);
      },
      gone: () => {
        if (!this.isAlive || !isOpen) return;
        isOpen = false;
        port.gone();
        time.after(dice.whole(10, 1000), () => this.isAlive && this.#world.dial(this));
      },
    };
  }

  #tick(): void {
    this.#world.time.after(TICK_MS, () => {
      if (!this.isAlive) return;
      this.session.tick(this.#world.time.now);
      this.#tick();
    });
  }

  submit(): void {
    const { dice, truths, weather } = this.#world;
    const plan = { ...this.#drawPlan(), id: '' };
    const retriesMax = dice.happens(weather.retriesPart) ? dice.whole(1, 3) : 0;
    const isEndless = plan.does === 'hang';
    const timeoutMs = isEndless ? dice.whole(50, 1500) : dice.happens(0.1) ? dice.whole(5, 500) : 0;
    const asset = plan.does === 'die' ? this.#poison : dice.pick(this.#assets);
    // Its id is known only when the session has given it: that counts from 1.
    const number = this.#submitted + 1;
    const whole: Plan = { ...plan, id: `${this.name}:${number}` };
    const own = { plan: whole, client: this.name, number, retriesMax, timeoutMs, starts: 0 };
    truths.submitted({ ...own, completed: 0, end: null, isCancelled: false, isOrphan: false });
    const payload = payloadOf(whole);
    const call = this.session.submit({ asset, shared: [], retriesMax, timeoutMs, payload });
    if (call !== number) throw new Violation('crash', `call ${number} is ${call}`);
    this.#submitted = number;
  }

  #submitted = 0;

  #drawPlan(): Omit<Plan, 'id'> {
    const { dice, weather } = this.#world;
    const isLarge = dice.happens(weather.largePart);
    const size = isLarge ? dice.pick([70_000, 300_000, 3_000_000]) : dice.whole(0, 100);
    const padding = isLarge && dice.happens(0.5) ? dice.pick([66_000, 2_500_000]) : 0;
    const sizes = { size, padding };
    if (dice.happens(weather.poisonPart)) return { does: 'die', ms: dice.whole(0, 30), ...sizes };
    if (dice.happens(weather.endlessPart)) return { does: 'hang', ms: 0, ...sizes };
    const ms = dice.happens(weather.longPart) ? dice.whole(500, 3000) : dice.fraction() * 8;
    return { does: dice.happens(0.05) ? 'throw' : 'echo', ms, ...sizes };
  }

  /** Cancels one of its latest calls. */
  cancel(): void {
    if (this.#submitted === 0) return;
    const { dice, truths } = this.#world;
    const number = Math.max(1, this.#submitted - dice.whole(0, 20));
    const call = truths.calls.get(`${this.name}:${number}`);
    if (call === undefined || call.end !== null) return;
    call.isCancelled = true;
    this.#world.note(`${this.name} cancels ${number}`);
    this.session.cancel(number);
  }

  die(isPolite: boolean): void {
    const { truths } = this.#world;
    for (const call of truths.calls.values()) {
      if (call.client === this.name && call.end === null) {
        call.isOrphan = true;
        if (isPolite) call.isCancelled = true;
      }
    }
    if (isPolite) this.session.close();
    this.isAlive = false;
  }
}
