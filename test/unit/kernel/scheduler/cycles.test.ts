// Cycles cut short by looks: together they decide what one whole cycle does, each costs what it
// may, and nobody is left out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JobId, UserName } from '../../../../src/kernel/model/ids.ts';
import { LOOKS_PER_TASK } from '../../../../src/kernel/model/limits.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import { type Plan, plan, type Start } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import type { Snapshot } from '../../../../src/kernel/scheduler/cycle/snapshot.ts';
import type { Candidate } from '../../../../src/kernel/scheduler/line/line.ts';
import type { QueueEntry } from '../../../../src/kernel/scheduler/line/queue.ts';
import { HeldBook, QuotaBook } from '../../../../src/kernel/scheduler/line/quota.ts';
import { chain, endOne, loseOne } from '../../../support/cycles.ts';
import {
  entries,
  type JobWords,
  type NodeWords,
  planWords,
  snapshot,
  view,
} from '../../../support/snapshots.ts';

const POLICIES = ['first_fit', 'fifo', 'easy', 'conservative'] as const;

const node = fc
  .record({ cpus: fc.integer({ min: 1, max: 6 }), used: fc.nat(6), until: fc.integer({ min: 1 }) })
  .map(({ cpus, used, until }) => ({
    cpus,
    ...(used === 0 ? {} : { used: { cpus: Math.min(cpus, used) }, until }),
  }));
const nodes = fc
  .array(node, { minLength: 1, maxLength: 6 })
  .map((list): NodeWords[] => list.map((one, at) => ({ ...one, name: `n${at + 1}` })));
const job: fc.Arbitrary<JobWords> = fc.record(
  {
    cpus: fc.integer({ min: 1, max: 6 }),
    nodes: fc.integer({ min: 1, max: 3 }),
    exclusive: fc.boolean(),
    nice: fc.integer({ min: -2, max: 2 }),
    tasks: fc.integer({ min: 1, max: 4 }),
    runningMax: fc.integer({ min: 1, max: 3 }),
    time: fc.integer({ min: 1, max: 1000 }),
    partition: fc.constantFrom(...POLICIES),
  },
  { requiredKeys: ['cpus', 'partition'] },
);
const jobs = fc.array(job, { maxLength: 14, size: 'max' });

/** A partition of each policy, on all nodes. */
function mixed(have: readonly NodeWords[], want: readonly JobWords[]): Snapshot {
  const partitions = Object.fromEntries(
    POLICIES.map((policy) => [policy, { ...plainPartition(policy), policy }]),
  );
  const scheduling = { ...plainScheduling('first_fit'), partitions, depthMax: 3 };
  return snapshot(have, want, { scheduling });
}

const words = (starts: readonly Start[]): string[] =>
  starts.map(({ jobId, index, shares }) => `${jobId}[${index}]@${shares.map((one) => one.node)}`);

test('[A26] cycles cut short start and promise what a whole one does, if nothing changes', () => {
  fc.assert(
    fc.property(nodes, jobs, fc.integer({ min: 1, max: 200 }), (have, want, looksMax) => {
      const whole = plan(mixed(have, want), 0);
      const plans = chain(mixed(have, want), looksMax);
      assert.deepEqual(words(plans.flatMap(({ starts }) => starts)), words(whole.starts));
      assert.deepEqual(plans.at(-1)?.promised, whole.promised);
    }),
    { numRuns: 3000 },
  );
});

test('[A13] a promise that nobody asks about is left out, and nothing else changes', () => {
  let left = 0;
  fc.assert(
    fc.property(nodes, jobs, fc.nat(14), (have, want, asker) => {
      const whole = plan(mixed(have, want), 0);
      const askers = new Set(asker === 0 ? [] : [asker as JobId]);
      const made = plan({ ...mixed(have, want), askers }, 0);
      assert.deepEqual(words(made.starts), words(whole.starts));
      const count = made.promised.length;
      assert.deepEqual(made.promised, whole.promised.slice(0, count));
      assert.equal(made.plansAhead || !whole.plansAhead, true);
      const [lost, ...others] = whole.promised.slice(count);
      if (lost === undefined) return;
      left += 1;
      assert.deepEqual(others, [], 'the last in line at most');
      assert.ok(asker === 0 || lost.jobId === asker, 'another job asks');
    }),
    { numRuns: 3000 },
  );
  assert.ok(left > 0);
});

