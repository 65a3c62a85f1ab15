// The cycle that repairs at work in a run: the keeper of each head's life, and nodes that break.

import type { Engine } from '../../src/kernel/head/engine.ts';
import type { Log } from '../../src/kernel/ports/log.ts';
import { GoalKeeper } from '../../src/wings/goals/head/keeper.ts';
import type { Streams } from '../chance.ts';
import { SimClock, type Time } from '../clock.ts';
import type { HeadHost } from '../head-host.ts';
import type { Machine } from '../machine.ts';
import { Recurring } from '../recurring.ts';
import { Drift, GOAL_CLASS } from './drift.ts';

export interface GoalWorkWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly machines: () => readonly Machine[];
  /** Between two things that break; null: nobody has goals. */
  readonly goalMs: number | null;
  readonly log: Log;
  readonly note: (text: string) => void;
  /** The head as the keeper sees it. */
  readonly wrapEngine: (engine: Engine) => Engine;
}

const TICK_MS = 1000;
const LOOK_EVERY_MS = 15_000;

export class GoalWork {
  readonly drift = new Drift();
  readonly #world: GoalWorkWorld;
  readonly #recurring: Recurring;

  constructor(world: GoalWorkWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  start(): void {
    const { goalMs, machines, note } = this.#world;
    this.#recurring.every('break', goalMs, (dice) => {
      const { name } = dice.pick(machines());
      note(`${name}: its ${this.drift.breakOne(name, dice)} breaks`);
    });
  }

  /** Nothing breaks any more, and nobody looks: what is under way has to end by itself. */
  stop(): void {
    this.#recurring.stop();
    this.drift.clear();
  }

  /** A head that can be asked; its keeper ends with it. */
  booted(host: HeadHost): void {
    const { goalMs, time, log, wrapEngine } = this.#world;
    const { engine, life, logs, skew } = host;
    if (goalMs === null || engine === null) return;
    const clock = new SimClock(time, life, skew);
    const ports = { engine: wrapEngine(engine), logs, clock, log };
    const options = { classes: [GOAL_CLASS], everyMs: LOOK_EVERY_MS, repairs: true };
    const keeper = new GoalKeeper(ports, options);
    const tick = (): void => {
      if (!life.alive || this.#recurring.isOver) return;
      keeper.tick();
      time.after(TICK_MS, tick);
    };
    time.after(TICK_MS, tick);
  }
}
