// What operators set aside during a run: reservations for users, and maintenance, made, changed and
// cancelled, and what users submit into reservations.

import type { ReservationWish } from '../src/core/controller/commands.ts';
import type { NodeName, UserName } from '../src/core/model/ids.ts';
import { type MaintenanceProgram, RUNNING_POLICIES } from '../src/core/model/maintenance.ts';
import type { Reservation, ReservedTime } from '../src/core/model/reservation.ts';
import type { Submission } from '../src/core/model/submission.ts';
import type { Dice } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Machine } from './machine.ts';
import { programOf, QUIET } from './plan.ts';
import type { Truth } from './truth.ts';

const GIB = 1024 ** 3;

export interface BookingWorld {
  readonly dice: Dice;
  readonly client: Client;
  readonly machines: readonly Machine[];
  readonly truth: Truth;
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

  /** One wish about reservations. */
  reserve(): void {
    const { dice, client } = this.#world;
    const known = this.#ofUsers();
    const actor = operator('bob');
    if (known.length === 0 || dice.happens(0.6)) return this.#create();
    const { id, request } = dice.pick(known);
    if (dice.happens(0.4)) {
      client.once({ kind: 'cancel_reservation', reservation: id }, actor);
      return;
    }
    const change = dice.happens(0.5)
      ? { request: { ...request, durationMs: dice.whole(5000, 40_000) } }
      : { members: { users: [dice.pick(['alice', 'bob']) as UserName] } };
    client.once({ kind: 'change_reservation', reservation: id, ...change }, actor);
  }

  /** One wish about maintenance. */
  maintain(): void {
    const { dice, client, machines } = this.#world;
    const actor = operator('alice');
    if (this.#maintenances.length > 0 && dice.happens(0.25)) {
      const id = dice.pick(this.#maintenances);
      client.once({ kind: 'cancel_maintenance', id }, actor);
      return;
    }
    const nodes = machines.map(({ name }) => name).filter(() => dice.happens(0.4));
    const command = {
      kind: 'plan_maintenance',
      nodes: nodes.length === 0 ? [dice.pick(machines).name] : nodes,
      time: dice.happens(0.2) ? { kind: 'now' as const } : this.#drawTime(),
      durationMs: dice.whole(4000, 30_000),
      running: dice.pick([...RUNNING_POLICIES]),
      warning: dice.happens(0.3) ? { leadMs: dice.whole(1000, 10_000), signal: 10 } : null,
      program: dice.happens(0.5) ? this.#drawProgram() : null,
      reason: 'new disks',
    } as const;
    client.ask(command, actor, (result) => {
      if (!result.ok || result.value.kind !== 'maintenance_planned') return;
      this.#maintenances.push(result.value.id);
    });
  }

  /** What comes again would come for ever. */
  tidyUp(): void {
    for (const { id, recurrence } of this.#ofUsers()) {
      if (recurrence === null) continue;
      this.#world.client.once({ kind: 'cancel_reservation', reservation: id }, operator('bob'));
    }
  }

  /** Of one submission: into one of the reservations, if its submitter is lucky. */
  wishes(): Partial<Submission> {
    const { dice } = this.#world;
    const known = this.#ofUsers();
    if (known.length === 0 || dice.happens(0.6)) return {};
    const { id, name, request } = dice.pick(known);
    const walltimeMs = dice.whole(1000, Math.max(1000, request.durationMs));
    const size = dice.happens(0.7)
      ? { nodeCount: 1, cpuCount: 1, memoryBytes: 0, gpuCount: 0 }
      : {};
    return { ...size, walltimeMs, reservation: dice.pick([id, name]) };
  }

  #create(): void {
    const { dice, client } = this.#world;
    this.#count += 1;
    const request = this.#drawRequest();
    const users = dice.pick([['alice'], ['bob'], ['alice', 'bob']]) as UserName[];
    const from = this.#world.headNow() + 20_000;
    const starts = [from, from + 60_000, from + 120_000];
    const recurrence = { cron: '* * * * *', zone: 'UTC', starts };
    const command = {
      kind: 'create_reservation',
      name: dice.happens(0.5) ? `b${this.#count}` : null,
      members: { users, groups: [], jobs: this.#drawJobs() },
      request,
      recurrence: dice.happens(0.1) ? recurrence : null,
    } as const;
    client.once(command, operator('bob'));
  }

  #drawRequest(): ReservationWish {
    const { dice, machines } = this.#world;
    const isNamed = dice.happens(0.4);
    const perNode = { cpuCount: dice.whole(1, 2), memoryBytes: dice.whole(0, 1) * GIB };
    return {
      time: dice.happens(0.3) ? 'now' : this.#drawTime(),
      durationMs: dice.whole(4000, 40_000),
      nodeNames: isNamed ? [dice.pick(machines).name] : ([] as NodeName[]),
      nodeCount: isNamed ? 1 : dice.whole(1, Math.min(2, machines.length)),
      perNode: dice.happens(0.4) ? 'whole' : { ...perNode, gpuCount: 0, counted: {} },
      labels: [],
      force: dice.happens(0.3),
    };
  }

  #drawTime(): ReservedTime {
    const { dice } = this.#world;
    const now = this.#world.headNow();
    if (dice.happens(0.6)) return { kind: 'fixed', from: now + dice.whole(500, 40_000) };
    return { kind: 'flexible', notBefore: now + 100, until: now + dice.whole(20_000, 90_000) };
  }

  #drawProgram(): MaintenanceProgram {
    const { dice } = this.#world;
    const plan = {
      ...QUIET,
      runMs: dice.happens(0.1) ? null : dice.waitMs(4000),
      code: dice.happens(0.3) ? 2 : 0,
      ignoresTerm: dice.happens(0.2),
    };
    return { program: programOf(plan), account: null, restarts: dice.happens(0.15) };
  }

  #drawJobs() {
    const { dice, truth } = this.#world;
    const open = [...truth.jobs.values()].filter(({ outcome }) => outcome === null);
    return open.length > 0 && dice.happens(0.2) ? [dice.pick(open).id] : [];
  }

  #ofUsers(): Reservation[] {
    const { truth } = this.#world;
    return [...truth.reservations.values()].filter(({ purpose }) => purpose === 'users');
  }
}
