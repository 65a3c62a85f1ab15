// Rows of nodes and jobs, and the plan that must come of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import {
  DEFAULT_PARTITION,
  type PlacementRule,
  plainPartition,
} from '../../../../src/kernel/model/scheduling.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import { type JobWords, type NodeWords, planWords, snapshot } from '../../../support/snapshots.ts';

const N4: NodeWords = { name: 'n1', cpus: 4, memory: 100 };
const TWO: readonly NodeWords[] = [N4, { ...N4, name: 'n2' }];
const MIXED: readonly NodeWords[] = [
  { name: 'n1', cpus: 2, memory: 100, labels: ['old'] },
  { name: 'n2', cpus: 8, memory: 100, gpus: 2, labels: ['new', 'gpu'] },
  { name: 'n3', cpus: 8, memory: 100, used: { cpus: 2 }, labels: ['new'] },
];

interface Row {
  readonly title: string;
  readonly nodes: readonly NodeWords[];
  readonly jobs: readonly JobWords[];
  readonly firstFit: string;
  /** Absent: the same. */
  readonly fifo?: string;
  readonly startsMax?: number;
}

const ROWS: readonly Row[] = [
  { title: '[A9] nothing waits', nodes: TWO, jobs: [], firstFit: '' },
  { title: '[A9] no nodes', nodes: [], jobs: [{ cpus: 1 }], firstFit: '' },
  {
    title: '[A9] nodes are filled in their order',
    nodes: TWO,
    jobs: [{ cpus: 3 }, { cpus: 3 }, { cpus: 1 }, { cpus: 1 }],
    firstFit: '1@n1 2@n2 3@n1 4@n2',
  },
  {
    title: '[A9] lower nice goes first, then the older job',
    nodes: [N4],
    jobs: [{ cpus: 2 }, { cpus: 2 }, { cpus: 2, nice: -1 }, { cpus: 2, nice: 1 }],
    firstFit: '3@n1 1@n1',
  },
  {
    title: '[A10] what does not fit stops the rest under fifo only',
    nodes: [N4],
    jobs: [{ cpus: 3 }, { cpus: 2 }, { cpus: 1 }],
    firstFit: '1@n1 3@n1',
    fifo: '1@n1',
  },
  {
    title: '[A1] a wide task takes all its nodes or none',
    nodes: [...TWO, { name: 'n3', cpus: 2, memory: 100 }],
    jobs: [
      { cpus: 4, nodes: 3 },
      { cpus: 2, nodes: 3 },
      { cpus: 2, nodes: 2 },
    ],
    firstFit: '2@n1+n2+n3 3@n1+n2',
    fifo: '',
  },
  {
    title: '[A9] an array starts as far as it fits',
    nodes: TWO,
    jobs: [{ cpus: 2, tasks: 9 }],
    firstFit: '1@n1 1[1]@n1 1[2]@n2 1[3]@n2',
  },
  {
    title: '[J8] an array at its limit makes room for the next job, under fifo too',
    nodes: [N4],
    jobs: [
      { cpus: 1, tasks: 9, runningMax: 2, running: 1 },
      { cpus: 1, tasks: 9, runningMax: 1, running: 1 },
      { cpus: 1 },
    ],
    firstFit: '1@n1 3@n1',
  },
  {
    title: '[A5] labels, all of them',
    nodes: MIXED,
    jobs: [
      { cpus: 1, labels: ['new'] },
      { cpus: 1, labels: ['new', 'gpu'], nodes: 2 },
      { cpus: 1, labels: ['old'] },
    ],
    firstFit: '1@n3 3@n1',
    fifo: '1@n3',
  },
  {
    title: '[A5] named nodes, in node order',
    nodes: MIXED,
    jobs: [
      { cpus: 2, nodes: 2, names: ['n3', 'n1'] },
      { cpus: 1, names: ['n1'] },
      { cpus: 1, names: ['n9'] },
    ],
    firstFit: '1@n1+n3',
  },
  {
    title: '[A4] gpus are given by index',
    nodes: MIXED,
    jobs: [
      { cpus: 1, gpus: 1 },
      { cpus: 1, gpus: 1 },
      { cpus: 1, gpus: 1 },
    ],
    firstFit: '1@n2 2@n2',
  },
  {
    title: '[A3] exclusive tasks take idle nodes only, and close them',
    nodes: MIXED,
    jobs: [{ cpus: 1, exclusive: true, nodes: 2 }, { cpus: 1 }, { cpus: 7 }],
    firstFit: '1@n1+n2 2@n3',
  },
  {
    title: '[A3] a node that this cycle has used is not idle any more',
    nodes: TWO,
    jobs: [{ cpus: 1 }, { cpus: 1, exclusive: true, nodes: 2 }, { cpus: 1, exclusive: true }],
    firstFit: '1@n1 3@n2',
    fifo: '1@n1',
  },
  {
    title: '[A2] counted resources, and names that objects inherit',
    nodes: [{ ...N4, counted: { licence: 2 } }],
    jobs: [
      { cpus: 1, counted: { licence: 1 } },
      { cpus: 1, counted: { licence: 2 } },
      { cpus: 1, counted: { toString: 1 } },
      { cpus: 1, counted: { licence: 1 } },
    ],
    firstFit: '1@n1 4@n1',
    fifo: '1@n1',
  },
  {
    title: '[A9] a cycle stops at its limit and says that there is more',
    nodes: [N4],
    jobs: [{ cpus: 1, tasks: 9 }],
    firstFit: '1@n1 1[1]@n1 …',
    startsMax: 2,
  },
  {
    title: '[S10] a node that is not in the pool gets nothing',
    nodes: [],
    jobs: [{ cpus: 0 }],
    firstFit: '',
  },
];

