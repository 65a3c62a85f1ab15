// What people want of other clusters: jobs that they give to us for a site, and all that users and
// operators of a site do there behind our back.

import type { JobId, NodeName, TaskPlace } from '../../src/kernel/model/ids.ts';
import type { Submission } from '../../src/kernel/model/submission.ts';
import type { Dice, Streams } from '../chance.ts';
import { type Client, operator } from '../client.ts';
import type { Time } from '../clock.ts';
import { type Plan, programOf, QUIET } from '../plan.ts';
import { Recurring, times } from '../recurring.ts';
import type { JobTruth, Truth } from '../truth.ts';
import type { Site } from './site.ts';
import type { ForeignWeather } from './weather.ts';

export interface PeopleWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly truth: Truth;
  readonly sites: readonly Site[];
  readonly weather: ForeignWeather;
  readonly note: (text: string) => void;
}

/** Jobs for our own node: whatever sites do, they start at once. */
const PROBE_MS = 4000;
const OWNERS = ['alice', 'bob', 'carol'] as const;

export class People {
  /** Submissions that were answered with a job, by their names. */
  readonly accepted = new Map<string, JobId>();
  readonly unanswered = new Set<string>();
  readonly #world: PeopleWorld;
  #recurring: Recurring;
  readonly #maintenances: string[] = [];
  #count = 0;

