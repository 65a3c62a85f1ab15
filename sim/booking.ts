// What operators set aside during a run: reservations for users, and maintenance, made, changed and
// cancelled, and what users submit into reservations.

import type {
  ChangeReservation,
  WantedReservation,
} from '../src/kernel/machine/reservations/commands.ts';
import type { NodeName, UserName } from '../src/kernel/model/ids.ts';
import { type MaintenanceProgram, RUNNING_POLICIES } from '../src/kernel/model/maintenance.ts';
import type { Reservation, ReservedTime } from '../src/kernel/model/reservation.ts';
import type { Submission } from '../src/kernel/model/submission.ts';
import type { Dice } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Machine } from './machine.ts';
import { programOf, QUIET } from './plan.ts';
import { type Recurring, times } from './recurring.ts';
import type { Truth } from './truth.ts';
import type { Weather } from './weather.ts';

const GIB = 1024 ** 3;
/** Nobody here books for later than that, by a clock that is right. */
const BOOKED_AHEAD_MS = 300_000;

export interface BookingWorld {
  readonly client: Client;
  readonly machines: readonly Machine[];
  readonly truth: Truth;
  readonly pace: number;
  /** The head's wall clock. */
  readonly headNow: () => number;
}

export class Booking {
  readonly #world: BookingWorld;
  readonly #maintenances: string[] = [];
  #count = 0;

  constructor(world: BookingWorld) {
    this.#world = world;
  }