for (const { title, nodes, jobs, firstFit, fifo = firstFit, startsMax = 512 } of ROWS) {
  test(`${title}: first_fit plans '${firstFit}', fifo '${fifo}'`, () => {
    for (const [policy, wanted] of [
      ['first_fit', firstFit],
      ['fifo', fifo],
    ] as const) {
      const snap = snapshot(nodes, jobs, { policy, startsMax });
      assert.equal(planWords(plan(snap, 0)), wanted, policy);
    }
  });
}

test('[A4] shares name the gpus that are free', () => {
  const node = { name: 'n1', cpus: 8, memory: 1, gpus: 4, used: { gpus: 1 } };
  const { starts } = plan(
    snapshot(
      [node],
      [
        { gpus: 2, cpus: 1 },
        { gpus: 1, cpus: 1 },
      ],
    ),
    0,
  );
  assert.deepEqual(
    starts.map((start) => start.shares[0]?.gpus),
    [[1, 2], [3]],
  );
});

const PLACES: readonly (readonly [PlacementRule, string])[] = [
  ['pack', '1@n1 2@n1 3@n2'],
  ['spread', '1@n2 2@n3 3@n2'],
  ['least_loaded', '1@n3 2@n3 3@n3'],
];

for (const [placement, wanted] of PLACES) {
  test(`[A9] a partition that places by ${placement} fills nodes in that order`, () => {
    const nodes = [
      { ...N4, used: { cpus: 2 } },
      { ...N4, name: 'n2' },
      { ...N4, name: 'n3' },
    ];
    const snap = snapshot(nodes, [{ cpus: 1 }, { cpus: 1 }, { cpus: 1 }]);
    const plain = plainPartition(DEFAULT_PARTITION);
    const scheduling = {
      ...snap.scheduling,
      partitions: { [DEFAULT_PARTITION]: { ...plain, placement } },
    };
    // What is allocated is not what is busy: n3 idles, whatever it has given away.
    const loads = new Map([
      ['n1' as NodeName, 0.5],
      ['n2' as NodeName, 2],
      ['n3' as NodeName, 0.1],
    ]);
    assert.equal(planWords(plan({ ...snap, scheduling, loads }, 0)), wanted);
  });
}