test('[A13] who waits alone needs no promise; who goes before another does', () => {
  const full = [{ name: 'n1', cpus: 4, used: { cpus: 4 }, until: 100 }];
  const promisedTo = (want: readonly JobWords[], asking: readonly number[]): number[] => {
    const askers = new Set(asking as JobId[]);
    const made = plan(snapshot(full, want, { policy: 'easy', askers }), 0);
    assert.ok(made.plansAhead);
    return made.promised.map(({ jobId }) => jobId);
  };
  const array = { cpus: 4, tasks: 9, time: 50 };
  assert.deepEqual(promisedTo([array], []), []);
  assert.deepEqual(promisedTo([array], [1]), []);
  assert.deepEqual(promisedTo([array], [7]), [1]);
  assert.deepEqual(promisedTo([array], [1, 7]), [1]);
  assert.deepEqual(promisedTo([array, { cpus: 1 }], []), [1]);
});

test('[A13, A26] what a cycle cut short has promised gets no later in those that go on', () => {
  fc.assert(
    fc.property(nodes, jobs, fc.nat(5), fc.integer({ min: 1, max: 200 }), (have, all, at, max) => {
      const want = all.filter(({ partition }) => partition !== 'conservative');
      const shot = mixed(have, want);
      const promised = new Map<string, number>();
      chain(shot, max, (made) => {
        for (const { jobId, index, at: when } of made.promised) {
          const task = `${jobId}[${index}]`;
          const isFirst = made.starts.every((one) => placeIn(want, one) > placeIn(want, { jobId }));
          const before = (isFirst ? promised.get(task) : undefined) ?? Infinity;
          assert.ok(when <= before, `${task} at ${when}, before at ${before}`);
          promised.set(task, when);
        }
        // Something ends early: whoever is considered next may have it now.
        endOne(shot, `n${at + 1}`);
      });
    }),
    { numRuns: 3000 },
  );
});

/** The order of the line: those before a task may take what it was promised. */
function placeIn(want: readonly JobWords[], { jobId }: Pick<Start, 'jobId'>): number {
  return (want[jobId - 1]?.nice ?? 0) * 1000 + jobId;
}

test('[A10, A26] no task passes those before it in a fifo partition, whatever ends or comes between cycles', () => {
  fc.assert(
    fc.property(
      ...[nodes, jobs, fc.nat(5), fc.integer({ min: 1, max: 200 })],
      ...[fc.uniqueArray(fc.integer({ min: 1, max: 14 })), fc.nat(10)],
      (have, want, at, max, lateIds, lossesMax) => {
        const shot = mixed(have, want);
        const all = [...shot.queue.groups.values()].flatMap((group) => [...group.entries]);
        const late = all.filter(({ jobId }) => lateIds.includes(jobId));
        let losses = 0;
        for (const entry of late) shot.queue.remove(entry);
        const isFifo = ({ jobId }: Pick<Start, 'jobId'>): boolean =>
          want[jobId - 1]?.partition === 'fifo';
        chain(shot, max, ({ starts }) => {
          const last = Math.max(-1e9, ...starts.filter(isFifo).map((one) => placeIn(want, one)));
          const waiting = all.filter((entry) => shot.queue.groupOf(entry) !== undefined);
          for (const entry of waiting.filter(isFifo)) {
            const isAtLimit = entry.runningMax !== null && entry.running >= entry.runningMax;
            assert.ok(isAtLimit || placeIn(want, entry) >= last, `job ${entry.jobId} was passed`);
          }
          losses += 1;
          if (losses <= lossesMax) loseOne(shot, all, `n${at + 1}`);
          else endOne(shot, `n${at + 1}`);
          const next = late.pop();
          if (next !== undefined) shot.queue.add(next);
        });
      },
    ),
    { numRuns: 3000 },
  );
});

/**
 * 50 full nodes, each with another amount left, and as many shapes as tasks, none of which fits.
 */
function distinct(count: number): Snapshot {
  const have = Array.from({ length: 50 }, (_, at) => {
    return { name: `n${at}`, cpus: 8, memory: 1000, used: { cpus: 8, memory: at }, until: 5000 };
  });
  const want = Array.from({ length: count }, (_, at) => ({ cpus: 1, memory: 1 + at, time: 100 }));
  return snapshot(have, want);
}

test('[A26] with as many shapes as tasks no cycle looks at more nodes than it may', () => {
  const looksMax = 5000;
  for (const policy of ['first_fit', 'fifo', 'easy'] as const) {
    const shot = { ...distinct(800), scheduling: plainScheduling(policy) };
    let before = 0;
    const plans = chain(shot, looksMax, () => {
      assert.ok(shot.pool.looks - before <= looksMax + 100, policy);
      before = shot.pool.looks;
    });
    assert.equal(plans.length > 1, policy !== 'fifo', policy);
    // A quarter of each goes along the front.
    assert.ok(plans.length < (1.5 * 800 * (50 + LOOKS_PER_TASK)) / looksMax, policy);
  }
});

/** Counts who is asked about. */
class CountingQuotas extends QuotaBook {
  asked = 0;

  override full(candidate: Candidate): string | null {
    this.asked += 1;
    return super.full(candidate);
  }
}