  /** Lets all that operators do with reservations and maintenance happen from now on. */
  start(recurring: Recurring, { reserveMs, maintenanceMs }: Weather): void {
    recurring.every('reserve', times(1.6, reserveMs), (dice) => this.#create(dice));
    recurring.every('reservation cancel', times(6, reserveMs), (dice) => this.#cancel(dice));
    recurring.every('reservation extend', times(8, reserveMs), (dice) => this.#extend(dice));
    recurring.every('reservation members', times(8, reserveMs), (dice) => this.#readmit(dice));
    recurring.every('maintenance', times(1.3, maintenanceMs), (dice) => this.#maintain(dice));
    recurring.every('maintenance cancel', times(4, maintenanceMs), (dice) => {
      const id = dice.pick([undefined, ...this.#maintenances]);
      if (id === undefined) return;
      this.#world.client.once({ kind: 'cancel_maintenance', id }, operator('alice'));
    });
  }

  #cancel(dice: Dice): void {
    const one = dice.pick([undefined, ...this.#ofUsers()]);
    if (one === undefined) return;
    const command = { kind: 'cancel_reservation', reservation: one.id } as const;
    this.#world.client.once(command, operator('bob'));
  }

  #extend(dice: Dice): void {
    const one = dice.pick([undefined, ...this.#ofUsers()]);
    const durationMs = dice.span(5000, 40_000);
    if (one !== undefined) this.#change(one, { request: { ...one.request, durationMs } });
  }

  /** Lets somebody else use it. */
  #readmit(dice: Dice): void {
    const one = dice.pick([undefined, ...this.#ofUsers()]);
    const users = [dice.pick(['alice', 'bob']) as UserName];
    if (one !== undefined) this.#change(one, { members: { users } });
  }

  #change({ id }: Reservation, change: Partial<ChangeReservation>): void {
    const command = { kind: 'change_reservation', reservation: id, ...change } as const;
    this.#world.client.once(command, operator('bob'));
  }

  #maintain(dice: Dice): void {
    const { client, machines } = this.#world;
    const nodes = machines.map(({ name }) => name).filter(() => dice.happens(0.4));
    const command = {
      kind: 'plan_maintenance',
      nodes: nodes.length === 0 ? [dice.pick(machines).name] : nodes,
      time: dice.happens(0.2) ? { kind: 'now' as const } : this.#drawTime(dice),
      durationMs: dice.span(4000, 30_000),
      running: dice.pick([...RUNNING_POLICIES]),
      warning: dice.happens(0.3) ? { leadMs: dice.span(1000, 10_000), signal: 10 } : null,
      program: dice.happens(0.5) ? drawProgram(dice) : null,
      reason: 'new disks',
    } as const;
    client.ask(command, operator('alice'), (result) => {
      if (!result.ok || result.value.kind !== 'maintenance_planned') return;
      this.#maintenances.push(result.value.id);
    });
  }

  /** What comes again would come for ever; what was booked by a wrong clock is nowhere near. */
  tidyUp(): void {
    const { client, truth } = this.#world;
    for (const { id, purpose, recurrence, slots } of truth.reservations.values()) {
      const isNear = slots.every((slot) => this.#isNear(slot));
      if (purpose === 'maintenance' && !isNear) {
        client.once({ kind: 'cancel_maintenance', id }, operator('alice'));
      } else if (purpose === 'users' && (recurrence !== null || !isNear)) {
        client.once({ kind: 'cancel_reservation', reservation: id }, operator('bob'));
      }
    }
  }

  #isNear({ from, until }: Reservation['slots'][number]): boolean {
    const { headNow, pace } = this.#world;
    const now = headNow();
    return from < now + pace * BOOKED_AHEAD_MS && until > now - pace * BOOKED_AHEAD_MS;
  }

  /**
   * What one submission asks for of the reservations: into one of them, if its submitter is lucky.
   */
  wishes(dice: Dice): Partial<Submission> {
    const known = this.#ofUsers();
    if (known.length === 0 || dice.happens(0.6)) return {};
    const { id, name, request } = dice.pick(known);
    const walltimeMs = dice.whole(1000, Math.max(1000, request.durationMs));
    const size = dice.happens(0.7)
      ? { nodeCount: 1, cpuCount: 1, memoryBytes: 0, gpuCount: 0 }
      : {};
    return { ...size, walltimeMs, reservation: dice.pick([id, name]) };
  }

  #create(dice: Dice): void {
    const { client } = this.#world;
    this.#count += 1;
    const request = this.#drawRequest(dice);
    const users = dice.pick([['alice'], ['bob'], ['alice', 'bob']]) as UserName[];
    const from = this.#world.headNow() + 20_000;
    const starts = [from, from + 60_000, from + 120_000];
    const recurrence = { cron: '* * * * *', zone: 'UTC', starts };
    const command = {
      kind: 'create_reservation',
      name: dice.happens(0.5) ? `b${this.#count}` : null,
      members: { users, groups: [], jobs: this.#drawJobs(dice) },
      request,
      recurrence: dice.happens(0.1) ? recurrence : null,
    } as const;
    client.once(command, operator('bob'));
  }

  #drawRequest(dice: Dice): WantedReservation {
    const { machines } = this.#world;
    const isNamed = dice.happens(0.4);
    const perNode = { cpuCount: dice.whole(1, 2), memoryBytes: dice.whole(0, 1) * GIB };
    return {
      time: dice.happens(0.3) ? { kind: 'now' } : this.#drawTime(dice),
      durationMs: dice.span(4000, 40_000),
      nodeNames: isNamed ? [dice.pick(machines).name] : ([] as NodeName[]),
      nodeCount: isNamed ? 1 : dice.whole(1, Math.min(2, machines.length)),
      perNode: dice.happens(0.4) ? 'whole' : { ...perNode, gpuCount: 0, counted: {} },
      labels: [],
      force: dice.happens(0.3),
    };
  }

  #drawTime(dice: Dice): ReservedTime {
    const now = this.#world.headNow();
    if (dice.happens(0.6)) return { kind: 'fixed', from: now + dice.span(500, 40_000) };
    return { kind: 'flexible', notBefore: now + 100, until: now + dice.span(20_000, 90_000) };
  }

  #drawJobs(dice: Dice) {
    const { truth } = this.#world;
    const open = [...truth.jobs.values()].filter(({ outcome }) => outcome === null);
    return open.length > 0 && dice.happens(0.2) ? [dice.pick(open).id] : [];
  }

  #ofUsers(): Reservation[] {
    const { truth } = this.#world;
    return [...truth.reservations.values()].filter(({ purpose }) => purpose === 'users');
  }
}

function drawProgram(dice: Dice): MaintenanceProgram {
  const plan = {
    ...QUIET,
    runMs: dice.happens(0.1) ? null : dice.waitMs(4000),
    code: dice.happens(0.3) ? 2 : 0,
    ignoresTerm: dice.happens(0.2),
  };
  return { program: programOf(plan), account: null, restarts: dice.happens(0.15) };
}
