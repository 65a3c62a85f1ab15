// Known schedules of jobs that say which gpus they want: what starts now, on which cards, and what
// is set aside.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequest } from '../../../../src/kernel/model/job.ts';
import { fitsIn } from '../../../../src/kernel/model/resources.ts';
import { type Policy, plainPartition } from '../../../../src/kernel/model/scheduling.ts';
import { smallerRequests } from '../../../../src/kernel/scheduler/answers/what-if.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import { askOf, takenAtStart } from '../../../../src/kernel/scheduler/room/ask.ts';
import { Board } from '../../../../src/kernel/scheduler/room/board.ts';
import {
  entries,
  type JobWords,
  type NodeWords,
  snapshot,
  view,
} from '../../../support/snapshots.ts';

const MIXED: NodeWords = {
  name: 'n1',
  cpus: 16,
  memory: 100,
  gpus: 4,
  types: ['a100-80g', 'a100-80g', 'rtx3090-24g', 'rtx3090-24g'],
};
const A100: NodeWords = { ...MIXED, name: 'n2', gpus: 2, types: ['a100-80g', 'a100-80g'] };
const PAIRS: NodeWords = {
  name: 'n3',
  cpus: 16,
  memory: 100,
  gpus: 4,
  types: ['a6000-48g', 'a6000-48g', 'a6000-48g', 'a6000-48g'],
  links: 'abba',
};
const J = { links: 'nvlink' } as const;
const A = { types: ['a100'] };
const R = { types: ['rtx3090'] };
const job = (gpus: number, more: JobWords = {}): JobWords => ({
  cpus: 1,
  gpus,
  time: 100,
  ...more,
});

/** `1@n1(2,3) …`, and after a stroke what is set aside: `2@n1 at 100`. */
function words(nodes: readonly NodeWords[], jobs: readonly JobWords[], policy: Policy): string {
  const { starts, promised } = plan(snapshot(nodes, jobs, { policy }), 0);
  const now = starts.map(({ jobId, shares }) => {
    return `${jobId}@${shares.map(({ node, gpus }) => `${node}(${gpus.join()})`).join('+')}`;
  });
  const later = promised.map(({ jobId, at, nodes: on }) => `${jobId}@${on.join('+')} at ${at}`);
  return [now.join(' '), ...later].join(' | ');
}

interface Row {
  readonly title: string;
  readonly nodes: readonly NodeWords[];
  readonly jobs: readonly JobWords[];
  readonly firstFit: string;
  readonly easy: string;
  /** Absent: as easy. */
  readonly conservative?: string;
}

