// The faults of a run at work, each kind at its own rate and from its own stream, until everything
// is mended.

import { StoreFailure } from '../src/kernel/ports/store.ts';
import type { Dice, Streams } from './chance.ts';
import type { Time } from './clock.ts';
import type { HeadHost } from './head-host.ts';
import type { Machine } from './machine.ts';
import type { Link } from './net.ts';
import { Recurring } from './recurring.ts';
import type { Weather } from './weather.ts';

export interface StormWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly host: HeadHost;
  readonly machines: readonly Machine[];
  readonly links: ReadonlyMap<string, Link>;
  readonly note: (text: string) => void;
  /** The machine's disk is new: what was only there is rightly lost. */
  readonly onWiped: (machine: Machine) => void;
}

type Fault = (dice: Dice) => void;
type Kind = {
  [Field in keyof Weather]: Weather[Field] extends number | null ? Field : never;
}[keyof Weather];

/** At a slow pace outages are so many times shorter than the rest: hours, not weeks. */
const OUTAGES = 50;

/** Lets faults happen until it is over, and then mends everything. */
export class Storm {
  readonly #world: StormWorld;
  readonly #faults: Recurring;
  readonly #outagePace: number;
  /** Each puts a clock right that was set by far. */
  readonly #misplaced = new Set<() => void>();

  constructor(world: StormWorld, weather: Weather) {
    this.#world = world;
    this.#outagePace = Math.max(1, weather.pace / OUTAGES);
    this.#faults = new Recurring(world.time, world.streams);
    const kinds = Object.entries(this.#kinds()) as [Kind, Fault][];
    for (const [kind, fault] of kinds) {
      this.#faults.every(kind, weather[kind], fault);
    }
  }

  /** Everything works again, and stays so. */
  heal(): void {
    this.#faults.stop();
    const { host, machines, links } = this.#world;
    host.disk.failure = null;
    host.syncFailures = 0;
    host.commitCrash = 'none';
    for (const link of links.values()) {
      link.heal();
      link.delayMs = { min: 0.2, max: 2 };
    }
    for (const putRight of [...this.#misplaced]) putRight();
    for (const machine of machines) {
      machine.forkFailures = 0;
      machine.cards?.heal();
      machine.disk.isFull = false;
      machine.journalCrash = 'none';
      machine.powerOn();
      machine.startAgent();
    }
    host.boot();
  }

  #kinds(): Partial<Record<Kind, Fault>> {
    const { host } = this.#world;
    return {
      headCrashMs: (dice) => this.#headDown(dice, () => host.crash()),
      commitCrashMs: (dice) => this.#crashAtCommit(dice),
      headStopMs: (dice) => this.#headDown(dice, () => host.stop()),
      diskFullMs: (dice) => this.#fillDisk(dice),
      syncFailureMs: (dice) => this.#failSyncs(dice),
      agentCrashMs: (dice) => this.#agentDown(dice),
      journalCrashMs: (dice) => this.#crashInJournal(dice),
      launcherDeathMs: (dice) => this.#machine(dice).killLauncher(),
      powerCutMs: (dice) => this.#powerCut(dice),
      netCutMs: (dice) => this.#cutLink(dice),
      netResetMs: (dice) => this.#link(dice).reset(),
      netSlowMs: (dice) => this.#slowLink(dice),
      clockJumpMs: (dice) => this.#jumpClock(dice),
      clockDayMs: (dice) => this.#misplaceClock(dice),
      forkFailureMs: (dice) => this.#refuseForks(dice),
      cardMs: (dice) => this.#changeCard(dice),
      nodeDiskFullMs: (dice) => this.#fillNodeDisk(dice),
    };
  }

  /** Ends after a moment, a while or long. */
  #later(dice: Dice, maxMs: number, then: () => void): void {
    const delay = this.#outagePace * dice.pick([0.05, 0.3, 1]) * dice.whole(1, maxMs);
    this.#world.time.after(delay, () => {
      if (!this.#faults.isOver) then();
    });
  }

  #machine(dice: Dice): Machine {
    return dice.pick(this.#world.machines);
  }

  #link(dice: Dice): Link {
    return dice.pick([...this.#world.links.values()]);
  }

  #headDown(dice: Dice, how: () => void): void {
    how();
    this.#later(dice, 30_000, () => this.#world.host.boot());
  }

