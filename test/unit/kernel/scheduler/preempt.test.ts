// Rows of tasks that run and tasks that wait, and who must make room for whom.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PreemptMode } from '../../../../src/kernel/model/scheduling.ts';
import type { Hopeless } from '../../../../src/kernel/scheduler/cycle/hopeless.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import type { Rest } from '../../../../src/kernel/scheduler/cycle/rest.ts';
import { Queue } from '../../../../src/kernel/scheduler/line/queue.ts';
import { busyPool, preemptionWords, type RunWords, tiers } from '../../../support/preemption.ts';
import { entries, type JobWords, planWords, snapshot } from '../../../support/snapshots.ts';

const MINUTE = 60_000;
const SIZE = { cpus: 4, memory: 4 };

function planOf(
  nodes: readonly string[],
  runs: readonly RunWords[],
  jobs: readonly JobWords[],
  modes: readonly PreemptMode[],
) {
  const queue = new Queue();
  for (const entry of entries(jobs)) queue.add(entry);
  const pool = busyPool(nodes, SIZE, runs);
  return plan({ ...snapshot([], []), pool, queue, scheduling: tiers(modes) }, 1000);
}

interface Row {
  readonly title: string;
  readonly nodes?: readonly string[];
  readonly runs: readonly RunWords[];
  readonly jobs: readonly JobWords[];
  readonly modes?: readonly PreemptMode[];
  readonly leave: string;
  readonly starts?: string;
}

const HIGH: JobWords = { cpus: 4, partition: 'tier2' };
const LOW: RunWords = { id: 50, on: ['n1'], cpus: 4 };

const ROWS: readonly Row[] = [
  { title: '[P11] a lower tier makes room', runs: [LOW], jobs: [HIGH], leave: 'requeue 50 for 1' },
  {
    title: '[P11] an equal tier does not',
    runs: [{ ...LOW, tier: 2 }],
    jobs: [HIGH],
    leave: '',
  },
  {
    title: '[P11] nobody leaves whose partition does not say so',
    runs: [LOW],
    jobs: [HIGH],
    modes: ['off', 'cancel', 'cancel'],
    leave: '',
  },
  {
    title: '[P11] the least tier leaves first',
    nodes: ['n1', 'n2'],
    runs: [
      { ...LOW, tier: 1 },
      { ...LOW, id: 51, on: ['n2'] },
    ],
    jobs: [HIGH],
    leave: 'requeue 51 for 1',
  },
  {
    title: '[P11] of one tier the youngest leaves first',
    nodes: ['n1', 'n2'],
    runs: [
      { ...LOW, at: 5 },
      { ...LOW, id: 51, on: ['n2'], at: 4 },
    ],
    jobs: [HIGH],
    leave: 'requeue 50 for 1',
  },
  {
    title: '[P12] no more leave than it takes',
    runs: [
      { id: 50, on: ['n1'], cpus: 1, at: 9 },
      { id: 51, on: ['n1'], cpus: 2, at: 8 },
      { id: 52, on: ['n1'], cpus: 1, at: 7 },
    ],
    jobs: [{ cpus: 2, partition: 'tier2' }],
    leave: 'requeue 51 for 1',
  },
  {
    title: '[P12] nobody leaves for a task that still could not start',
    nodes: ['n1', 'n2'],
    runs: [LOW, { ...LOW, id: 51, on: ['n2'], tier: 2 }],
    jobs: [{ ...HIGH, nodes: 2 }],
    leave: '',
  },
  {
    title: '[P12] nor for what no node could hold',
    runs: [LOW],
    jobs: [{ cpus: 5, partition: 'tier2' }],
    leave: '',
  },
  {
    title: '[P12] who leaves anyway is waited for',
    nodes: ['n1', 'n2'],
    runs: [
      { ...LOW, leaving: true },
      { ...LOW, id: 51, on: ['n2'] },
    ],
    jobs: [HIGH],
    leave: '',
  },
  {
    title: '[P12] what leaves for one task is not counted for the next',
    nodes: ['n1', 'n2'],
    runs: [
      { ...LOW, leaving: true },
      { ...LOW, id: 51, on: ['n2'] },
    ],
    jobs: [HIGH, HIGH, HIGH],
    leave: 'requeue 51 for 2',
  },
  {
    title: '[P12] one wide task leaves rather than two small ones, when its nodes are enough',
    nodes: ['n1', 'n2', 'n3'],
    runs: [
      { id: 50, on: ['n1', 'n2'], cpus: 4, at: 3 },
      { id: 51, on: ['n3'], cpus: 4, at: 9 },
    ],
    jobs: [{ ...HIGH, nodes: 2 }],
    leave: 'requeue 50 for 1',
  },
  {
    title: '[P12] a free node is used before anybody has to leave',
    nodes: ['n1', 'n2'],
    runs: [LOW],
    jobs: [
      { ...HIGH, nodes: 2 },
      { cpus: 1, partition: 'tier0' },
    ],
    leave: 'requeue 50 for 1',
  },
  {
    title: '[P11] a task that must not run twice is cancelled where others are requeued',
    runs: [{ ...LOW, once: true }],
    jobs: [HIGH],
    leave: 'cancel 50 for 1',
  },
  {
    title: '[P13] stopping gives cpus and keeps memory',
    nodes: ['n1', 'n2'],
    runs: [
      { id: 50, on: ['n1'], cpus: 4, memory: 3 },
      { id: 51, on: ['n2'], cpus: 4, memory: 1 },
    ],
    jobs: [{ cpus: 4, memory: 2, partition: 'tier2' }],
    modes: ['suspend', 'off', 'off'],
    leave: 'suspend 51 for 1',
  },
  {
    title: '[A3] a whole node needs everybody gone',
    runs: [
      { id: 50, on: ['n1'], cpus: 1 },
      { id: 51, on: ['n1'], cpus: 1 },
    ],
    jobs: [{ cpus: 1, exclusive: true, partition: 'tier2' }],
    leave: 'requeue 50 for 1, requeue 51 for 1',
  },
];

