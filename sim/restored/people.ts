// What people want of a head whose disk is put back: jobs, arrays and jobs for a site, each under a
// name of its own; and what operators set aside.

import type { Actor, Role } from '../../src/kernel/model/actor.ts';
import type { NodeName, UserName } from '../../src/kernel/model/ids.ts';
import type { Submission } from '../../src/kernel/model/submission.ts';
import type { Streams } from '../chance.ts';
import type { Time } from '../clock.ts';
import type { Site } from '../foreign/site.ts';
import type { HeadHost } from '../head-host.ts';
import type { Machine } from '../machine.ts';
import { programOf, QUIET } from '../plan.ts';
import { Recurring } from '../recurring.ts';
import type { RestoredJudge } from './judge.ts';
import type { RestoredWeather } from './weather.ts';

export const ADMIN = actor('root', 'admin');

export interface RestoredPeopleWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly host: HeadHost;
  readonly weather: RestoredWeather;
  readonly machines: readonly Machine[];
  readonly site: Site | null;
  readonly judge: RestoredJudge;
  /** The head's wall clock. */
  readonly headNow: () => number;
  readonly note: (text: string) => void;
}

/** No job runs as long. */
const WALLTIME_MS = 60_000;

export class RestoredPeople {
  readonly #world: RestoredPeopleWorld;
  readonly #recurring: Recurring;
  #count = 0;

  constructor(world: RestoredPeopleWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  start(): void {
    const { weather, site, machines } = this.#world;
    this.#recurring.every('reserve', weather.reserveMs, (dice) => {
      const durationMs = dice.whole(2000, 15_000);
      const time = {
        kind: 'fixed',
        from: this.#world.headNow() + dice.whole(500, 15_000),
      } as const;
      const size = { nodeCount: 1, perNode: 'whole', labels: ['!system=simulated'] } as const;
      const request = { time, durationMs, nodeNames: [], ...size, force: dice.happens(0.5) };
      const members = { users: ['alice' as UserName], groups: [], jobs: [] };
      const of = { name: null, members, request, recurrence: null };
      this.#world.host.execute({ kind: 'create_reservation', ...of }, ADMIN, () => undefined);
    });
    this.#recurring.every('maintain', weather.maintMs, (dice) => {
      const members = (site?.system.nodes ?? []).map(({ name }) => `${name}.${site?.name}`);
      const node = dice.pick([...machines.map((one) => one.name), ...members]) as NodeName;
      this.#maintain(node, dice.whole(3000, 15_000), dice.happens(0.5));
    });
    this.#endPrograms();
    this.#recurring.every('gift', site === null ? null : 6000, (dice) => {
      const size = { nodeCount: 1, cpuCount: 1, walltimeMs: WALLTIME_MS, code: dice.pick([0, 1]) };
      const runMs = dice.pick([500, 5000]);
      site?.system.submit({
        name: 'their job',
        owner: dice.pick(['alice', 'bob']),
        ...size,
        runMs,
      });
    });
  }

  stop(): void {
    this.#recurring.stop();
    this.#world.site?.gateway.boot();
  }

  /** Somebody ends the gateway of the site, or an agent, and starts it again. */
  #endPrograms(): void {
    const { time, weather, site, machines } = this.#world;
    this.#recurring.every('agent ends', weather.agentCrashMs, (dice) => {
      const machine = dice.pick(machines);
      machine.crashAgent();
      // Sooner than it counts as silent.
      time.after(dice.whole(100, 2000), () => machine.startAgent());
    });
    this.#recurring.every('gateway ends', weather.gatewayCrashMs, (dice) => {
      site?.gateway.crash();
      time.after(dice.whole(100, 6000), () => site?.gateway.boot());
    });
  }

  submit(): void {
    const { judge, host, note, streams } = this.#world;
    const dice = streams.of('jobs');
    const name = `j${judge.codes.size + 1}`;
    const code = dice.pick([0, 0, 3]);
    const runMs = dice.pick([50, 3000, 20_000]);
    const owner = actor(dice.pick(['alice', 'bob']), 'user');
    const submission = {
      name,
      program: programOf({ ...QUIET, runMs, code, name }),
      ...this.#wishes(),
    };
    const command = { kind: 'submit_job', submission, key: name, retired: {} } as const;
    judge.codes.set(name, code);
    host.execute(command, owner, (result) => {
      note(`${name}: ${result.ok ? 'accepted' : result.error.code}`);
      if (!result.ok || result.value.kind !== 'submitted') return;
      judge.accepted(name, result.value.jobId);
    });
  }

  #wishes(): Partial<Submission> {
    const { streams, weather, site } = this.#world;
    const dice = streams.of('wishes');
    const isArray = dice.happens(weather.arrays);
    const indices = `0-${dice.whole(1, 4)}`;
    const runningMax = dice.pick([null, 1, 2]);
    const limit = runningMax === null ? {} : { runningMax };
    const walltimeMs = dice.happens(0.7) ? WALLTIME_MS : null;
    const isForSite = dice.happens(0.4) && site !== null;
    return {
      ...(isArray ? { array: { indices, ...limit } } : {}),
      ...(weather.reserveMs === null && weather.maintMs === null ? {} : { walltimeMs }),
      labels: [isForSite ? `site=${site?.name}` : '!system=simulated'],
    };
  }

  #maintain(node: NodeName, durationMs: number, hasProgram: boolean): void {
    this.#count += 1;
    const name = `program ${this.#count}`;
    const program = { program: programOf({ ...QUIET, name }), account: null, restarts: false };
    const how = { running: 'wait', warning: null, reason: 'new disks' } as const;
    const when = { time: { kind: 'now' }, durationMs } as const;
    const of = { nodes: [node], ...when, ...how, program: hasProgram ? program : null };
    this.#world.host.execute({ kind: 'plan_maintenance', ...of }, ADMIN, ({ ok }) => {
      if (ok) this.#world.note(`${node} is to be maintained`);
    });
  }
}

export function actor(name: string, role: Role): Actor {
  // Every machine of the simulator has these users under ids of its own.
  return { kind: 'user', name: name as UserName, uid: null, role };
}