  #crashAtCommit(dice: Dice): void {
    const { host } = this.#world;
    host.commitCrash = dice.pick(['before', 'after']);
    this.#later(dice, 20_000, () => host.boot());
  }

  #fillDisk(dice: Dice): void {
    const { host, note } = this.#world;
    note('the disk of the head is full');
    host.disk.failure = new StoreFailure('full', 'No space left on device.');
    this.#later(dice, 10_000, () => {
      note('the disk of the head has room again');
      host.disk.failure = null;
    });
  }

  #failSyncs(dice: Dice): void {
    const { host, note } = this.#world;
    note('the disk of the head reports errors');
    host.syncFailures = 0.5;
    this.#later(dice, 3000, () => {
      host.syncFailures = 0;
    });
  }

  #agentDown(dice: Dice): void {
    const machine = this.#machine(dice);
    if (dice.happens(0.2)) machine.stopAgent();
    else machine.crashAgent();
    this.#later(dice, 20_000, () => machine.startAgent());
  }

  #crashInJournal(dice: Dice): void {
    const machine = this.#machine(dice);
    machine.journalCrash = dice.pick(['before', 'torn', 'after']);
    this.#later(dice, 20_000, () => machine.startAgent());
  }

  #powerCut(dice: Dice): void {
    const machine = this.#machine(dice);
    const wipe = dice.happens(0.15);
    machine.powerOff(wipe);
    if (wipe) this.#world.onWiped(machine);
    this.#later(dice, 60_000, () => machine.powerOn());
  }

  #cutLink(dice: Dice): void {
    const { note } = this.#world;
    const link = this.#link(dice);
    const how = dice.pick(['stall', 'vanish'] as const);
    const ways = dice.pick([
      ['to_head'],
      ['to_agent'],
      ['to_head', 'to_agent'],
      ['to_head', 'to_agent'],
    ] as const);
    note(`${link.node} is cut off: ${ways.join(' and ')} ${how}`);
    for (const way of ways) link.cut(way, how);
    this.#later(dice, 90_000, () => {
      note(`${link.node} can be reached again`);
      link.heal();
    });
  }

  #slowLink(dice: Dice): void {
    const link = this.#link(dice);
    const max = dice.pick([50, 500, 4000]);
    this.#world.note(`${link.node} is slow: up to ${max} ms`);
    link.delayMs = { min: max / 20, max };
    this.#later(dice, 30_000, () => {
      link.delayMs = { min: 0.2, max: 2 };
    });
  }

  #changeCard(dice: Dice): void {
    const { machines, note } = this.#world;
    const able = machines.filter(({ cards }) => cards !== null);
    if (able.length === 0) return;
    const machine = dice.pick(able);
    note(`${machine.name}: ${machine.cards?.change(dice)}`);
  }

  #jumpClock(dice: Dice): void {
    const { host, note } = this.#world;
    const clocks = [host.skew, ...this.#world.machines.map(({ skew }) => skew)];
    const skew = dice.pick(clocks);
    const jumpMs = dice.whole(-20_000, 20_000);
    note(`somebody sets a clock by ${jumpMs} ms`);
    skew.wallMs += jumpMs;
  }

  /** Somebody takes one clock for another, sees it, and puts it right. */
  #misplaceClock(dice: Dice): void {
    const { host, machines, note } = this.#world;
    const skew = dice.pick([host.skew, host.skew, ...machines.map((one) => one.skew)]);
    const byMs = dice.pick([-86_400_000, 86_400_000, -7_200_000, 7_200_000]);
    note(`somebody sets a clock by ${byMs} ms`);
    skew.wallMs += byMs;
    skew.misplacedMs = (skew.misplacedMs ?? 0) + byMs;
    const putRight = (): void => {
      if (!this.#misplaced.delete(putRight)) return;
      note(`somebody puts it right, by ${-byMs} ms`);
      skew.wallMs -= byMs;
      skew.misplacedMs = (skew.misplacedMs ?? 0) - byMs;
    };
    this.#misplaced.add(putRight);
    this.#later(dice, 60_000, putRight);
  }

  #fillNodeDisk(dice: Dice): void {
    const { note } = this.#world;
    const machine = this.#machine(dice);
    // Without power nobody writes, and a machine that is new has to find room to begin with.
    if (!machine.isOn) return;
    note(`the disk of ${machine.name} is full`);
    machine.disk.fill(dice.pick([0, 3000, 1_000_000]));
    this.#later(dice, 60_000, () => {
      note(`the disk of ${machine.name} has room again`);
      machine.disk.isFull = false;
    });
  }

  #refuseForks(dice: Dice): void {
    const machine = this.#machine(dice);
    this.#world.note(`${machine.name} has no processes left`);
    machine.forkFailures = dice.pick([0.3, 1]);
    this.#later(dice, 15_000, () => {
      machine.forkFailures = 0;
    });
  }
}