for (const row of ROWS) {
  test(`${row.title}: '${row.leave}'`, () => {
    const modes = row.modes ?? ['requeue', 'requeue', 'off'];
    const made = planOf(row.nodes ?? ['n1'], row.runs, row.jobs, modes);
    assert.equal(preemptionWords(made), row.leave);
    assert.equal(planWords(made), row.starts ?? '');
  });
}

const run = fc.record({
  on: fc.uniqueArray(fc.constantFrom('n1', 'n2', 'n3'), { minLength: 1, maxLength: 3 }),
  cpus: fc.nat(2),
  memory: fc.nat(2),
  tier: fc.nat(2),
  at: fc.nat(3),
  leaving: fc.boolean(),
});
const waiting = fc.record({
  cpus: fc.nat(4),
  memory: fc.nat(4),
  nodes: fc.integer({ min: 1, max: 3 }),
  exclusive: fc.boolean(),
  partition: fc.constantFrom('tier0', 'tier1', 'tier2'),
});
const anyMode = fc.constantFrom<PreemptMode>('off', 'suspend', 'requeue', 'cancel');

/** Tasks that fit on the nodes together, ids from 50. */
function packed(runs: readonly Omit<RunWords, 'id'>[]): RunWords[] {
  const kept: RunWords[] = [];
  runs.forEach((one, at) => {
    const words = { ...one, id: 50 + at };
    const fits = one.on.every((name) => {
      const there = [...kept, words].filter(({ on }) => on.includes(name));
      const sum = (key: 'cpus' | 'memory') =>
        there.reduce((all, each) => all + (each[key] ?? 0), 0);
      return sum('cpus') <= SIZE.cpus && sum('memory') <= SIZE.memory;
    });
    if (fits) kept.push(words);
  });
  return kept;
}

/** What runs once these have left by their mode, and all that was leaving too. */
function without(
  runs: readonly RunWords[],
  gone: readonly { readonly jobId: number; readonly mode: PreemptMode }[],
): RunWords[] {
  return runs.flatMap((one) => {
    if (one.leaving === true) return [];
    const mode = gone.find(({ jobId }) => jobId === one.id)?.mode;
    if (mode === 'suspend') return [{ ...one, cpus: 0 }];
    return mode === undefined ? [one] : [];
  });
}

test('[P12] a task has room when those told to leave have left, and not without any one of them', () => {
  const nodes = ['n1', 'n2', 'n3'];
  fc.assert(
    fc.property(
      fc.array(run, { maxLength: 8, size: 'max' }),
      waiting,
      fc.tuple(anyMode, anyMode, anyMode),
      (wild, job, modes) => {
        const runs = packed(wild);
        const { preemptions, starts } = planOf(nodes, runs, [job], modes);
        if (preemptions.length === 0) return;
        assert.equal(starts.length, 0, 'nobody leaves for a task that starts');
        const startsAfter = (gone: typeof preemptions) =>
          planOf(nodes, without(runs, gone), [job], ['off', 'off', 'off']).starts.length;
        assert.equal(startsAfter(preemptions), 1);
        for (const { jobId } of preemptions) {
          const fewer = preemptions.filter((one) => one.jobId !== jobId);
          assert.equal(startsAfter(fewer), 0, `${jobId} need not have left`);
          const tier = runs.find(({ id }) => id === jobId)?.tier ?? 0;
          assert.ok(`tier${tier}` < job.partition, `${jobId} is of a lower tier`);
          assert.notEqual(modes[tier], 'off');
        }
      },
    ),
    { numRuns: 3000 },
  );
});

