// What users ask of the site beside the resources of their jobs, and what operators do to the
// site's rules during a run: partitions and qualities of service, changes of partitions, and configs
// that are read again. What is
// set aside is in booking.ts.

import type { Submission } from '../src/core/model/submission.ts';
import type { Booking } from './booking.ts';
import type { Dice } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import type { HeadHost } from './head-host.ts';
import type { Site } from './site.ts';
import type { Weather } from './weather.ts';

export interface SiteWorkWorld {
  readonly time: Time;
  readonly dice: Dice;
  readonly client: Client;
  readonly site: Site;
  readonly weather: Weather;
  readonly booking: Booking;
  readonly host: HeadHost;
  /** Of its own, so that reloads shift no other draw. */
  readonly reloadDice: Dice;
}

export class SiteWork {
  readonly #world: SiteWorkWorld;
  readonly #partitions: readonly string[];
  #over = false;

  constructor(world: SiteWorkWorld) {
    this.#world = world;
    this.#partitions = Object.keys(world.site.base.partitions);
  }

  start(): void {
    const { weather, booking } = this.#world;
    this.#every(weather.partitionMs, () => this.#changePartition());
    this.#every(weather.reserveMs, () => booking.reserve());
    this.#every(weather.maintenanceMs, () => booking.maintain());
    this.#every(weather.reloadMs, () => this.#reload(), this.#world.reloadDice);
  }

  stop(): void {
    this.#over = true;
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

  /** Of one submission. */
  wishes(): Partial<Submission> {
    const { dice, weather } = this.#world;
    if (weather.isPlain) return {};
    return {
      partition: dice.happens(0.02) ? 'misspelt' : dice.pick(this.#partitions),
      ...(dice.happens(0.5) ? { qos: dice.pick(['normal', 'high', 'low']) } : {}),
      ...(dice.happens(0.6) ? { walltimeMs: dice.whole(1000, 25_000) } : {}),
      ...this.#world.booking.wishes(),
    };
  }

  #reload(): void {
    const { reloadDice: dice, host, site } = this.#world;
    host.configure(dice.pick([site.base, ...site.others]));
    if (dice.happens(0.8)) host.reload();
  }

  #changePartition(): void {
    const { dice, client } = this.#world;
    const partition = dice.pick(this.#partitions);
    if (dice.happens(0.4)) return this.#reset(partition);
    const change = dice.pick([
      { state: dice.pick(['up', 'down', 'drain', 'inactive'] as const) },
      { policy: dice.pick(['first_fit', 'fifo', 'easy', 'conservative'] as const) },
      { tier: dice.whole(0, 2) },
      { preempt: dice.pick(['off', 'suspend', 'requeue', 'cancel'] as const) },
      { placement: dice.pick(['pack', 'spread'] as const), priority: dice.fraction() },
    ]);
    client.once({ kind: 'change_partition', partition, change }, operator('bob'));
  }

  #reset(partition: string): void {
    this.#world.client.once({ kind: 'reset_partition', partition }, operator('bob'));
  }

  #every(meanMs: number | null, then: () => void, dice = this.#world.dice): void {
    if (meanMs === null) return;
    const { time } = this.#world;
    time.after(dice.waitMs(meanMs), () => {
      if (this.#over) return;
      then();
      this.#every(meanMs, then, dice);
    });
  }
}