const DAY_MS = 86_400_000;
const GPU: NodeWords = { name: 'n1', cpus: 1, memory: 100, gpus: 1, labels: ['gpu'] };
const PLAIN: NodeWords = { name: 'n2', cpus: 1, memory: 100 };
const LATER: readonly JobWords[] = [{ cpus: 1 }, { cpus: 1, gpus: 1 }];
const LABELLED: readonly JobWords[] = [{ cpus: 1 }, { cpus: 1, labels: ['gpu'], exclusive: true }];

for (const [title, nodes, jobs, words, now = 0] of [
  ['what needs gpus goes first where both would start', [GPU], LATER, '2@n1'],
  ['a label says so too', [GPU], LABELLED, '2@n1'],
  ['it costs nothing where there are other nodes', [GPU, PLAIN], LATER, '1@n2 2@n1'],
  ['nor where nothing that needs gpus waits', [GPU], [{ cpus: 1 }], '1@n1'],
  ['nor where that does not fit now', [GPU], [{ cpus: 1 }, { cpus: 2, gpus: 1 }], '1@n1'],
  ['nor where both fit', [{ ...GPU, cpus: 2 }], LATER, '2@n1 1@n1'],
  ['who has waited for a day lets nobody go first', [GPU], LATER, '1@n1', DAY_MS],
  [
    'an array goes as far as there are gpus, and one with a limit in its turn',
    [{ ...GPU, cpus: 3, gpus: 2 }],
    [{ cpus: 1 }, { cpus: 1, gpus: 1, tasks: 5 }, { cpus: 1, gpus: 1, runningMax: 1 }],
    '2@n1 2[1]@n1 1@n1',
  ],
] as const satisfies readonly (readonly [
  string,
  readonly NodeWords[],
  readonly JobWords[],
  string,
  number?,
])[]) {
  test(`[P15] ${title}`, () => {
    for (const policy of ['first_fit', 'easy', 'conservative'] as const) {
      assert.equal(planWords(plan(snapshot(nodes, jobs, { policy }), now)), words, policy);
    }
  });
}

test('[P15] under fifo, and before a higher tier, nobody goes first', () => {
  assert.equal(planWords(plan(snapshot([GPU], LATER, { policy: 'fifo' }), 0)), '1@n1');
  const of = snapshot([GPU], [{ cpus: 1, partition: 'high' }, LATER[1] as JobWords]);
  const high = { ...plainPartition('high', 'first_fit'), tier: 1 };
  const partitions = { ...of.scheduling.partitions, high };
  const scheduling = { ...of.scheduling, partitions };
  assert.equal(planWords(plan({ ...of, scheduling }, 0)), '1@n1');
});

test('[P15] a cycle that may start no more leaves the others to the next one', () => {
  const node = { ...GPU, cpus: 2 };
  assert.equal(planWords(plan(snapshot([node], LATER, { startsMax: 1 }), 0)), '2@n1 …');
  assert.equal(planWords(plan(snapshot([node], LATER, { startsMax: 3 }), 0)), '2@n1 1@n1');
});

test('[P15] what is promised to who comes first is kept from those that need gpus', () => {
  const hour = 3_600_000;
  const busy = { ...PLAIN, used: { cpus: 1 }, until: hour };
  const jobs = [
    { cpus: 1, nodes: 2, time: hour },
    { cpus: 1, gpus: 1, time: 2 * hour },
    { cpus: 1, gpus: 1, time: hour },
  ];
  const made = plan(snapshot([GPU, busy], jobs, { policy: 'easy' }), 0);
  assert.equal(planWords(made), '3@n1');
  assert.deepEqual(made.promised, [{ jobId: 1, index: 0, at: hour, nodes: ['n1', 'n2'] }]);
});