test('[P5] who lets another of its own go first on a node with gpus keeps to its quota', () => {
  const partition = plainPartition('default', 'first_fit');
  const limits = { ...partition.limits, tasksPerUser: 1 };
  const scheduling = {
    ...plainScheduling('first_fit'),
    partitions: { default: { ...partition, limits } },
  };
  const have = [{ name: 'n1', cpus: 4, memory: 100, gpus: 1, labels: ['gpu'] }];
  const jobs = [
    { cpus: 1, owner: 'alice' },
    { cpus: 1, gpus: 1, owner: 'alice' },
    { cpus: 1, owner: 'bob' },
  ];
  const shot = snapshot(have, jobs, { scheduling });
  const made = plan({ ...shot, quotas: new QuotaBook(new HeldBook()) }, 0);
  assert.equal(planWords(made), '2@n1 3@n1');
});

test('[A26] in a fifo partition no cycle walks past all who are over a quota, nor waits for them', () => {
  const partition = { ...plainPartition('default'), policy: 'fifo' as const };
  const limits = { ...partition.limits, tasksPerUser: 1 };
  const partitions = { default: { ...partition, limits } };
  const held = new HeldBook();
  held.count('alice' as UserName, { partition: 'default', qos: 'normal' }, 1, { cpus: 1, gpus: 0 });
  const want = Array.from({ length: 800 }, (_, at) => ({
    cpus: 1,
    memory: 1 + at,
    owner: 'alice',
  }));
  const have = [{ name: 'n1', cpus: 8, memory: 1000 }];
  const scheduling = { ...plainScheduling('fifo'), partitions };
  const shot = snapshot(have, [...want, { cpus: 1, owner: 'bob' }], { scheduling });
  const late = entries(want).slice(50, 100);
  const early = [...shot.queue.groups.values()].flatMap((group) => [...group.entries]);
  for (const entry of early.filter(({ jobId }) => jobId > 50 && jobId <= 100)) {
    shot.queue.remove(entry);
  }
  const looksMax = 100 * LOOKS_PER_TASK;
  const plans: Plan[] = [];
  for (let from: Plan['rest'] = null; plans.length === 0 || from !== null; ) {
    const quotas = new CountingQuotas(held);
    const made = plan({ ...shot, quotas, looksMax, from }, 0);
    assert.ok(quotas.asked <= 130, `${quotas.asked} tasks, a quarter of them along the front`);
    plans.push(made);
    from = made.rest;
    // One more comes to a place among them: that is in nobody's way either.
    shot.queue.watch();
    shot.queue.add(late.pop() as QueueEntry);
  }
  assert.ok(late.length < 45, 'in several cycles');
  assert.deepEqual(words(plans.at(-1)?.starts ?? []), ['801[0]@n1']);
});

test('[A26] conservative plans no more parts of tasks ahead than it may, but for each first task', () => {
  const have = Array.from({ length: 4 }, (_, at) => {
    return { name: `n${at}`, cpus: 1, used: { cpus: 1 }, until: 10 };
  });
  const ahead = (partition: string) => ({ cpus: 1, nodes: 4, time: 10, partition });
  const want = [...Array.from({ length: 5 }, () => ahead('conservative')), ahead('easy')];
  const shot = { ...mixed(have, want), partsAheadMax: 8 };
  assert.deepEqual(
    plan(shot, 0).promised.map(({ jobId, at }) => [jobId, at]),
    [
      [1, 10],
      [2, 20],
      [6, 30],
    ],
  );
});

test('[A26] who stands at the end gets a turn however much goes on in front', () => {
  const shot = distinct(400);
  const [tail, ...urgent] = entries([
    { cpus: 1, nice: 50, labels: ['new'] },
    ...Array.from({ length: 50 }, () => ({ cpus: 2, nice: -50, labels: ['new'] })),
  ]).map((entry) => ({ ...entry, jobId: (entry.jobId + 1000) as QueueEntry['jobId'] }));
  shot.queue.add(tail as QueueEntry);
  const fresh = view({ name: 'n99', cpus: 3, labels: ['new'] }, 99);
  let started = false;
  // Before every cycle somebody urgent comes, and there is room for that one and another.
  for (let from: Plan['rest'] = null; !started; ) {
    const next = urgent.shift();
    assert.ok(next !== undefined, 'the end of the line is reached');
    shot.queue.add(next);
    shot.pool.set(fresh);
    const made = plan({ ...shot, looksMax: 3000, from }, 0);
    assert.equal(made.starts[0]?.jobId, next.jobId, 'and the front is never left out');
    shot.queue.remove(next);
    started = made.starts.some(({ jobId }) => jobId === tail?.jobId);
    from = made.rest;
  }
  assert.ok(urgent.length < 45, 'and not in the first cycle');
});
