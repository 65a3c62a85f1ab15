// Known schedules of jobs that ask for what the cluster counts as a whole: what starts now, and
// what is set aside.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JobId } from '../../../../src/kernel/model/ids.ts';
import {
  type Partition,
  type Policy,
  plainPartition,
} from '../../../../src/kernel/model/scheduling.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import type {
  ClusterStock,
  ClusterUse,
} from '../../../../src/kernel/scheduler/room/cluster-room.ts';
import { type JobWords, type NodeWords, snapshot } from '../../../support/snapshots.ts';

const NODES: readonly NodeWords[] = [
  { name: 'n1', cpus: 4, memory: 100 },
  { name: 'n2', cpus: 4, memory: 100 },
];
const job = (licences: number, more: JobWords = {}): JobWords => ({
  cpus: 1,
  time: 100,
  ...more,
  ...(licences === 0 ? {} : { ofCluster: { lic: licences } }),
});

/** Three licences, of which these are held until then. */
function stock(
  total: number,
  ...held: readonly (readonly [count: number, endsAt: number | null])[]
) {
  const uses = held.map(([lic, endsAt]): ClusterUse => {
    return { jobId: 99 as JobId, amounts: { lic }, endsAt };
  });
  return { total: { lic: total }, used: () => uses } satisfies ClusterStock;
}

/** `1@n1 3@n2`, and after a stroke what is set aside: `2@n1 at 100`. */
function words(of: ClusterStock, jobs: readonly JobWords[], policy: Policy): string {
  const { starts, promised } = plan(snapshot(NODES, jobs, { policy, stock: of }), 0);
  const now = starts.map(({ jobId, shares }) => {
    return `${jobId}@${shares.map(({ node }) => node).join('+')}`;
  });
  const later = promised.map(({ jobId, at, nodes }) => `${jobId}@${nodes.join('+')} at ${at}`);
  return [now.join(' '), ...later].join(' | ');
}

const ROWS: readonly {
  readonly title: string;
  readonly stock: ClusterStock;
  readonly jobs: readonly JobWords[];
  readonly firstFit: string;
  readonly fifo: string;
  readonly easy: string;
  readonly conservative: string;
}[] = [
  {
    title: 'no more start than there are licences, whatever nodes are free',
    stock: stock(2),
    jobs: [job(1), job(1), job(1)],
    firstFit: '1@n1 2@n1',
    fifo: '1@n1 2@n1',
    easy: '1@n1 2@n1 | 3@n1 at 100',
    conservative: '1@n1 2@n1 | 3@n1 at 100',
  },
  {
    title: 'a task of two nodes takes its licence once',
    stock: stock(2),
    jobs: [job(1, { nodes: 2 }), job(1, { nodes: 2 })],
    firstFit: '1@n1+n2 2@n1+n2',
    fifo: '1@n1+n2 2@n1+n2',
    easy: '1@n1+n2 2@n1+n2',
    conservative: '1@n1+n2 2@n1+n2',
  },
  {
    title: 'who asks for none passes, but under fifo',
    stock: stock(1, [1, 50]),
    jobs: [job(1), job(0)],
    firstFit: '2@n1',
    fifo: '',
    easy: '2@n1 | 1@n1 at 50',
    conservative: '2@n1 | 1@n1 at 50',
  },
  {
    title: 'a later job does not take the licence that one before it waits for',
    stock: stock(3, [2, 50]),
    jobs: [job(3), job(1), job(1, { time: 50 })],
    firstFit: '2@n1',
    fifo: '',
    easy: '3@n1 | 1@n1 at 50',
    conservative: '3@n1 | 1@n1 at 50 | 2@n1 at 150',
  },
  {
    title: 'nodes and licences come free at different times: both are waited for',
    stock: stock(1, [1, 300]),
    jobs: [job(0, { cpus: 4, nodes: 2, time: 200 }), job(1, { cpus: 4 }), job(1, { time: 100 })],
    firstFit: '1@n1+n2',
    fifo: '1@n1+n2',
    easy: '1@n1+n2 | 2@n1 at 300',
    conservative: '1@n1+n2 | 2@n1 at 300 | 3@n1 at 400',
  },
  {
    title: 'one that asks for more than there are keeps nobody waiting',
    stock: stock(1),
    jobs: [job(2), job(1)],
    firstFit: '2@n1',
    fifo: '',
    easy: '2@n1',
    conservative: '2@n1',
  },
  {
    title: 'where fewer are left than are held nothing starts',
    stock: stock(1, [2, 50], [1, null]),
    jobs: [job(1)],
    firstFit: '',
    fifo: '',
    easy: ` | 1@n1 at ${Number.MAX_SAFE_INTEGER / 2}`,
    conservative: ` | 1@n1 at ${Number.MAX_SAFE_INTEGER / 2}`,
  },
];