  constructor(world: PeopleWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  start(): void {
    const { weather, sites } = this.#world;
    const { submissionMs, commandMs, giftMs, meddleMs, arrayMs, wishMs } = weather;
    this.#probe(PROBE_MS);
    for (const site of sites) {
      const own = (word: string): string => `${word} ${site.name}`;
      this.#recurring.every(own('submit'), submissionMs, (dice) => {
        this.#submit(jobFor(site, dice), 'for');
      });
      this.#recurring.every(own('gift'), giftMs, (dice) => give(site, dice));
      this.#recurring.every(own('meddle'), meddleMs, (dice) => meddle(site, dice));
      this.#recurring.every(own('wish'), wishMs, (dice) => giveWish(site, dice));
      this.#recurring.every(own('array'), arrayMs, (dice) => giveArray(site, dice));
      this.#recurring.every(own('call off'), arrayMs, (dice) => callOff(site, dice));
    }
    for (const site of sites.filter(({ mode }) => mode === 'steer')) {
      this.#recurring.every(`maintain ${site.name}`, weather.maintMs, (dice) => {
        this.#maintain(site, dice);
      });
      this.#recurring.every(`drain ${site.name}`, times(2, weather.maintMs), (dice) => {
        const node = dice.pick(site.system.nodes);
        site.system.drain(node, node.wish === null ? 'broken fan' : null);
      });
    }
    for (const kind of ['cancel_task', 'cancel_task', 'requeue_task'] as const) {
      this.#recurring.every(kind, 3 * commandMs, (dice) => {
        this.#commandJob(dice, (place) => ({ kind, place }));
      });
    }
    for (const kind of ['hold_job', 'release_job'] as const) {
      this.#recurring.every(kind, 4 * commandMs, (dice) => {
        this.#commandJob(dice, ({ jobId }) => ({ kind, jobId }));
      });
    }
  }

  stop(): void {
    this.#recurring.stop();
  }

  /** From now on nothing but jobs for our own node. */
  probe(everyMs: number): void {
    this.#recurring = new Recurring(this.#world.time, this.#world.streams.under('probes'));
    this.#probe(everyMs);
  }

  #probe(everyMs: number): void {
    this.#recurring.every('probe', everyMs, (dice) => this.#submit(probe(dice), 'probe'));
  }

  /** Ends what would never end by itself, and what nobody can know the end of. */
  tidyUp(): void {
    const { client, truth, sites } = this.#world;
    for (const site of sites) site.lookAgain();
    // A site that refuses jobs three times gets no more until an operator has looked.
    for (const node of truth.drained) client.once({ kind: 'undrain_node', node }, operator('bob'));
    for (const job of this.#open()) {
      client.once({ kind: 'release_job', jobId: job.id }, operator('alice'));
      const { name } = job.spec;
      const isEndless = name.endsWith('endless');
      if (!isEndless && (job.spec.foreign !== undefined || !this.#isSilentlyOver(job))) continue;
      client.once(
        { kind: 'cancel_task', place: { jobId: job.id, index: null } },
        operator('alice'),
      );
    }
  }

  #maintain({ name, system }: Site, dice: Dice): void {
    const { client } = this.#world;
    const alice = operator('alice');
    const [earlier] = [...this.#maintenances].slice(-1);
    if (earlier !== undefined && dice.happens(0.15)) {
      return client.once({ kind: 'cancel_maintenance', id: earlier }, alice);
    }
    const node = `${dice.pick(system.nodes).name}.${name}` as NodeName;
    const plan = { ...QUIET, runMs: dice.whole(500, 4000), code: dice.happens(0.2) ? 1 : 0 };
    const program = { program: programOf(plan), account: null, restarts: false };
    const command = {
      kind: 'plan_maintenance',
      nodes: [node],
      time: { kind: 'now' },
      warning: null,
      durationMs: dice.whole(10_000, 40_000),
      running: dice.pick(['wait', 'requeue', 'kill'] as const),
      program: dice.happens(0.5) ? program : null,
      reason: 'new disks',
    } as const;
    client.ask(command, alice, (result) => {
      if (!result.ok || result.value.kind !== 'maintenance_planned') return;
      this.#maintenances.push(result.value.id);
    });
  }

  /**
   * True when its script was killed and has left no word, and its site has none: it keeps no
   * records, or its gateway never heard by what id to ask for them.
   */
  #isSilentlyOver({ id }: JobTruth): boolean {
    const { sites, weather } = this.#world;
    return sites.some(({ system, disk }) =>
      [...system.jobs.values()].some(({ launch, state, exit }) => {
        if (launch === null || launch.epochId.split(/[[#]/)[0] !== String(id)) return false;
        const isDumb = !weather.hasAccounting || !disk.isNamed(launch.directory);
        return state === 'ended' && exit?.signal === 9 && isDumb;
      }),
    );
  }

  #submit(submission: Submission, word: string): void {
    const { client, note } = this.#world;
    this.#count += 1;
    const isEndless = submission.name === 'endless';
    const name = `${word}${this.#count}${isEndless ? '-endless' : ''}`;
    this.unanswered.add(name);
    const spec = { ...submission, name };
    const keys = { key: name, stepKey: name, retired: {} };
    const command = { kind: 'submit_job', submission: spec, ...keys } as const;
    client.ask(command, operator('alice'), (result) => {
      this.unanswered.delete(name);
      note(`${name}: ${result.ok ? JSON.stringify(result.value) : result.error.code}`);
      if (result.ok && result.value.kind === 'submitted') {
        this.accepted.set(name, result.value.jobId);
      }
    });
  }

  #open(): JobTruth[] {
    return [...this.#world.truth.jobs.values()].filter(({ outcome }) => outcome === null);
  }

  #commandJob(dice: Dice, make: (place: TaskPlace) => Parameters<Client['once']>[0]): void {
    const job = dice.pick([undefined, ...this.#open()]);
    if (job === undefined) return;
    this.#world.client.once(make({ jobId: job.id, index: null }), operator('alice'));
  }
}

function probe(dice: Dice): Submission {
  const plan = { ...QUIET, runMs: dice.whole(50, 1000) };
  return { program: programOf(plan), cpuCount: 1, memoryBytes: 0, labels: ['simulated'] };
}

function jobFor(site: Site, dice: Dice): Submission {
  const isEndless = dice.happens(0.06);
  const plan: Plan = {
    ...QUIET,
    runMs: isEndless ? null : dice.waitMs(dice.pick([50, 3000, 20_000])),
    code: dice.happens(0.2) ? dice.whole(1, 3) : 0,
    signal: dice.happens(0.05) ? 11 : null,
    ignoresTerm: dice.happens(0.2),
  };
  const kind = dice.pick(['requeue', 'wait'] as const);
  return {
    program: programOf(plan),
    name: isEndless ? 'endless' : 'job',
    cpuCount: dice.whole(1, 2),
    memoryBytes: 0,
    labels: [`site=${site.name}`],
    directory: dice.happens(0.5) ? { kind: 'shared', path: '/shared' } : { kind: 'private' },
    walltimeMs: dice.happens(0.3) ? dice.whole(2000, 30_000) : null,
    onNodeLoss: { kind },
    requeue: !dice.happens(0.2),
    retriesMax: dice.pick([0, 0, 1]),
    ...(dice.happens(0.1) ? { array: { indices: `0-${dice.whole(1, 3)}` } } : {}),
  };
}

/** Somebody submits there as always. */
function give({ system }: Site, dice: Dice): void {
  const job = system.submit({
    name: 'their job',
    owner: dice.pick(OWNERS),
    cpuCount: dice.whole(1, 2),
    nodeCount: Math.min(system.nodes.length, dice.pick([1, 1, 1, 2])),
    walltimeMs: dice.happens(0.7) ? dice.whole(2000, 60_000) : null,
    runMs: dice.waitMs(dice.pick([500, 5000, 20_000])),
    code: dice.happens(0.2) ? 1 : 0,
  });
  if (dice.happens(0.1)) system.hold(job, true);
}

function giveArray({ system }: Site, dice: Dice): void {
  const job = system.submit({
    name: 'their array',
    owner: dice.pick(OWNERS),
    cpuCount: dice.whole(1, 2),
    nodeCount: 1,
    elements: dice.whole(2, 6),
    walltimeMs: dice.happens(0.7) ? 30_000 : null,
    runMs: dice.waitMs(dice.pick([500, 5000])),
    code: dice.happens(0.2) ? 1 : 0,
  });
  if (dice.happens(0.1)) system.hold(job, true);
}

/** A job, or an array, that is to run where its user says. */
function giveWish({ system }: Site, dice: Dice): void {
  const names = system.nodes.map(({ name }) => name);
  const other = dice.pick([...names, null]);
  const only = names.length === 1 || other === null ? names : names.filter((one) => one !== other);
  system.submit({
    name: 'their wish',
    owner: dice.pick(OWNERS),
    cpuCount: dice.whole(1, 2),
    only,
    nodeCount: Math.min(only.length, dice.pick([1, 1, 2])),
    ...(dice.happens(0.3) ? { elements: dice.whole(2, 4), nodeCount: 1 } : {}),
    walltimeMs: dice.happens(0.7) ? dice.whole(2000, 60_000) : null,
    runMs: dice.waitMs(dice.pick([500, 5000])),
    code: dice.happens(0.2) ? 1 : 0,
  });
}

/** One of an array, which may run; or one that waits is held, and so is one of its own. */
function callOff({ system }: Site, dice: Dice): void {
  const arrays = [...system.jobs.values()].filter(({ waits }) => (waits?.size ?? 0) > 0);
  const array = dice.pick([undefined, ...arrays]);
  const index = dice.pick([...(array?.waits ?? [])]);
  if (array === undefined || array.state === 'ended') return;
  if (dice.happens(0.6)) system.cancel(`${array.id}.${index}`);
  else system.hold(system.split(array, index), true);
}

/**
 * Holds, releases and cancels whatever is there, ours too; an operator starts something by hand.
 */
function meddle({ system, mode }: Site, dice: Dice): void {
  const open = [...system.jobs.values()].filter(({ state }) => state !== 'ended');
  const job = dice.pick([undefined, ...open]);
  const what = dice.pick(['hold', 'release', 'release', 'cancel', 'start'] as const);
  if (job === undefined) return;
  if (what === 'cancel') system.cancel(job.id);
  else if (what !== 'start') system.hold(job, what === 'hold');
  else if (mode === 'steer') {
    const names = system.nodes.map(({ name }) => name);
    system.start(job.id, names.slice(0, job.nodeCount), 'operator');
  }
}
