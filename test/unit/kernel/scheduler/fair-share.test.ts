// Usage that fades, the tree of shares, and the factors that come of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEAD_MACHINE } from '../../../../sim/head-machine.ts';
import { snapshotOf } from '../../../../src/kernel/machine/schedule.ts';
import { exportState, importState } from '../../../../src/kernel/machine/snapshot.ts';
import type { UserName } from '../../../../src/kernel/model/ids.ts';
import {
  DEFAULT_FAIR_SHARE,
  DEFAULT_WEIGHTS,
  type FairShare,
  plainScheduling,
} from '../../../../src/kernel/model/scheduling.ts';
import { fairStandings } from '../../../../src/kernel/scheduler/line/fair-share.ts';
import { type Billed, UsageBook } from '../../../../src/kernel/scheduler/line/usage-book.ts';
import { BOB, scenario, user } from '../../../support/controller.ts';

const ANN = 'ann' as UserName;
const HOUR = 3_600_000;

function close(actual: number | undefined, wanted: number): void {
  assert.ok(Math.abs((actual ?? Number.NaN) - wanted) < 1e-6 * Math.max(1, wanted), `${actual}`);
}

interface Row {
  readonly title: string;
  readonly rules?: Partial<FairShare>;
  readonly usage: Readonly<Record<string, number>>;
  /** `user factor` with the exponent -usage/share worked out by hand. */
  readonly exponents: Readonly<Record<string, number>>;
}

const GROUPS: Partial<FairShare> = {
  groups: {
    chem: { share: 3, users: ['ann', 'bob'] as UserName[], groups: [] },
    physics: { share: 1, users: ['cy'] as UserName[], groups: [] },
  },
};

const ROWS: readonly Row[] = [
  { title: 'nobody has used anything', usage: { ann: 0, bob: 0 }, exponents: { ann: 0, bob: 0 } },
  { title: 'who is alone has just the share', usage: { ann: 9 }, exponents: { ann: -1 } },
  { title: 'one of two took all', usage: { ann: 9, bob: 0 }, exponents: { ann: -2, bob: 0 } },
  {
    title: 'usage as shares are is a half for everybody',
    rules: { users: { ann: 3, bob: 1 } },
    usage: { ann: 30, bob: 10 },
    exponents: { ann: -1, bob: -1 },
  },
  {
    title: 'members answer for their group: bob counts half of what chem used',
    rules: GROUPS,
    usage: { ann: 60, cy: 40 },
    exponents: { ann: -0.6 / 0.375, bob: -0.3 / 0.375, cy: -0.4 / 0.25 },
  },
  {
    title: 'a group in a group: half of the half',
    rules: {
      groups: {
        science: { share: 1, users: [], groups: ['chem', 'physics'] },
        chem: { share: 1, users: ['ann'] as UserName[], groups: [] },
        physics: { share: 1, users: ['bob'] as UserName[], groups: [] },
        arts: { share: 1, users: ['cy'] as UserName[], groups: [] },
      },
    },
    usage: { ann: 10, cy: 30 },
    // Science used 0.25, of which bob answers for one half; ann used it all.
    exponents: { ann: -0.25 / 0.25, bob: -0.125 / 0.25, cy: -0.75 / 0.5 },
  },
];

for (const { title, rules = {}, usage, exponents } of ROWS) {
  test(`[A21] ${title}`, () => {
    const used = new Map(Object.entries(usage) as [UserName, number][]);
    const standings = fairStandings({ ...DEFAULT_FAIR_SHARE, ...rules }, used);
    assert.deepEqual([...standings.keys()].sort(), Object.keys(exponents).sort());
    for (const user in exponents) {
      close(standings.get(user as UserName)?.factor, 2 ** (exponents[user] as number));
    }
  });
}

function cpus(cpuCount: number): Billed {
  return { cpuCount, memoryBytes: 0, gpuCount: 0 };
}

test('[A22] usage is what was held times how long, and half of it a half-life later', () => {
  const book = new UsageBook();
  book.setRules({ halfLifeMs: 1000 * HOUR }, 0);
  book.hold(ANN, cpus(4), 0);
  book.hold(ANN, cpus(4), HOUR, -1);
  const used = book.usageAt(HOUR).get(ANN) ?? 0;
  assert.ok(used > 3.99 * HOUR && used < 4 * HOUR, 'an hour hardly fades');
  close(book.usageAt(1001 * HOUR).get(ANN), used / 2);
});

test('[A22] what runs is charged as if it ended now, however often one looks', () => {
  const charged = (looks: number): number => {
    const book = new UsageBook();
    book.setRules({ halfLifeMs: HOUR }, 0);
    book.hold(ANN, cpus(2), 0);
    for (let look = 1; look <= looks; look += 1)
      book.hold(ANN, cpus(0), (look * 10 * HOUR) / looks);
    return book.usageAt(10 * HOUR).get(ANN) ?? 0;
  };
  close(charged(1000), charged(1));
});

test('[A22] a clock that is set back charges nothing twice', () => {
  const book = new UsageBook();
  book.hold(ANN, cpus(1), HOUR);
  const before = book.usageAt(2 * HOUR).get(ANN) ?? 0;
  book.hold(ANN, cpus(1), 2 * HOUR);
  book.hold(ANN, cpus(1), HOUR, -1);
  close(book.usageAt(2 * HOUR).get(ANN), before);
});

const FAIR = {
  ...plainScheduling('first_fit'),
  weights: { ...DEFAULT_WEIGHTS, fairShare: 100_000 },
  fairShare: { ...DEFAULT_FAIR_SHARE, halfLifeMs: HOUR },
};