for (const { title, stock: of, jobs, firstFit, fifo, easy, conservative } of ROWS) {
  test(`[V14, V15] ${title}`, () => {
    assert.equal(words(of, jobs, 'first_fit'), firstFit, 'first_fit');
    assert.equal(words(of, jobs, 'fifo'), fifo, 'fifo');
    assert.equal(words(of, jobs, 'easy'), easy, 'easy');
    assert.equal(words(of, jobs, 'conservative'), conservative, 'conservative');
  });
}

test('[V15] nobody is sent away for a licence', () => {
  const { scheduling } = snapshot([], []);
  const low: Partition = { ...plainPartition('default'), preempt: 'cancel' };
  const partitions = { default: low, high: { ...plainPartition('high'), tier: 1 } };
  const jobs = [job(1, { partition: 'high', cpus: 8 }), job(1, { partition: 'high', cpus: 4 })];
  const full: NodeWords[] = [{ ...(NODES[0] as NodeWords), used: { cpus: 4 } }];
  const occupant = {
    owner: 'ann',
    partition: 'default',
    qos: 'normal',
    canSuspend: true,
    canRequeue: true,
  };
  const preempted = (of: ClusterStock): number => {
    const shot = snapshot(full, jobs, { stock: of, scheduling: { ...scheduling, partitions } });
    const view = [...shot.pool.names()].map((name) => shot.pool.get(name))[0];
    assert.ok(view !== undefined);
    const running = [...view.running].map((one) => ({ ...one, occupant }) as typeof one);
    shot.pool.set({ ...view, running });
    return plan(shot, 0).preemptions.length;
  };
  assert.equal(preempted(stock(1)), 1);
  assert.equal(preempted(stock(1, [1, 50])), 0);
});

test('[V14] a plan keeps to the licences, now and at every instant that it sets aside', () => {
  const one = fc.record({
    licences: fc.nat(3),
    cpus: fc.integer({ min: 1, max: 4 }),
    time: fc.integer({ min: 1, max: 300 }),
    nodes: fc.integer({ min: 1, max: 2 }),
  });
  const held = fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 300 })), { maxLength: 3 });
  const policies = fc.constantFrom('first_fit', 'fifo', 'easy', 'conservative');
  const property = fc.property(
    fc.array(one, { maxLength: 8 }),
    held,
    fc.integer({ min: 1, max: 5 }),
    policies,
    (list, taken, total, policy) => {
      const jobs = list.map(({ licences, ...more }) => job(licences, more));
      const of = stock(total, ...taken);
      const { starts, promised } = plan(
        snapshot(NODES, jobs, { policy: policy as Policy, stock: of }),
        0,
      );
      const stays = [
        ...starts.map(({ jobId }) => ({ jobId, at: 0 })),
        ...promised.map(({ jobId, at }) => ({ jobId, at })),
      ].map(({ jobId, at }) => {
        const words = jobs[jobId - 1] as JobWords;
        return { at, to: at + (words.time ?? 0), count: words.ofCluster?.['lic'] ?? 0 };
      });
      const all = [...stays, ...taken.map(([count, to]) => ({ at: 0, to, count }))];
      for (const { at, count } of stays) {
        if (count === 0) continue;
        const sum = all.filter((stay) => stay.at <= at && at < stay.to);
        assert.ok(sum.reduce((before, stay) => before + stay.count, 0) <= total, `at ${at}`);
      }
    },
  );
  fc.assert(property, { numRuns: 500 });
});