test('[P12] if anybody of lower tiers could leave so that a task starts, somebody is told to', () => {
  const nodes = ['n1', 'n2', 'n3'];
  fc.assert(
    fc.property(
      fc.array(run, { maxLength: 8, size: 'max' }),
      waiting,
      fc.tuple(anyMode, anyMode, anyMode),
      (wild, job, modes) => {
        const runs = packed(wild);
        const below = runs
          .filter(({ tier = 0 }) => `tier${tier}` < job.partition && modes[tier] !== 'off')
          .map(({ id, tier = 0 }) => ({ jobId: id, mode: modes[tier] as PreemptMode }));
        const { preemptions, starts } = planOf(nodes, runs, [job], modes);
        const able = planOf(nodes, without(runs, below), [job], ['off', 'off', 'off']);
        const soon = planOf(nodes, without(runs, []), [job], ['off', 'off', 'off']);
        const wanted = able.starts.length > starts.length && soon.starts.length === 0;
        assert.equal(preemptions.length > 0, wanted);
      },
    ),
    { numRuns: 3000 },
  );
});

test('[P12] cycles cut short while they look for room find it for everybody in the end', () => {
  const nodes = ['n1', 'n2', 'n3', 'n4'];
  const runs = nodes.map((name, at) => ({ id: 50 + at, on: [name], cpus: 4 }));
  // Three kinds of tasks that nobody can make room for, then two that somebody can.
  const jobs = [5, 6, 7, 3, 4].map((cpus) => ({ cpus, partition: 'tier2' }));
  const hopeless: Hopeless = new Map();
  const told = new Map<number, number>();
  const queue = new Queue();
  for (const entry of entries(jobs)) queue.add(entry);
  let from: Rest | null = null;
  for (let cycle = 0; cycle === 0 || from !== null; cycle += 1) {
    assert.ok(cycle < 6, 'every cycle gets further');
    const left = runs.map((one) => ({ ...one, leaving: told.has(one.id) }));
    const pool = busyPool(nodes, SIZE, left);
    const scheduling = tiers(['requeue', 'requeue', 'off']);
    const shot = { ...snapshot([], []), pool, queue, scheduling, hopeless, looksMax: 1, from };
    const made = plan(shot, 1000);
    for (const { jobId, for: whom } of made.preemptions) told.set(jobId, whom.jobId);
    from = made.rest;
  }
  assert.deepEqual([...told.values()].sort(), [4, 5]);
});

test('[P12] what leaves a node is waited for, though this plan has just started something there', () => {
  const runs = [{ id: 50, on: ['n1'], cpus: 1, leaving: true }];
  const jobs: JobWords[] = [
    // Nobody can make room for the first: with that the cycle has looked enough.
    { nodes: 2, cpus: 4, partition: 'tier2' },
    { cpus: 1, partition: 'tier2' },
    { cpus: 3, partition: 'tier2' },
    { cpus: 1, partition: 'tier0' },
  ];
  const queue = new Queue();
  for (const entry of entries(jobs)) queue.add(entry);
  const pool = busyPool(['n1', 'n2'], SIZE, [...runs, { id: 51, on: ['n2'], cpus: 4, tier: 2 }]);
  const scheduling = tiers(['requeue', 'requeue', 'off']);
  const made = plan({ ...snapshot([], []), pool, queue, scheduling }, 0);
  assert.deepEqual(
    made.promised.map(({ jobId, at }) => [jobId, at]),
    [[3, 1]],
  );
  assert.equal(planWords(made), '2@n1', 'the last would take what the third is about to get');
});

test('[A13] what somebody leaves by this plan is counted for the slots after it', () => {
  const runs = [{ id: 50, on: ['n1'], cpus: 3, walltime: 60 * MINUTE }];
  const jobs: JobWords[] = [
    { cpus: 2, partition: 'tier2', time: 30 * MINUTE },
    { cpus: 2, partition: 'tier0', time: MINUTE },
    { cpus: 1, partition: 'tier0', time: 120 * MINUTE },
  ];
  const queue = new Queue();
  for (const entry of entries(jobs)) queue.add(entry);
  const pool = busyPool(['n1'], SIZE, runs);
  const scheduling = tiers(['requeue', 'requeue', 'off']);
  const { tier0 } = scheduling.partitions;
  const partitions = { ...scheduling.partitions, tier0: { ...tier0, policy: 'easy' } } as never;
  const made = plan(
    { ...snapshot([], []), pool, queue, scheduling: { ...scheduling, partitions } },
    0,
  );
  assert.equal(preemptionWords(made), 'requeue 50 for 1');
  assert.deepEqual(
    made.promised.map(({ jobId, at }) => [jobId, at]),
    [
      [1, 1],
      [2, 1],
    ],
  );
  assert.equal(planWords(made), '', 'the third would delay the second');
});
