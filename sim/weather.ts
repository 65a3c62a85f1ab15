// The weather of one run: options drawn from the seed, a third of all faults switched off entirely
// (so that some runs are long and calm in one respect and wild in another), and the faults at work.

import { POLICIES, type Policy } from '../src/core/model/scheduling.ts';
import { StoreFailure } from '../src/ports/store.ts';
import type { Dice } from './chance.ts';
import type { Time } from './clock.ts';
import type { HeadHost } from './head-host.ts';
import type { Machine } from './machine.ts';
import type { Link } from './net.ts';

/** Mean ms between two faults of a kind in the whole cluster; null = never. */
export interface Weather {
  readonly stormMs: number;
  readonly nodeCount: number;
  readonly submissionMs: number;
  readonly commandMs: number;
  readonly nodeTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly killGraceMs: number;
  readonly commitMs: { readonly min: number; readonly max: number };
  readonly retainedJobsMax: number;
  readonly policy: Policy;
  /** Of clock rates, as a share. */
  readonly driftMax: number;
  readonly lostAnswers: number;
  readonly headCrashMs: number | null;
  readonly commitCrashMs: number | null;
  readonly headStopMs: number | null;
  readonly diskFullMs: number | null;
  readonly syncFailureMs: number | null;
  readonly agentCrashMs: number | null;
  readonly journalCrashMs: number | null;
  readonly launcherDeathMs: number | null;
  readonly powerCutMs: number | null;
  readonly netCutMs: number | null;
  readonly netResetMs: number | null;
  readonly netSlowMs: number | null;
  readonly clockJumpMs: number | null;
  readonly forkFailureMs: number | null;
  /** How often the fence command succeeds; null = the site has none. */
  readonly fenceSuccess: number | null;
  readonly nodeDiskFullMs: number | null;
  /** One partition of all nodes and no rules. */
  readonly isPlain: boolean;
  /** How often operators change a partition. */
  readonly partitionMs: number | null;
  /** How often somebody makes, changes or cancels a reservation, or a maintenance. */
  readonly reserveMs: number | null;
  readonly maintenanceMs: number | null;
  /** How often the config file is another, most times read at once. */
  readonly reloadMs: number | null;
}

/** What is drawn from the dice of the site. */
type SiteWeather = Pick<
  Weather,
  'isPlain' | 'partitionMs' | 'reserveMs' | 'maintenanceMs' | 'reloadMs'
>;

const SWITCHED_OFF = 0.3;

export function drawWeather(dice: Dice): Omit<Weather, keyof SiteWeather> {
  const fault = (min: number, max: number): number | null =>
    dice.happens(SWITCHED_OFF) ? null : dice.whole(min, max);
  const heartbeatMs = dice.pick([500, 1000, 2000]);
  return {
    stormMs: dice.whole(60_000, 180_000),
    nodeCount: dice.whole(1, 5),
    submissionMs: dice.whole(1000, 6000),
    commandMs: dice.whole(2000, 15_000),
    nodeTimeoutMs: heartbeatMs * dice.whole(4, 10),
    heartbeatMs,
    killGraceMs: dice.pick([1000, 3000, 10_000]),
    commitMs: dice.pick([
      { min: 0.5, max: 5 },
      { min: 2, max: 40 },
      { min: 1, max: 600 },
    ]),
    retainedJobsMax: dice.pick([3, 20, 10_000]),
    policy: dice.pick([...POLICIES]),
    driftMax: dice.pick([0, 0.001, 0.01]),
    lostAnswers: dice.pick([0, 0.02, 0.2]),
    headCrashMs: fault(10_000, 90_000),
    commitCrashMs: fault(10_000, 90_000),
    headStopMs: fault(30_000, 120_000),
    diskFullMs: fault(20_000, 120_000),
    syncFailureMs: fault(30_000, 120_000),
    agentCrashMs: fault(8000, 60_000),
    journalCrashMs: fault(8000, 60_000),
    launcherDeathMs: fault(20_000, 120_000),
    powerCutMs: fault(20_000, 90_000),
    netCutMs: fault(8000, 60_000),
    netResetMs: fault(8000, 60_000),
    netSlowMs: fault(10_000, 60_000),
    clockJumpMs: fault(20_000, 90_000),
    forkFailureMs: fault(30_000, 90_000),
    fenceSuccess: dice.pick([null, null, 0.6, 1]),
    nodeDiskFullMs: fault(20_000, 90_000),
  };
}

