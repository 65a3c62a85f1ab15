// Owners who take their machines back during a run: at the machine itself, whether or not there is
// a head, and operators by way of the head. Keeps until when each node may be paused at most.

import type { NodeName } from '../src/kernel/model/ids.ts';
import type { Streams } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import type { Machine } from './machine.ts';
import { Recurring, times } from './recurring.ts';
import type { Weather } from './weather.ts';

export interface PauseWorkWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly machines: readonly Machine[];
  readonly weather: Weather;
  readonly note: (text: string) => void;
}

/** One more of a kind would change how often the others happen: not counted from them. */
const BY_HEAD_EVERY = 2;
const UNPAUSE_EVERY = 3;
/** Clocks differ by a few parts in a hundred. */
const SLOW_CLOCK = 1.05;
/** An operator's wish is told for as long as the pause was to last, and then it begins. */
const LATE = 2;

/** In true time, and how long a restart of the machine may make it last from there. */
export interface Allowed {
  readonly until: number;
  readonly durationMs: number;
}

export class PauseWork {
  /** By node; a later wish never takes from an earlier one. */
  readonly allowed = new Map<NodeName, Allowed>();
  readonly #world: PauseWorkWorld;
  readonly #recurring: Recurring;

  constructor(world: PauseWorkWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  start(): void {
    const { weather, client, machines } = this.#world;
    const { pauseMs } = weather;
    const every = this.#recurring.every.bind(this.#recurring);
    every('pause', pauseMs, (dice) => {
      this.#pause(dice.pick(machines), dice.span(1000, 20_000), dice.happens(0.3));
    });
    every('pause by head', times(BY_HEAD_EVERY, pauseMs), (dice) => {
      const node = dice.pick(machines).name;
      const durationMs = dice.span(1000, 20_000);
      this.#allow(node, LATE * durationMs);
      const wish = { node, durationMs, requeue: dice.happens(0.3) };
      client.once({ kind: 'pause_node', ...wish }, operator('bob'));
    });
    every('unpause', times(UNPAUSE_EVERY, pauseMs), (dice) => {
      void dice.pick(machines).agent?.pausing.unpause('alice');
    });
    every('unpause by head', times(UNPAUSE_EVERY, pauseMs), (dice) => {
      client.once({ kind: 'unpause_node', node: dice.pick(machines).name }, operator('bob'));
    });
  }

  stop(): void {
    this.#recurring.stop();
  }

  #pause({ agent, name }: Machine, durationMs: number, requeue: boolean): void {
    if (agent === null) return;
    this.#allow(name, durationMs);
    this.#world.note(`${name} is paused for ${durationMs} ms`);
    void agent.pausing.pause({ by: 'alice', durationMs, requeue });
  }

  #allow(node: NodeName, durationMs: number): void {
    const before = this.allowed.get(node) ?? { until: 0, durationMs: 0 };
    const until = this.#world.time.now + durationMs * SLOW_CLOCK;
    this.allowed.set(node, {
      until: Math.max(until, before.until),
      durationMs: Math.max(durationMs, before.durationMs),
    });
  }
}
