// What is asked of the cluster and what is done to it, drawn from a seed: a stream for jobs, one
// for reservations, one for each host and for the head.

import { type Dice, Streams } from '../../sim/chance.ts';
import { CPUS } from '../../test/e2e/support/hosted-cluster.ts';
import type { Outage, Work } from './evidence.ts';
import type { Fault } from './faults.ts';
import { SitePlan } from './site/plan.ts';

const LIMIT_MS = 12_000;
/** Time limit of the jobs that are meant to run into it. */
const SHORT_LIMIT_MS = 3000;
const MEMBER_LIMIT_MS = 4000;
export const SLOT_MS = 8000;

export class Plan {
  readonly #streams: Streams;
  readonly site: SitePlan;
  #made = 0;

  constructor(seed: number) {
    this.#streams = new Streams(seed);
    this.site = new SitePlan(this.#streams);
  }

  /** The next job, and how long after the one before it comes. */
  work(everyMs: number): { readonly afterMs: number; readonly work: Work } {
    const dice = this.#streams.of('jobs');
    this.#made += 1;
    const work = { ...drawWork(dice), key: `w${this.#made}` };
    return { afterMs: dice.waitMs(everyMs), work };
  }

  /** A job of a reservation. */
  member(reservation: string): Work {
    const dice = this.#streams.of('members');
    this.#made += 1;
    return {
      ...plain(dice),
      key: `w${this.#made}`,
      reservation,
      limitMs: MEMBER_LIMIT_MS,
      partition: 'default',
      cpuCount: 1,
      beats: dice.whole(5, 25),
    };
  }

  /** A task for the steered site, which is silent only while its gateway is. */
  there(at: string, of: Partial<Work>): Work {
    const dice = this.#streams.of('there');
    this.#made += 1;
    const key = `w${this.#made}`;
    const plainly = {
      partition: 'default',
      onLoss: 'wait',
      requeue: true,
      stubborn: false,
    } as const;
    return { ...plain(dice), ...plainly, ...of, at, key };
  }

  reservation(everyMs: number): WorkRequest {
    const dice = this.#streams.of('reservations');
    const hostCount = dice.pick([1, 1, 2]);
    const whole = dice.happens(0.5);
    return { afterMs: dice.waitMs(everyMs), hostCount, cpus: whole ? CPUS : 2, whole };
  }

  fault(host: string, everyMs: number): Fault {
    const dice = this.#streams.of(host);
    const afterMs = 1000 + dice.waitMs(everyMs);
    const [how, parts] = dice.pick(host === 'head' ? OF_HEAD : OF_NODE);
    // Half of them shorter than the head's patience with a node, half of them longer.
    const forMs = dice.happens(0.5) ? dice.whole(200, 2000) : dice.whole(3000, 9000);
    return { afterMs, how, parts, forMs: host === 'head' ? Math.ceil(forMs / 2) : forMs };
  }
}

export interface WorkRequest {
  readonly afterMs: number;
  readonly hostCount: number;
  readonly cpus: number;
  readonly whole: boolean;
}

type Kind = readonly [Outage['how'], Outage['parts']];

const OF_NODE: readonly Kind[] = [
  ['kill', ['agent']],
  ['kill', ['launcher']],
  ['kill', ['agent', 'launcher']],
  ['stop', ['agent']],
  ['stop', ['launcher']],
  ['stop', ['agent', 'launcher']],
  ['cut', ['network']],
  ['cut', ['network']],
  ['off', ['agent', 'launcher']],
  ['clone', ['identity']],
  ['clone', ['identity', 'network']],
];
const OF_HEAD: readonly Kind[] = [
  ['kill', ['head']],
  ['kill', ['head']],
  ['stop', ['head']],
  ['cut', ['network']],
  ['restore', ['head', 'store']],
];

function drawWork(dice: Dice): Omit<Work, 'key'> {
  const base = plain(dice);
  const kind = dice.fraction();
  if (kind < 0.15) return { ...base, arraySize: dice.whole(2, 6), beats: dice.whole(3, 15) };
  if (kind < 0.35) {
    const wide = { nodeCount: dice.pick([2, 2, 3]), processesPerNode: dice.whole(1, 2) };
    return { ...base, ...wide, cpuCount: dice.whole(1, 2) };
  }
  if (kind < 0.43) return { ...base, beats: dice.whole(30, 60) };
  if (kind < 0.46) return { ...base, limitMs: SHORT_LIMIT_MS, beats: 100 };
  if (kind < 0.5) return { ...base, exitCode: 3, retriesMax: dice.whole(0, 1) };
  if (kind < 0.56) return { ...base, fileBytes: dice.whole(1, 300_000) };
  // Short ones, whose places pass from one to the next.
  if (kind < 0.6) return { ...base, cpuCount: 1, arraySize: dice.whole(20, 60), beats: 1 };
  return base;
}

function plain(dice: Dice): Omit<Work, 'key'> {
  const partition = dice.pick([
    'default',
    'default',
    'default',
    'default',
    'back',
    'back',
    'urgent',
  ]);
  return {
    partition,
    arraySize: null,
    nodeCount: 1,
    processesPerNode: 1,
    cpuCount: partition === 'urgent' ? dice.whole(2, 4) : dice.pick([1, 1, 1, 2]),
    onLoss: dice.pick(['requeue', 'wait', 'lease']),
    requeue: !dice.happens(0.05),
    retriesMax: 0,
    limitMs: LIMIT_MS,
    beats: dice.whole(3, 25),
    exitCode: 0,
    stubborn: dice.happens(0.1),
    reservation: null,
    twice: dice.happens(0.1),
    fileBytes: null,
    at: null,
  };
}
