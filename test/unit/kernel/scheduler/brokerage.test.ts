// Which of several sites gets a task.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { LOOKS_PER_CYCLE_MAX } from '../../../../src/kernel/model/limits.ts';
import {
  DEFAULT_PARTITION,
  type PlacementRule,
  plainPartition,
  plainScheduling,
  SITE_PLACEMENTS,
} from '../../../../src/kernel/model/scheduling.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import { Queue } from '../../../../src/kernel/scheduler/line/queue.ts';
import {
  type Brokerage,
  compareOffers,
  NO_BROKERAGE,
  type Offer,
  type SiteStanding,
} from '../../../../src/kernel/scheduler/room/brokerage.ts';
import {
  entries,
  type JobWords,
  type NodeWords,
  planWords,
  snapshot,
} from '../../../support/snapshots.ts';

const HOUR = 3_600_000;
const QUIET: SiteStanding = {
  cpuCount: 4,
  cpusHeld: 0,
  runningCpuMs: 0,
  waitingCpuMs: 0,
  listedAt: 0,
};
const name = (text: string) => text as NodeName;

const SITES: readonly NodeWords[] = ['a', 'b', 'c'].map((site) => ({
  name: site,
  cpus: 4,
  memory: 100,
  labels: [`site=${site}`],
}));

function schedulingBy(placement: PlacementRule) {
  const partition = { ...plainPartition(DEFAULT_PARTITION, 'first_fit'), placement };
  return { ...plainScheduling('first_fit'), partitions: { [DEFAULT_PARTITION]: partition } };
}

function planned(
  placement: PlacementRule,
  jobs: readonly JobWords[],
  brokerage: Partial<Brokerage>,
  { nodes = SITES, inputs }: { nodes?: readonly NodeWords[]; inputs?: string } = {},
) {
  const scheduling = schedulingBy(placement);
  const queue = new Queue();
  for (const entry of entries(jobs)) {
    queue.add(inputs === undefined ? entry : { ...entry, inputs });
  }
  const known = { ...NO_BROKERAGE, ...brokerage };
  return plan({ ...snapshot(nodes, []), queue, scheduling, brokerage: known }, 0);
}

const manySites = (count: number): NodeWords[] =>
  Array.from({ length: count }, (_, at) => ({ name: `s${at}`, cpus: 4, memory: 100 }));

const standings = (of: Record<string, Partial<SiteStanding>>) =>
  new Map(Object.entries(of).map(([site, more]) => [name(site), { ...QUIET, ...more }]));

test('[A29] a gateway that has not spoken yet comes last, and a plain node waits for nothing', () => {
  const all = standings({ b: { cpusHeld: 4, runningCpuMs: HOUR }, c: { cpuCount: 0 } });
  const plain = { name: 'd', cpus: 4, memory: 100, labels: ['site=x'] };
  const nodes = [...SITES, plain];
  const { starts } = planned('least_wait', [{ cpus: 1 }], { standings: all }, { nodes });
  assert.deepEqual(
    starts[0]?.choice?.offers.map(({ node, waitMs, unknown }) => [node, waitMs, unknown]),
    [
      ['d', 0, undefined],
      ['b', HOUR / 4, undefined],
      ['a', Number.POSITIVE_INFINITY, 'unread'],
      ['c', Number.POSITIVE_INFINITY, undefined],
    ],
  );
});

test('[A29] neither price nor data leads to a site that may never start the task', () => {
  const prices = { a: 3, b: 1, c: 2 };
  const data = new Map([['hash', new Set([name('b')])]]);
  const silent = { cpuCount: 0, isSilent: true } as const;
  const others = (of: Record<string, Partial<SiteStanding>>) => standings({ a: {}, ...of });
  for (const all of [
    others({ b: { cpuCount: 0 }, c: {} }),
    others({ b: silent, c: {} }),
    others({ c: {} }),
  ]) {
    const known = { prices, data, standings: all };
    assert.equal(planWords(planned('cheapest', [{ cpus: 1 }], known)), '1@c');
    assert.equal(planWords(planned('near_data', [{ cpus: 1 }], known, { inputs: 'hash' })), '1@c');
  }
  const jobs = [{ cpus: 3 }, { cpus: 3 }, { cpus: 3 }];
  const all = others({ b: silent, c: silent });
  const full = planned('cheapest', jobs, { prices, standings: all });
  assert.equal(planWords(full), '1@a 2@b 3@c', 'where nothing else has room');
  assert.equal(full.starts[1]?.choice?.offers[0]?.unknown, 'silent');
});