/** A site without rules is drawn for some, and can be asked for: `PLAIN`. */
export function drawSiteWeather(dice: Dice): SiteWeather {
  const isPlain = dice.happens(0.25);
  const wish = (min: number, max: number): number | null => {
    const drawn = dice.happens(SWITCHED_OFF) ? null : dice.whole(min, max);
    return isPlain ? null : drawn;
  };
  return {
    ...{ isPlain, partitionMs: wish(10_000, 60_000) },
    ...{ reserveMs: wish(5000, 30_000), maintenanceMs: wish(10_000, 60_000) },
    reloadMs: wish(10_000, 60_000),
  };
}

/** As if there were nothing but jobs and nodes. */
export const PLAIN: SiteWeather = {
  isPlain: true,
  partitionMs: null,
  reserveMs: null,
  maintenanceMs: null,
  reloadMs: null,
};

export interface StormWorld {
  readonly time: Time;
  readonly dice: Dice;
  readonly host: HeadHost;
  readonly machines: readonly Machine[];
  readonly links: ReadonlyMap<string, Link>;
  readonly note: (text: string) => void;
  /** The machine's disk is new: what was only there is rightly lost. */
  readonly onWiped: (machine: Machine) => void;
}

/** Lets faults happen until it is over, and then mends everything. */
export class Storm {
  readonly #world: StormWorld;
  #over = false;

  constructor(world: StormWorld, weather: Weather) {
    this.#world = world;
    const { host } = world;
    this.#every(weather.headCrashMs, () => this.#headDown(() => host.crash()));
    this.#every(weather.commitCrashMs, () => this.#crashAtCommit());
    this.#every(weather.headStopMs, () => this.#headDown(() => host.stop()));
    this.#every(weather.diskFullMs, () => this.#fillDisk());
    this.#every(weather.syncFailureMs, () => this.#failSyncs());
    this.#every(weather.agentCrashMs, () => this.#agentDown());
    this.#every(weather.journalCrashMs, () => this.#crashInJournal());
    this.#every(weather.launcherDeathMs, () => this.#machine().killLauncher());
    this.#every(weather.powerCutMs, () => this.#powerCut());
    this.#every(weather.netCutMs, () => this.#cutLink());
    this.#every(weather.netResetMs, () => this.#link().reset());
    this.#every(weather.netSlowMs, () => this.#slowLink());
    this.#every(weather.clockJumpMs, () => this.#jumpClock());
    this.#every(weather.forkFailureMs, () => this.#refuseForks());
    this.#every(weather.nodeDiskFullMs, () => this.#fillNodeDisk());
  }

  /** Everything works again, and stays so. */
  heal(): void {
    this.#over = true;
    const { host, machines, links } = this.#world;
    host.disk.failure = null;
    host.syncFailures = 0;
    host.commitCrash = 'none';
    for (const link of links.values()) {
      link.heal();
      link.delayMs = { min: 0.2, max: 2 };
    }
    for (const machine of machines) {
      machine.forkFailures = 0;
      machine.disk.isFull = false;
      machine.journalCrash = 'none';
      machine.powerOn();
      machine.startAgent();
    }
    host.boot();
  }

  #every(meanMs: number | null, fault: () => void): void {
    if (meanMs === null) return;
    const { time, dice } = this.#world;
    const again = (): void => {
      time.after(dice.waitMs(meanMs), () => {
        if (this.#over) return;
        fault();
        again();
      });
    };
    again();
  }

