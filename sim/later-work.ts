// What users think of later: jobs that wait are changed, what failed is run again, and tasks of
// arrays follow those of earlier arrays one by one.

import type { JobId } from '../src/kernel/model/ids.ts';
import type { JobChange, Submission } from '../src/kernel/model/submission.ts';
import type { Dice, Streams } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import { Recurring } from './recurring.ts';
import type { JobTruth, Truth } from './truth.ts';
import type { Weather } from './weather.ts';

export interface LaterWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly truth: Truth;
  readonly weather: Weather;
  readonly partitions: readonly string[];
  /** The head's wall clock. */
  readonly headNow: () => number;
  readonly note: (text: string) => void;
}

/** Only what is young: old jobs have left the head's memory. */
const RECENT = 25;
/** Each kind of change is so many times rarer than the weather's `laterMs`, and a retry. */
const CHANGE_EVERY = 14;
const RETRY_EVERY = 2;
/** How many submissions follow an array, where there is one. */
const FOLLOWERS = 0.3;

export class LaterWork {
  readonly #world: LaterWorld;
  readonly #recurring: Recurring;
  #count = 0;

  constructor(world: LaterWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  start(): void {
    const { laterMs } = this.#world.weather;
    if (laterMs === null) return;
    for (const [kind, draw] of Object.entries(this.#changes())) {
      const meanMs = CHANGE_EVERY * laterMs;
      this.#recurring.every(`change ${kind}`, meanMs, (dice) => this.#change(dice, draw(dice)));
    }
    this.#recurring.every('retry', RETRY_EVERY * laterMs, (dice) => this.#retry(dice));
  }

  stop(): void {
    this.#recurring.stop();
  }

  /** What one submission asks for: an array that follows another one index by index. */
  wishes(): Partial<Submission> {
    const { streams, weather } = this.#world;
    const dice = streams.of('follow');
    if (weather.laterMs === null || !dice.happens(FOLLOWERS)) return {};
    const arrays = this.#recent().filter(({ spec }) => spec.array !== null);
    const open = arrays.filter(({ outcome }) => outcome === null);
    const on = dice.pick([undefined, ...arrays, ...open, ...open]);
    if (on === undefined || on.spec.array === null) return {};
    // Some do not match, and are refused.
    const indices = dice.happens(0.05) ? '0-99' : on.spec.array.indices;
    const dependencies = [{ jobId: on.id, condition: 'each' as const }];
    return { array: { indices }, dependencies };
  }

  #recent(): JobTruth[] {
    const own = [...this.#world.truth.jobs.values()].filter(({ spec }) => !spec.system);
    return own.slice(-RECENT);
  }

  #change(dice: Dice, change: JobChange): void {
    const job = dice.pick([undefined, ...this.#recent()]);
    if (job === undefined) return;
    const actor = operator(dice.pick(['alice', 'bob']));
    this.#world.client.once({ kind: 'change_job', jobId: job.id, change }, actor);
  }

  #changes(): Readonly<Record<string, (dice: Dice) => JobChange>> {
    const { partitions, headNow } = this.#world;
    return {
      nice: (dice) => ({ nice: dice.whole(-5, 5) }),
      begin: (dice) => ({ beginAt: headNow() + dice.span(0, 10_000) }),
      held: (dice) => ({ held: dice.happens(0.3) }),
      size: (dice) => ({ walltimeMs: dice.span(1000, 20_000), cpuCount: dice.whole(0, 2) }),
      partition: (dice) => ({ partition: dice.pick(partitions), nice: dice.whole(-5, 5) }),
      throttle: (dice) => ({ runningMax: dice.pick([null, 1, 3]) }),
      qos: (dice) => ({
        nodeCount: dice.whole(1, 2),
        qos: dice.pick(['normal', 'high', 'nobody']),
      }),
    };
  }

  /** Some still run or have completed: those are refused. */
  #retry(dice: Dice): void {
    const { client, note, truth } = this.#world;
    const recent = this.#recent();
    const failed = recent.filter(({ outcome }) => outcome !== null && outcome.kind !== 'completed');
    const arrays = failed.filter(({ spec }) => spec.array !== null);
    const job = dice.pick([undefined, ...recent, ...failed, ...arrays, ...arrays, ...arrays]);
    if (job === undefined) return;
    this.#count += 1;
    const key = `retry ${this.#count}`;
    const dependencies = dice.happens(0.5) ? [] : null;
    const retired = Object.fromEntries(
      job.spec.dependencies.flatMap(({ jobId }) => {
        const job = truth.jobs.get(jobId as JobId);
        if (job === undefined || job.outcome === null) return [];
        const indices = job.spec.array?.indices ?? null;
        return [[jobId, { kind: job.outcome.kind, indices }]];
      }),
    );
    const command = { kind: 'retry_job', jobId: job.id, key, retired, dependencies } as const;
    client.ask(command, operator(job.owner), (result) => {
      note(`${key}: ${result.ok ? JSON.stringify(result.value) : result.error.code}`);
    });
  }
}
