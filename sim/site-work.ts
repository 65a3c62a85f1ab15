// What users ask of the site beside the resources of their jobs, and what operators do to the
// site's rules during a run: partitions and qualities of service, changes of partitions, notices,
// and configs that are read again. What is set aside is in booking.ts.

import { type PartitionChange, PLANNING_POLICIES } from '../src/kernel/model/scheduling.ts';
import type { Submission } from '../src/kernel/model/submission.ts';
import type { Booking } from './booking.ts';
import type { Dice, Streams } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import type { HeadHost } from './head-host.ts';
import { Recurring, times } from './recurring.ts';
import type { Site } from './site.ts';
import type { Weather } from './weather.ts';

export interface SiteWorkWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly site: Site;
  readonly weather: Weather;
  readonly booking: Booking;
  readonly host: HeadHost;
  /** The head's wall clock. */
  readonly headNow: () => number;
}

/**
 * Each kind of change is so many times rarer than the weather's `partitionMs`. Not counted from the
 * kinds: one more would change how often the others happen.
 */
const CHANGE_EVERY = 8;
const RESET_EVERY = 2.5;
const NOTICE_EVERY = 4;

/** By their kinds. */
const CHANGES: Readonly<Record<string, (dice: Dice) => PartitionChange>> = {
  state: (dice) => ({ state: dice.pick(['up', 'down', 'drain', 'inactive'] as const) }),
  policy: (dice) => ({ policy: dice.pick([...PLANNING_POLICIES]) }),
  tier: (dice) => ({ tier: dice.whole(0, 2) }),
  preempt: (dice) => ({ preempt: dice.pick(['off', 'suspend', 'requeue', 'cancel'] as const) }),
  placement: (dice) => ({
    placement: dice.pick(['pack', 'spread'] as const),
    priority: dice.fraction(),
  }),
};

export class SiteWork {
  readonly #world: SiteWorkWorld;
  readonly #recurring: Recurring;
  readonly #partitions: readonly string[];

  constructor(world: SiteWorkWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
    this.#partitions = Object.keys(world.site.base.partitions);
  }

  start(): void {
    const { weather, booking } = this.#world;
    const { partitionMs, reloadMs } = weather;
    for (const [kind, draw] of Object.entries(CHANGES)) {
      const meanMs = times(CHANGE_EVERY, partitionMs);
      this.#recurring.every(`partition ${kind}`, meanMs, (dice) => this.#change(dice, draw(dice)));
    }
    this.#recurring.every('partition reset', times(RESET_EVERY, partitionMs), (dice) => {
      this.#reset(dice.pick(this.#partitions));
    });
    this.#recurring.every('notice', times(NOTICE_EVERY, partitionMs), (dice) => this.#notice(dice));
    this.#recurring.every('reload', reloadMs, (dice) => this.#reload(dice));
    booking.start(this.#recurring, weather);
  }

  stop(): void {
    this.#recurring.stop();
  }

  /** Takes back what would keep jobs waiting for ever. */
  tidyUp(): void {
    const { weather, host, site } = this.#world;
    if (weather.isPlain) return;
    if (host.scheduling !== site.base) host.configure(site.base);
    if (host.engine !== null && host.engine.settings.scheduling !== site.base) host.reload();
    for (const partition of this.#partitions) this.#reset(partition);
    this.#world.booking.tidyUp();
  }

  /** What one submission asks for. */
  wishes(): Partial<Submission> {
    const { streams, weather } = this.#world;
    if (weather.isPlain) return {};
    const of = (field: string): Dice => streams.of(`wish ${field}`);
    const partition = of('partition').happens(0.02)
      ? 'misspelt'
      : of('partition').pick(this.#partitions);
    return {
      partition,
      ...(of('qos').happens(0.5) ? { qos: of('qos').pick(['normal', 'high', 'low']) } : {}),
      ...(of('walltime').happens(0.6) ? { walltimeMs: of('walltime').span(1000, 25_000) } : {}),
      ...this.#world.booking.wishes(of('reservation')),
    };
  }

  #reload(dice: Dice): void {
    const { host, site } = this.#world;
    host.configure(dice.pick([site.base, ...site.others]));
    if (dice.happens(0.8)) host.reload();
  }

  #change(dice: Dice, change: PartitionChange): void {
    const partition = dice.pick(this.#partitions);
    this.#world.client.once({ kind: 'change_partition', partition, change }, operator('bob'));
  }

  /** Most are replaced, cleared or over before the run ends. */
  #notice(dice: Dice): void {
    const { client, headNow } = this.#world;
    const until = dice.happens(0.6) ? headNow() + dice.whole(0, 30_000) : null;
    const set = { kind: 'set_notice', text: 'disk is full', from: null, until } as const;
    client.once(dice.happens(0.2) ? { kind: 'clear_notice' } : set, operator('alice'));
  }

  #reset(partition: string): void {
    this.#world.client.once({ kind: 'reset_partition', partition }, operator('bob'));
  }
}