const ROWS: readonly Row[] = [
  {
    title: 'each gets its type',
    nodes: [MIXED],
    jobs: [job(2, { kind: A }), job(1, { kind: R }), job(1)],
    firstFit: '1@n1(0,1) 2@n1(2) 3@n1(3)',
    easy: '1@n1(0,1) 2@n1(2) 3@n1(3)',
  },
  {
    title: 'who asks for any leaves the large ones free',
    nodes: [MIXED],
    jobs: [job(2), job(2, { kind: A })],
    firstFit: '1@n1(2,3) 2@n1(0,1)',
    easy: '1@n1(2,3) 2@n1(0,1)',
  },
  {
    title: 'as many of any kind that are free are not enough of one kind',
    nodes: [{ ...MIXED, used: { cpus: 1, gpus: 1 }, until: 100 }],
    jobs: [job(2, { kind: A }), job(2, { kind: R })],
    firstFit: '2@n1(2,3)',
    easy: '2@n1(2,3) | 1@n1 at 100',
  },
  {
    title: '[V10] a later job does not take the card that one before it waits for',
    nodes: [{ ...MIXED, used: { cpus: 1, gpus: 1 }, until: 100 }],
    jobs: [job(2, { kind: A }), job(1, { kind: A, time: 200 }), job(1, { time: 200 })],
    firstFit: '2@n1(1) 3@n1(2)',
    easy: '3@n1(2) | 1@n1 at 100',
    conservative: '3@n1(2) | 1@n1 at 100 | 2@n1 at 200',
  },
  {
    title: '[V10] one that is over by then takes it',
    nodes: [{ ...MIXED, used: { cpus: 1, gpus: 1 }, until: 100 }],
    jobs: [job(2, { kind: A }), job(1, { kind: A, time: 100 })],
    firstFit: '2@n1(1)',
    easy: '2@n1(1) | 1@n1 at 100',
  },
  {
    title: '[V10] any cards are others than those that are set aside, though these are free now',
    nodes: [{ ...MIXED, used: { cpus: 1, gpus: 1 }, until: 100 }],
    jobs: [job(2, { kind: A }), job(2, { time: 500 }), job(1, { time: 500 })],
    firstFit: '2@n1(2,3) 3@n1(1)',
    easy: '2@n1(2,3) | 1@n1 at 100',
    conservative: '2@n1(2,3) | 1@n1 at 100 | 3@n1 at 200',
  },
  {
    title: 'a wide job has its cards on each node',
    nodes: [MIXED, A100],
    jobs: [job(2, { kind: A, nodes: 2 })],
    firstFit: '1@n1(0,1)+n2(0,1)',
    easy: '1@n1(0,1)+n2(0,1)',
  },
  {
    title: 'one of several types',
    nodes: [MIXED, A100],
    jobs: [job(2, { kind: R }), job(2, { kind: { types: ['h100', 'a100'] } })],
    firstFit: '1@n1(2,3) 2@n1(0,1)',
    easy: '1@n1(2,3) 2@n1(0,1)',
  },
  {
    title: 'by memory',
    nodes: [MIXED],
    jobs: [job(1, { kind: { memoryBytesMin: 20 } }), job(1, { kind: { memoryBytesMin: 40 } })],
    firstFit: '1@n1(2) 2@n1(0)',
    easy: '1@n1(2) 2@n1(0)',
  },
  {
    title: '[V9] shares fill a card, and one that does not fit waits for a whole card',
    nodes: [A100],
    jobs: [
      job(1, { kind: { shareBytes: 50 } }),
      job(1, { kind: { shareBytes: 30 } }),
      job(1, { kind: { shareBytes: 50 } }),
      job(1),
      job(1, { kind: { shareBytes: 40 }, time: 50 }),
    ],
    firstFit: '1@n2(0) 2@n2(0) 3@n2(1)',
    easy: '1@n2(0) 2@n2(0) 3@n2(1) | 4@n2 at 100',
    conservative: '1@n2(0) 2@n2(0) 3@n2(1) | 4@n2 at 100 | 5@n2 at 100',
  },
  {
    title: '[V9] a share beside another one that goes on is set aside there',
    nodes: [{ ...A100, gpus: 1, types: ['a100-80g'] }],
    jobs: [
      job(1, { kind: { shareBytes: 40 }, time: 300 }),
      job(1, { kind: { shareBytes: 40 } }),
      job(1, { kind: { shareBytes: 40 } }),
      job(1),
    ],
    firstFit: '1@n2(0) 2@n2(0)',
    easy: '1@n2(0) 2@n2(0) | 3@n2 at 100',
    conservative: '1@n2(0) 2@n2(0) | 3@n2 at 100 | 4@n2 at 300',
  },
  {
    title: '[V24] gpus that are joined, for who asks for them so',
    nodes: [PAIRS],
    jobs: [job(1), job(2, { kind: J }), job(2, { kind: J }), job(1)],
    firstFit: '1@n3(0) 2@n3(1,2) 4@n3(3)',
    easy: '1@n3(0) 2@n3(1,2) 4@n3(3) | 3@n3 at 100',
  },
  {
    title: '[V24] as many that are free are not enough when they are of two pairs',
    nodes: [{ ...PAIRS, links: 'aabb', used: { cpus: 1, gpus: 1 }, until: 100 }],
    jobs: [job(2, { kind: J, time: 50 }), job(2, { kind: J }), job(1, { time: 300 }), job(1)],
    firstFit: '1@n3(2,3) 3@n3(1)',
    easy: '1@n3(2,3) 3@n3(1) | 2@n3 at 50',
    conservative: '1@n3(2,3) 3@n3(1) | 2@n3 at 50 | 4@n3 at 100',
  },
  {
    title: '[V24] none starts on one of a pair that is set aside',
    nodes: [
      {
        ...PAIRS,
        gpus: 2,
        types: ['a6000-48g', 'a6000-48g'],
        links: 'aa',
        used: { cpus: 1, gpus: 1 },
        until: 100,
      },
    ],
    jobs: [job(2, { kind: J }), job(1, { time: 200 }), job(1, { time: 100 })],
    firstFit: '2@n3(1)',
    easy: '3@n3(1) | 1@n3 at 100',
    conservative: '3@n3(1) | 1@n3 at 100 | 2@n3 at 200',
  },
  {
    title: '[V24] on the node where they are joined, on each node of a wide job',
    nodes: [A100, PAIRS, { ...PAIRS, name: 'n4', links: 'aabb' }],
    jobs: [job(2, { kind: J }), job(2, { kind: { ...J, types: ['a6000'] }, nodes: 2 })],
    firstFit: '1@n3(0,3) 2@n3(1,2)+n4(0,1)',
    easy: '1@n3(0,3) 2@n3(1,2)+n4(0,1)',
  },
];