scenario(
  '[A21, S4] who has used less goes first, and a restart forgets nothing',
  (head) => {
    head.perform({ kind: 'started' });
    head.connect('n1', { cpus: 1 });
    head.running();
    head.at += HOUR;
    head.submit();
    head.submit({}, { by: BOB });
    head.crash();
    head.connect('n1', { cpus: 1, held: head.heldBy('n1') });
    const fairness = snapshotOf(head.state, head.settings, 1, head.at).fairness;
    close(fairness.get(ANN), 0.5);
    head.ended('1#1');
    assert.deepEqual(head.schedule(), ['3#1@n1'], 'bob passes the older job of ann');
  },
  { scheduling: FAIR },
);

scenario(
  '[A22, S4] another half-life is a fact of the journal: what was used fades by it from then on',
  (head) => {
    head.connect('n1', { cpus: 1 });
    head.running();
    head.at += HOUR;
    head.ended('1#1');
    const used = head.state.usage.usageAt(head.at).get(ANN) ?? 0;
    head.settings = { ...head.settings, scheduling: FAIR };
    assert.deepEqual(head.tick(), [{ kind: 'half_life_changed', halfLifeMs: HOUR }]);
    close(head.state.usage.usageAt(head.at + HOUR).get(ANN), used / 2);
  },
);

test('[A24] memory and gpus count by their weights, from when the weights are told', () => {
  const book = new UsageBook();
  book.setRules({ halfLifeMs: 1e6 * HOUR }, 0);
  book.hold(ANN, { cpuCount: 2, memoryBytes: 8 * 2 ** 30, gpuCount: 1 }, 0);
  const used = (at: number) => (book.usageAt(at).get(ANN) ?? 0) / HOUR;
  close(Math.round(used(HOUR) * 1000), 2000);
  book.setRules({ weights: { cpu: 1, memory: 0.25, gpu: 10 } }, HOUR);
  close(Math.round(used(2 * HOUR) * 1000), 2000 + (2 + 8 * 0.25 + 10) * 1000);
});

test('[V17] gpus of a type count by its own weight, the others by that of all', () => {
  const book = new UsageBook();
  const weights = { cpu: 0, memory: 0, gpu: 2, gpus: { a100: 8, 'a100-40g': 5, t4: 0 } };
  book.setRules({ halfLifeMs: 1e15, weights }, 0);
  const held = (gpuCount: number, gpuTypes?: Readonly<Record<string, number>>) => {
    const plain = { cpuCount: 1, memoryBytes: 0, gpuCount };
    return gpuTypes === undefined ? plain : { ...plain, gpuTypes };
  };
  const hoursOf = (at: number): number => Math.round((book.usageAt(at).get(ANN) ?? 0) / HOUR);
  book.hold(ANN, held(4, { 'a100-80g': 1, 'a100-40g': 1, t4: 1, h100: 1 }), 0);
  book.hold(ANN, held(1), 0);
  assert.equal(hoursOf(HOUR), 8 + 5 + 0 + 2 + 2);
  book.hold(ANN, held(4, { 'a100-80g': 1, 'a100-40g': 1, t4: 1, h100: 1 }), HOUR, -1);
  assert.equal(hoursOf(2 * HOUR), 17 + 2);
  assert.equal(book.heldBy(ANN).gpuTypes, undefined);
});

const BILLED = { ...FAIR.fairShare, weights: { cpu: 0, memory: 1, gpu: 0 } };

scenario('[A24, S4] other weights are a fact of the journal, also after a restart', (head) => {
  head.connect('n1', { cpus: 1, memory: 4 * 2 ** 30 });
  head.running({ cpuCount: 1, memoryBytes: 2 * 2 ** 30 });
  const scheduling = {
    ...FAIR,
    fairShare: { ...BILLED, halfLifeMs: DEFAULT_FAIR_SHARE.halfLifeMs },
  };
  head.settings = { ...head.settings, scheduling };
  const { weights } = BILLED;
  assert.deepEqual(head.tick(), [{ kind: 'billing_changed', weights }]);
  head.at += HOUR;
  const used = head.state.usage.usageAt(head.at).get(ANN) ?? 0;
  assert.ok(used > 1.9 * HOUR && used < 2 * HOUR, `${used}`);
  const again = importState(HEAD_MACHINE, exportState(head.state));
  assert.deepEqual(again.usage.rules.weights, weights);
  close(again.usage.usageAt(head.at).get(ANN), used);
});

scenario(
  '[A25, S4] usage that has faded to nothing is forgotten, but of who waits or has a share by name',
  (head) => {
    head.perform({ kind: 'started' });
    head.connect('n1', { cpus: 4 });
    for (const by of [user('ann'), BOB, user('carl')]) head.submit({}, { by });
    const epochs = head.schedule().map((start) => start.split('@')[0] as string);
    for (const epoch of epochs) head.started(epoch);
    head.at += 5 * HOUR;
    for (const epoch of epochs) head.ended(epoch);
    const waiting = head.submit({ beginAt: head.at + 1e12 }, { by: BOB });
    const known = () => [...head.state.usage.usageAt(head.at).keys()].sort();
    head.tick(10 * HOUR);
    assert.deepEqual(known(), ['ann', 'bob', 'carl'], 'some seconds of five hours are left');
    assert.deepEqual(head.tick(5 * HOUR), [{ kind: 'usage_forgotten', users: ['ann'] }]);
    assert.deepEqual(head.tick(), []);
    head.command({ kind: 'cancel_task', place: { jobId: waiting, index: null } });
    assert.deepEqual(head.tick(), [{ kind: 'usage_forgotten', users: ['bob'] }]);
    head.crash();
    assert.deepEqual(known(), ['carl']);
  },
  { scheduling: { ...FAIR, fairShare: { ...FAIR.fairShare, users: { carl: 2 } } } },
);