  #later(maxMs: number, then: () => void): void {
    const { time, dice } = this.#world;
    const delay = dice.pick([0.05, 0.3, 1]) * dice.whole(1, maxMs);
    time.after(delay, () => {
      if (!this.#over) then();
    });
  }

  #machine(): Machine {
    return this.#world.dice.pick(this.#world.machines);
  }

  #link(): Link {
    return this.#world.dice.pick([...this.#world.links.values()]);
  }

  #headDown(how: () => void): void {
    how();
    this.#later(30_000, () => this.#world.host.boot());
  }

  #crashAtCommit(): void {
    const { host, dice } = this.#world;
    host.commitCrash = dice.pick(['before', 'after']);
    this.#later(20_000, () => host.boot());
  }

  #fillDisk(): void {
    const { host, note } = this.#world;
    note('the disk of the head is full');
    host.disk.failure = new StoreFailure('full', 'No space left on device.');
    this.#later(10_000, () => {
      note('the disk of the head has room again');
      host.disk.failure = null;
    });
  }

  #failSyncs(): void {
    const { host, note } = this.#world;
    note('the disk of the head reports errors');
    host.syncFailures = 0.5;
    this.#later(3000, () => {
      host.syncFailures = 0;
    });
  }

  #agentDown(): void {
    const machine = this.#machine();
    if (this.#world.dice.happens(0.2)) machine.stopAgent();
    else machine.crashAgent();
    this.#later(20_000, () => machine.startAgent());
  }

  #crashInJournal(): void {
    const machine = this.#machine();
    machine.journalCrash = this.#world.dice.pick(['before', 'torn', 'after']);
    this.#later(20_000, () => machine.startAgent());
  }

  #powerCut(): void {
    const machine = this.#machine();
    const wipe = this.#world.dice.happens(0.15);
    machine.powerOff(wipe);
    if (wipe) this.#world.onWiped(machine);
    this.#later(60_000, () => machine.powerOn());
  }

  #cutLink(): void {
    const { dice, note } = this.#world;
    const link = this.#link();
    const how = dice.pick(['stall', 'vanish'] as const);
    const ways = dice.pick([
      ['to_head'],
      ['to_agent'],
      ['to_head', 'to_agent'],
      ['to_head', 'to_agent'],
    ] as const);
    note(`${link.node} is cut off: ${ways.join(' and ')} ${how}`);
    for (const way of ways) link.cut(way, how);
    this.#later(90_000, () => {
      note(`${link.node} can be reached again`);
      link.heal();
    });
  }

  #slowLink(): void {
    const link = this.#link();
    const max = this.#world.dice.pick([50, 500, 4000]);
    this.#world.note(`${link.node} is slow: up to ${max} ms`);
    link.delayMs = { min: max / 20, max };
    this.#later(30_000, () => {
      link.delayMs = { min: 0.2, max: 2 };
    });
  }

  #jumpClock(): void {
    const { dice, host, note } = this.#world;
    const clocks = [host.skew, ...this.#world.machines.map(({ skew }) => skew)];
    const skew = dice.pick(clocks);
    const jumpMs = dice.whole(-20_000, 20_000);
    note(`somebody sets a clock by ${jumpMs} ms`);
    skew.wallMs += jumpMs;
  }

  #fillNodeDisk(): void {
    const { dice, note } = this.#world;
    const machine = this.#machine();
    // Without power nobody writes, and a machine that is new has to find room to begin with.
    if (!machine.isOn) return;
    note(`the disk of ${machine.name} is full`);
    machine.disk.fill(dice.pick([0, 3000, 1_000_000]));
    this.#later(60_000, () => {
      note(`the disk of ${machine.name} has room again`);
      machine.disk.isFull = false;
    });
  }

  #refuseForks(): void {
    const machine = this.#machine();
    this.#world.note(`${machine.name} has no processes left`);
    machine.forkFailures = this.#world.dice.pick([0.3, 1]);
    this.#later(15_000, () => {
      machine.forkFailures = 0;
    });
  }
}