test('[A29] a task goes where the least wait is, by the queue of the site itself', () => {
  const all = standings({
    a: { cpusHeld: 4, runningCpuMs: 4 * HOUR, waitingCpuMs: 8 * HOUR },
    b: { cpusHeld: 4, runningCpuMs: 4 * HOUR },
    c: { cpusHeld: 4, runningCpuMs: 4 * HOUR, waitingCpuMs: HOUR },
  });
  const { starts } = planned('least_wait', [{ cpus: 1 }], { standings: all });
  assert.deepEqual(starts[0]?.choice, {
    rule: 'least_wait',
    offers: [
      { node: 'b', waitMs: HOUR, price: 0, hasData: false },
      { node: 'c', waitMs: 1.25 * HOUR, price: 0, hasData: false },
      { node: 'a', waitMs: 3 * HOUR, price: 0, hasData: false },
    ],
  });
});

test('[A29] what this cycle has given to a site counts: tasks are spread by their waits', () => {
  const all = standings({ a: { cpusHeld: 2, runningCpuMs: HOUR }, b: { cpusHeld: 3 }, c: {} });
  const jobs = Array.from({ length: 8 }, () => ({ cpus: 1, time: HOUR }));
  const words = planWords(planned('least_wait', jobs, { standings: all }));
  // Two are idle at a, one at b, four at c; the eighth waits least where least is before it.
  assert.equal(words, '1@a 2@a 3@b 4@c 5@c 6@c 7@c 8@b');
});

test('[A29] an idle cpu is of no use while others wait for it', () => {
  const all = standings({
    a: { waitingCpuMs: HOUR },
    b: { waitingCpuMs: HOUR / 2 },
    c: { cpuCount: 0 },
  });
  assert.equal(planWords(planned('least_wait', [{ cpus: 1 }], { standings: all })), '1@b');
});

test('[A29] a site of which nothing is known to take work is the last', () => {
  const all = standings({ a: { cpuCount: 0 }, b: { cpuCount: 0 }, c: { waitingCpuMs: 99 * HOUR } });
  assert.equal(planWords(planned('least_wait', [{ cpus: 1 }], { standings: all })), '1@c');
  const none = standings({ a: { cpuCount: 0 }, b: { cpuCount: 0 }, c: { cpuCount: 0 } });
  assert.equal(planWords(planned('least_wait', [{ cpus: 1 }], { standings: none })), '1@a');
});

test('[A29] the cheapest gets tasks until it is full, then the next one', () => {
  const prices = { a: 3, b: 1, c: 2 };
  const jobs = [{ cpus: 3 }, { cpus: 3 }, { cpus: 3 }, { cpus: 1 }];
  assert.equal(planWords(planned('cheapest', jobs, { prices })), '1@b 2@c 3@a 4@b');
  const waits = standings({ a: {}, b: { waitingCpuMs: HOUR }, c: {} });
  const equal = { prices: { a: 1, b: 1, c: 1 }, standings: waits };
  assert.equal(planWords(planned('cheapest', [{ cpus: 1 }, { cpus: 4 }], equal)), '1@a 2@c');
});

