// The faults of a run about other clusters, each kind at its own rate and from its own stream.

import type { Dice, Streams } from '../chance.ts';
import type { Time } from '../clock.ts';
import type { HeadHost } from '../head-host.ts';
import { Recurring } from '../recurring.ts';
import type { Site } from './site.ts';
import type { ForeignWeather } from './weather.ts';

export interface ForeignStormWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly host: HeadHost;
  readonly sites: readonly Site[];
  readonly note: (text: string) => void;
  readonly onGatewayGone: (site: string) => void;
}

type Kind = {
  [Field in keyof ForeignWeather]: ForeignWeather[Field] extends number | null ? Field : never;
}[keyof ForeignWeather];

export class ForeignStorm {
  readonly #world: ForeignStormWorld;
  readonly #faults: Recurring;

  constructor(world: ForeignStormWorld, weather: ForeignWeather) {
    this.#world = world;
    this.#faults = new Recurring(world.time, world.streams);
    const kinds = Object.entries(this.#kinds()) as [Kind, (dice: Dice) => void][];
    for (const [kind, fault] of kinds) this.#faults.every(kind, weather[kind], fault);
  }

  heal(): void {
    this.#faults.stop();
    const { host, sites } = this.#world;
    host.commitCrash = 'none';
    for (const site of sites) {
      for (const link of site.gateway.links) link.heal();
      site.heal();
    }
    host.boot();
  }

  #kinds(): Partial<Record<Kind, (dice: Dice) => void>> {
    const { host } = this.#world;
    return {
      headCrashMs: (dice) => {
        host.crash();
        this.#later(dice, 30_000, () => host.boot());
      },
      commitCrashMs: (dice) => {
        host.commitCrash = dice.pick(['before', 'after']);
        this.#later(dice, 20_000, () => host.boot());
      },
      gatewayCrashMs: (dice) => {
        this.#gatewayDown(dice, ({ gateway }) =>
          dice.happens(0.2) ? gateway.stop() : gateway.crash(),
        );
      },
      rebootMs: (dice) => this.#gatewayDown(dice, ({ gateway }) => gateway.reboot()),
      netCutMs: (dice) => this.#cut(dice),
      netResetMs: (dice) => {
        for (const link of this.#site(dice).gateway.links) link.reset();
      },
      ...this.#kindsOfSites(),
    };
  }

  #kindsOfSites(): Partial<Record<Kind, (dice: Dice) => void>> {
    const { time, note } = this.#world;
    return {
      silenceMs: (dice) => {
        const { line, name } = this.#site(dice);
        const ms = dice.pick([1, 10, 40]) * dice.whole(500, 5000);
        note(`${name} says nothing for ${ms} ms`);
        line.silentUntil = time.now + ms;
      },
      hideMs: (dice) => {
        const { system, name } = this.#site(dice);
        const job = dice.pick([undefined, ...system.jobs.values()]);
        if (job === undefined) return;
        note(`${name}: job ${job.id} is in no listing for a while`);
        job.hiddenUntil = time.now + dice.pick([3000, 50_000]);
      },
      schedulerMs: (dice) => this.#switchScheduler(dice),
      breakMs: (dice) => {
        const { system } = this.#site(dice);
        const node = dice.pick(system.nodes);
        system.breakNode(node);
        this.#later(dice, 40_000, () => {
          node.isUp = true;
        });
      },
    };
  }

  /** Ends after a moment, a while or long. */
  #later(dice: Dice, maxMs: number, then: () => void): void {
    this.#world.time.after(dice.pick([0.05, 0.3, 1]) * dice.whole(1, maxMs), () => {
      if (!this.#faults.isOver) then();
    });
  }

  #site(dice: Dice): Site {
    return dice.pick(this.#world.sites);
  }

  #gatewayDown(dice: Dice, how: (site: Site) => void): void {
    const site = this.#site(dice);
    how(site);
    this.#world.onGatewayGone(site.name);
    this.#later(dice, 30_000, () => site.gateway.boot());
  }

  #cut(dice: Dice): void {
    const { gateway, name } = this.#site(dice);
    const how = dice.pick(['stall', 'vanish'] as const);
    const ways = dice.pick([['to_head'], ['to_agent'], ['to_head', 'to_agent']] as const);
    const isAll = dice.happens(0.6) || gateway.links.length === 0;
    const links = isAll ? gateway.links : [dice.pick(gateway.links)];
    this.#world.note(`${name} is cut off: ${ways.join(' and ')} ${how}`);
    for (const link of links) for (const way of ways) link.cut(way, how);
    this.#later(dice, 90_000, () => {
      for (const link of links) link.heal();
    });
  }

  /**
   * Somebody at the site switches it on, against what was agreed; or off, where it should be on.
   */
  #switchScheduler(dice: Dice): void {
    const { system, mode, name } = this.#site(dice);
    const usual = mode === 'submit';
    system.isScheduling = !usual;
    this.#world.note(`${name}: its own scheduler is ${usual ? 'off' : 'on'}`);
    this.#later(dice, 150_000, () => {
      this.#world.note(`${name}: its own scheduler is ${usual ? 'on' : 'off'}`);
      system.isScheduling = usual;
    });
  }
}