for (const { title, nodes, jobs, firstFit, easy, conservative = easy } of ROWS) {
  test(title, () => {
    assert.equal(words(nodes, jobs, 'first_fit'), firstFit);
    assert.equal(words(nodes, jobs, 'easy'), easy);
    assert.equal(words(nodes, jobs, 'conservative'), conservative);
  });
}

const NODES = [MIXED, A100, PAIRS];

/** Jobs by a small recipe: all kinds of wishes, lengths and counts. */
function* workloads(): Generator<readonly JobWords[]> {
  let seed = 7;
  const dice = (sides: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * sides);
  };
  const kinds = [undefined, A, R, J, { memoryBytesMin: 40 }, { shareBytes: 8 }, { shareBytes: 30 }];
  for (let round = 0; round < 300; round += 1) {
    yield Array.from({ length: 2 + dice(8) }, () => {
      const kind = kinds[dice(kinds.length)];
      const wish = job(kind === J ? 2 : 1 + dice(2), { time: 50 * (1 + dice(6)) });
      return kind === undefined ? wish : { ...wish, kind };
    });
  }
}

test('[V9] no plan gives a card twice, or more of one than it has', () => {
  for (const jobs of workloads()) {
    const { starts } = plan(snapshot(NODES, jobs, { policy: 'conservative' }), 0);
    const left = new Map<string, number>();
    for (const { jobId, shares } of starts) {
      const wish = jobs[jobId - 1] as JobWords;
      for (const { node, gpus, gpuShareBytes } of shares) {
        assert.equal(gpus.length, wish.gpus);
        for (const number of gpus) {
          const { types, links = '' } = NODES.find(({ name }) => name === node) as NodeWords;
          const type = types?.[number] ?? '';
          const isJoined = wish.kind?.links === undefined || links[number] === links[gpus[0] ?? 0];
          assert.ok(isJoined && (wish.kind !== J || links !== ''), `${jobId} has ${gpus.join()}`);
          const size = Number(/-(\d+)g$/.exec(type)?.[1]);
          const kind = wish.kind ?? {};
          assert.ok(
            kind.types?.every((one) => type.startsWith(one)) ?? true,
            `${jobId} has ${type}`,
          );
          assert.ok(size >= (kind.memoryBytesMin ?? 0));
          const key = `${node}/${number}`;
          const rest = (left.get(key) ?? size) - (gpuShareBytes ?? size);
          assert.ok(rest >= 0, `${key} has no more than ${size}`);
          left.set(key, rest);
        }
      }
    }
  }
});

test('[V10] what starts meanwhile delays nothing that was set aside before it', () => {
  for (const jobs of workloads()) {
    const whole = plan(snapshot(NODES, jobs, { policy: 'conservative' }), 0);
    const last = jobs.length;
    const before = plan(snapshot(NODES, jobs.slice(0, -1), { policy: 'conservative' }), 0);
    const others = whole.promised.filter(({ jobId }) => jobId < last);
    assert.deepEqual(others, before.promised);
    const started = whole.starts.filter(({ jobId }) => jobId < last);
    assert.deepEqual(started, before.starts);
  }
});

/** Plans after a job that gets a whole node, one gpu of which is gone. */
function afterWhole(isTold: boolean, later: readonly JobWords[]) {
  const now = snapshot([MIXED], [job(1, { exclusive: true }), ...later], {
    policy: 'conservative',
  });
  const node = view(MIXED, 1);
  const { cards, ...free } = { ...node.free, gpuCount: 3 };
  assert.ok(cards !== undefined);
  const { cards: _, ...total } = node.total;
  const left = cards.left.map((amount, number) => (number === 1 ? 0 : amount));
  const seen = { ...node, gpusFree: [0, 2, 3] };
  const told = { ...seen, free: { ...free, cards: { ...cards, left } } };
  now.pool.set(isTold ? told : { ...seen, free, total });
  return plan(now, 0);
}