test('[A29] nodes of a steered site have the price of their site, unless they have their own', () => {
  const nodes = ['n1.a', 'n2.a', 'n1.b'].map((node) => ({
    name: node,
    cpus: 4,
    memory: 100,
    labels: [`site=${node.slice(-1)}`],
  }));
  const prices = { a: 3, b: 2, 'n2.a': 1 };
  const jobs = [{ cpus: 4 }, { cpus: 4 }, { cpus: 4 }];
  assert.equal(planWords(planned('cheapest', jobs, { prices }, { nodes })), '1@n2.a 2@n1.b 3@n1.a');
});

test('[A29] a task goes where its inputs have been, and else by the wait', () => {
  const data = new Map([['hash', new Set([name('c')])]]);
  const all = standings({ a: { waitingCpuMs: HOUR }, b: {}, c: { waitingCpuMs: HOUR } });
  const known = { data, standings: all };
  const jobs = [{ cpus: 3 }, { cpus: 3 }];
  assert.equal(planWords(planned('near_data', jobs, known, { inputs: 'hash' })), '1@c 2@b');
  assert.equal(planWords(planned('near_data', jobs, known, { inputs: 'other' })), '1@b 2@a');
  assert.equal(planWords(planned('near_data', jobs, known)), '1@b 2@a');
});

test('[A29] a wish for a site, and room, come before what speaks for another', () => {
  const prices = { a: 3, b: 1, c: 2 };
  const jobs = [{ cpus: 1, labels: ['site=a | site=c'] }, { cpus: 1, names: ['a'] }, { cpus: 9 }];
  assert.equal(planWords(planned('cheapest', jobs, { prices })), '1@c 2@a');
});

test('[A29] each site is weighed once for a task, however many are compared', () => {
  class Counted extends Map<NodeName, SiteStanding> {
    reads = 0;
    override get(key: NodeName): SiteStanding | undefined {
      this.reads += 1;
      return super.get(key);
    }
  }
  const nodes = manySites(500);
  const all = new Counted(
    nodes.map((one, at) => [name(one.name), { ...QUIET, waitingCpuMs: HOUR - at }]),
  );
  const { starts } = planned('least_wait', [{ cpus: 1 }], { standings: all }, { nodes });
  assert.equal(starts[0]?.shares[0]?.node, 's499');
  // The few that are told of are weighed again.
  assert.ok(all.reads <= 510, `${all.reads}`);
});

test('[A29] comparing many sites is work that cuts a cycle, and the next goes on from there', () => {
  const nodes = manySites(2_000);
  const prices = Object.fromEntries(nodes.map((one, at) => [one.name, (at * 7) % 2_000]));
  const brokerage = { ...NO_BROKERAGE, prices };
  const jobs = Array.from({ length: 100 }, () => ({ cpus: 4 }));
  const whole = { ...snapshot(nodes, jobs), scheduling: schedulingBy('cheapest'), brokerage };
  const first = plan({ ...whole, looksMax: LOOKS_PER_CYCLE_MAX }, 0);
  assert.ok(first.starts.length >= 2 && first.starts.length <= 25, `${first.starts.length}`);
  const more = plan({ ...whole, looksMax: LOOKS_PER_CYCLE_MAX, from: first.rest }, 0);
  assert.ok(more.starts.length >= 2, 'it gets further');
  assert.equal(plan(whole, 0).starts.length, 100, 'without bounds all start');
});

test('[A29] comparing sites is an order: nobody is better than itself, or than who is better', () => {
  const offer = fc.record({
    node: fc.constant(name('x')),
    waitMs: fc.oneof(fc.nat(3), fc.constant(Number.POSITIVE_INFINITY)),
    price: fc.nat(3),
    hasData: fc.boolean(),
  });
  const rules = fc.constantFrom(...SITE_PLACEMENTS);
  const property = fc.property(rules, offer, offer, offer, (rule, a, b, c) => {
    const sign = (one: Offer, other: Offer) => Math.sign(compareOffers(rule, one, other));
    assert.equal(sign(a, a), 0);
    assert.ok(sign(a, b) + sign(b, a) === 0);
    if (sign(a, b) <= 0 && sign(b, c) <= 0) assert.ok(sign(a, c) <= 0);
  });
  fc.assert(property);
});
