// Users who submit arrays of many short tasks during a run: places on nodes pass from one task to
// the next of its job, without the head being asked.

import type { Submission } from '../src/kernel/model/submission.ts';
import type { Dice, Streams } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import { type Plan, programOf, QUIET } from './plan.ts';
import { Recurring } from './recurring.ts';
import type { Weather } from './weather.ts';

export interface BurstWorkWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly weather: Weather;
}

export class BurstWork {
  /** Submissions without any answer yet. */
  readonly unanswered = new Set<string>();
  readonly #world: BurstWorkWorld;
  readonly #recurring: Recurring;
  #count = 0;

  constructor(world: BurstWorkWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  start(): void {
    this.#recurring.every('burst', this.#world.weather.burstMs, (dice) => this.#submit(dice));
  }

  stop(): void {
    this.#recurring.stop();
  }

  #submit(dice: Dice): void {
    this.#count += 1;
    const name = `burst${this.#count}`;
    const owner = operator(dice.pick(['alice', 'bob']));
    this.unanswered.add(name);
    const submission = { ...drawBurst(dice, this.#drawOdd()), name };
    const command = {
      kind: 'submit_job',
      submission,
      key: name,
      retired: {},
      stepKey: name,
    } as const;
    this.#world.client.ask(command, owner, () => this.unanswered.delete(name));
  }

  #drawOdd(): Odd {
    const { streams, weather } = this.#world;
    const [limits, slow] = [streams.of('burst limits'), streams.of('burst slow')];
    const isLimited = limits.happens(weather.burstLimits ?? 0);
    const isSlow = slow.happens(weather.burstSlow ?? 0);
    return {
      ...(isLimited ? { runningMax: limits.pick([1, 2, 4]) } : {}),
      ...(isSlow ? { slow: { every: slow.whole(4, 30), runMs: 5000 } } : {}),
    };
  }
}

/** Properties that only some of these arrays have. */
interface Odd extends Pick<Plan, 'slow'> {
  readonly runningMax?: number;
}

function drawBurst(dice: Dice, { runningMax, slow }: Odd): Submission {
  const runMs = dice.pick([20, 60, 200]);
  // Now and then one of them is not what its job's tasks were so far.
  const code = dice.happens(0.1) ? 3 : 0;
  return {
    program: programOf({
      ...QUIET,
      runMs,
      code,
      leftovers: dice.happens(0.1) ? 1 : 0,
      leftoverMs: 500,
      ...(slow === undefined ? {} : { slow }),
    }),
    cpuCount: dice.pick([1, 1, 2]),
    array: {
      indices: `0-${dice.whole(15, 60)}`,
      ...(runningMax === undefined ? {} : { runningMax }),
    },
    directory: { kind: 'private' },
    walltimeMs: dice.pick([null, 2000, 10_000]),
    onNodeLoss: dice.pick([
      { kind: 'requeue' } as const,
      { kind: 'wait' } as const,
      { kind: 'lease', leaseMs: 6000 } as const,
    ]),
    retriesMax: dice.pick([0, 1]),
  };
}