for (const [isTold, fits, doesNot] of [
  [true, job(1, { kind: A }), job(2, { kind: A })],
  [false, job(3), job(4)],
] as const) {
  const title = `a whole node comes with the gpus that it can give, ${isTold ? 'told' : 'counted'}`;
  test(`[V3, A14] ${title}`, () => {
    const { starts, promised } = afterWhole(isTold, [doesNot, fits]);
    const [share] = starts.flatMap(({ shares }) => shares);
    assert.deepEqual(share?.gpus, [0, 2, 3]);
    assert.equal(share.resources.gpuCount, 3, 'it is not billed for the one that is gone');
    const times = promised.map(({ jobId, at }) => [jobId, at]);
    assert.deepEqual(times, [[3, 100]], 'the one that is gone is not there then');
  });
}

test('[V9] where no card is open all the time the task gets one that is free now, never one that is held', () => {
  const types = ['a100-80g', 'a100-80g', 'a100-80g'];
  const node = view({ name: 'n1', cpus: 8, memory: 100, gpus: 3, types, used: { gpus: 2 } }, 0);
  const { free } = node;
  assert.ok(free.cards !== undefined);
  // The third card is promised to somebody from some time on, when one of the others will be free.
  const open = { deck: free.cards.deck, left: [0, 0, 0] };
  const perNode = { cpuCount: 1, memoryBytes: 1, gpuCount: 1, counted: {} };
  const request: ResourceRequest = {
    nodeCount: 1,
    processesPerNode: 1,
    exclusive: false,
    labels: [],
    nodeNames: [],
    perNode,
  };
  assert.deepEqual(takenAtStart(node, request, open).gpus, [2]);
  assert.deepEqual(takenAtStart(node, request, free.cards).gpus, [2]);
  // A card that somebody has a share of is not one for a whole-card task.
  const [, , whole = 0] = free.cards.left;
  const shared = { ...free.cards, left: [whole - 8, 0, whole] };
  const held = { ...node, free: { ...free, cards: shared } };
  assert.deepEqual(takenAtStart(held, request, { ...open, left: [whole - 8, 0, 0] }).gpus, [2]);
});

test('[V9] a share takes no card from those that are set aside, and goes on one that is shared already', () => {
  const types = ['a100-80g', 'a100-80g'];
  const { free } = view({ name: 'n1', cpus: 8, memory: 100, gpus: 2, types }, 0);
  assert.ok(free.cards !== undefined);
  const kind = { types: null, memoryBytesMin: null, shareBytes: 8 };
  const share = { cpuCount: 1, memoryBytes: 1, gpuCount: 1, gpuKind: kind, counted: {} };
  assert.equal(fitsIn(share, free), true);
  assert.equal(fitsIn(share, { ...free, gpuCount: 0 }), false, 'both are set aside');
  const [first = 0, second = 0] = free.cards.left;
  const cards = { ...free.cards, left: [first - 8, second] };
  assert.equal(fitsIn(share, { ...free, gpuCount: 0, cards }), true, 'beside another share');
  const two = { ...share, gpuCount: 2 };
  assert.equal(fitsIn(two, { ...free, gpuCount: 0, cards }), false);
  assert.equal(fitsIn(two, { ...free, gpuCount: 1, cards }), true);
});

test('[J23, V8] a job that waits for gpus of a type is told when others would do', () => {
  const { pool } = snapshot([MIXED], []);
  const board = new Board({ pool, windows: [], now: 0 });
  const offers = (words: JobWords) => {
    const [entry] = entries([words]);
    assert.ok(entry !== undefined);
    const found = smallerRequests(board, askOf(entry.shape, plainPartition('default')));
    return found.map((change) => change.map(({ what, to, from }) => `${what} ${to} of ${from}`));
  };
  assert.deepEqual(offers(job(3, { kind: A })), [['gpus 2 of 3'], ['gpuTypes 0 of 1']]);
  const large = { ...A, memoryBytesMin: 60 };
  assert.deepEqual(offers(job(3, { kind: large })), [['gpus 2 of 3']], 'the others are too small');
  assert.deepEqual(offers(job(5)), [['gpus 4 of 5']]);
});
