// Situations of a waiting task, and the very words that `weft why` has for them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewLookAhead } from '../../../../src/kernel/head/answers/prospect-view.ts';
import { lookAhead, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Reservation } from '../../../../src/kernel/model/reservation.ts';
import {
  DEFAULT_WEIGHTS,
  type Policy,
  plainScheduling,
} from '../../../../src/kernel/model/scheduling.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { START_AT, TestHead } from '../../../support/controller.ts';

const MINUTE = 60_000;
const GIB = 2 ** 30;

type Wish = Partial<Submission>;

interface Row {
  readonly title: string;
  readonly policy?: Policy;
  /** How many nodes, of 4 cpus and 8 GiB each. */
  readonly nodes?: number;
  /** Each starts at once. */
  readonly running?: readonly Wish[];
  /** The words are about the last of them. */
  readonly waiting: readonly Wish[];
  readonly reserved?: Partial<Reservation> & { fromMs: number; node: string };
  /** After a scheduling cycle, and without the line about the priority. */
  readonly words: readonly string[];
}

const FULL: Wish = { cpuCount: 4, memoryBytes: 2 * GIB, walltimeMs: 30 * MINUTE };

const ROWS: readonly Row[] = [
  {
    title: 'a full node: when its task ends',
    running: [{ ...FULL, cpuCount: 3 }],
    waiting: [{ cpuCount: 2, walltimeMs: MINUTE }],
    words: [
      'It is pending: needs 1 node with 2 cpus; n1 has only 1 cpu free.',
      "By today's plan it starts at the latest at 2023-11-14T22:43:20Z, in 30m on n1.",
      'It would start now with 1 cpu instead of 2.',
    ],
  },
  {
    title: 'nothing smaller helps on a full node',
    running: [FULL],
    waiting: [{ cpuCount: 1, walltimeMs: MINUTE }],
    words: [
      'It is pending: needs 1 node with 1 cpu; n1 is full: 4 of 4 cpus in use.',
      "By today's plan it starts at the latest at 2023-11-14T22:43:20Z, in 30m on n1.",
    ],
  },
  {
    title: 'tasks without a time limit',
    running: [{ cpuCount: 4 }],
    waiting: [{ cpuCount: 1 }],
    words: [
      'It is pending: needs 1 node with 1 cpu; n1 is full: 4 of 4 cpus in use.',
      "By today's plan it starts on n1, but only when tasks without a time limit have ended.",
    ],
  },
  ...(['fifo', 'easy'] as const).map((policy): Row => {
    const full = 'needs 1 node with 4 cpus; n1 is full: 4 of 4 cpus in use';
    const behind = 'job 2 is ahead of it, and this partition starts jobs in order (fifo)';
    return {
      title: `${policy}: behind a task without a time limit that waits itself`,
      policy,
      running: [FULL],
      waiting: [{ cpuCount: 4 }, { cpuCount: 4 }, { cpuCount: 4, walltimeMs: MINUTE }],
      words: [
        `It is pending: ${policy === 'fifo' ? behind : full}.`,
        "By today's plan it starts on n1, but only when tasks without a time limit have ended.",
      ],
    };
  }),
  {
    title: 'fewer nodes would do, or less of each',
    nodes: 3,
    running: [{ ...FULL, cpuCount: 2, memoryBytes: 5 * GIB }],
    waiting: [{ cpuCount: 3, nodeCount: 3, walltimeMs: MINUTE, memoryBytes: GIB }],
    words: [
      'It is pending: needs 3 nodes with 3 cpus, 1G memory; only 2 nodes have room; n1 has only 2 cpus free.',
      "By today's plan it starts at the latest at 2023-11-14T22:43:20Z, in 30m on n1, n2, n3.",
      'It would start now with 2 nodes instead of 3, or 2 cpus instead of 3.',
    ],
  },
  {
    title: 'two amounts at once where neither helps alone',
    running: [{ cpuCount: 2, memoryBytes: 6 * GIB, walltimeMs: 30 * MINUTE }],
    waiting: [{ cpuCount: 4, memoryBytes: 4 * GIB, walltimeMs: MINUTE }],
    words: [
      'It is pending: needs 1 node with 4 cpus, 4G memory; n1 has only 2 cpus and 2G memory free.',
      "By today's plan it starts at the latest at 2023-11-14T22:43:20Z, in 30m on n1.",
      'It would start now with 2 cpus instead of 4 and 2G memory instead of 4G.',
    ],
  },
  {
    title: 'a whole node: only nodes with other tasks are in the way',
    nodes: 2,
    running: [{ ...FULL, cpuCount: 1 }],
    waiting: [{ nodeCount: 2, exclusive: true, walltimeMs: MINUTE }],
    words: [
      'It is pending: needs 2 nodes with 1 cpu and no other tasks; only 1 node has room; n1 runs other tasks.',
      "By today's plan it starts at the latest at 2023-11-14T22:43:20Z, in 30m on n1, n2.",
      'It would start now with 1 node instead of 2.',
    ],
  },
  {
    title: 'one node is full, the other one is set aside soon',
    nodes: 2,
    running: [FULL],
    waiting: [{ nodeCount: 2, cpuCount: 2, walltimeMs: 60 * MINUTE }],
    reserved: { fromMs: 35 * MINUTE, node: 'n2', name: 'course' },
    words: [
      'It is pending: needs 2 nodes with 2 cpus; n1 is full (4 of 4 cpus in use), n2 has reservation course in 35m.',
      "By today's plan it starts at the latest at 2023-11-15T00:48:20Z, in 2h35m on n1, n2.",
      'It would start now with 1 node instead of 2 and a time limit of 35m instead of 1h.',
    ],
  },
  {
    title: 'a whole node: what is set aside is in the way too',
    nodes: 2,
    running: [{ ...FULL, cpuCount: 1 }],
    waiting: [{ nodeCount: 2, exclusive: true, walltimeMs: 60 * MINUTE }],
    reserved: { fromMs: -5 * MINUTE, node: 'n2', name: 'fans', purpose: 'maintenance' },
    words: [
      'It is pending: needs 2 nodes with 1 cpu and no other tasks; n1 runs other tasks, n2 is in maintenance fans for 1h55m more.',
      "By today's plan it starts at the latest at 2023-11-15T00:08:20Z, in 1h55m on n1, n2.",
    ],
  },
  {
    title: 'fifo: nobody passes the first',
    policy: 'fifo',
    running: [{ ...FULL, cpuCount: 2 }],
    waiting: [
      { cpuCount: 4, walltimeMs: 10 * MINUTE },
      { cpuCount: 1, walltimeMs: MINUTE },
    ],
    words: [
      'It is pending: job 2 is ahead of it, and this partition starts jobs in order (fifo).',
      "By today's plan it starts at the latest at 2023-11-14T22:53:20Z, in 40m on n1.",
    ],
  },
  {
    title: 'easy: what is free is kept for the first; a shorter limit fits before it',
    policy: 'easy',
    running: [{ ...FULL, cpuCount: 2 }],
    waiting: [
      { cpuCount: 4, walltimeMs: 10 * MINUTE },
      { cpuCount: 1, walltimeMs: 60 * MINUTE },
    ],
    words: [
      'It is pending: the free nodes are kept for job 2, which starts at 2023-11-14T22:43:20Z, in 30m.',
      "By today's plan it starts at the latest at 2023-11-14T22:53:20Z, in 40m on n1.",
      'It would start now with a time limit of 30m instead of 1h.',
    ],
  },
  {
    title: 'a reservation that begins too soon',
    waiting: [{ cpuCount: 1, walltimeMs: 60 * MINUTE }],
    reserved: { fromMs: 35 * MINUTE, node: 'n1', name: 'course' },
    words: [
      'It is pending: it could run into reservation course on n1, which starts in 35m.',
      "By today's plan it starts at the latest at 2023-11-15T00:48:20Z, in 2h35m on n1.",
      'It would start now with a time limit of 35m instead of 1h.',
    ],
  },
  {
    title: 'maintenance, and no time limit',
    waiting: [{ cpuCount: 1 }],
    reserved: { fromMs: 35 * MINUTE, node: 'n1', name: 'fans', purpose: 'maintenance' },
    words: [
      'It is pending: it has no time limit and could run into maintenance fans on n1, which starts in 35m.',
      "By today's plan it starts at the latest at 2023-11-15T00:48:20Z, in 2h35m on n1.",
      'It would start now with a time limit of 35m instead of none.',
    ],
  },
];

type Situation = Omit<Row, 'title' | 'words'>;

function headOf({ policy = 'first_fit', nodes = 1, running = [], waiting, reserved }: Situation) {
  const head = new TestHead({ scheduling: plainScheduling(policy) });
  for (let node = 1; node <= nodes; node += 1) {
    head.connect(`n${node}`, { cpus: 4, memory: 8 * GIB });
  }
  for (const wish of running) head.running(wish);
  if (reserved !== undefined) {
    const { fromMs, node, name = 'r1', purpose = 'users' } = reserved;
    const from = START_AT + fromMs;
    const slot = { from, until: from + 120 * MINUTE, shares: { [node]: 'whole' }, begun: false };
    const reservation = { id: 'r1', name, purpose, slots: [slot] } as unknown as Reservation;
    head.state.reservations.set('r1', reservation);
  }
  const ids = waiting.map((wish) => head.submit(wish));
  head.schedule();
  return { head, id: ids.at(-1) as number };
}

function wordsOf(head: TestHead, id: number): string[] {
  const pending = pendingOf(head.job(id), 0);
  return viewLookAhead(lookAhead(head.state, head.settings, pending, head.at), 'task').words.split(
    '\n',
  );
}

for (const row of ROWS) {
  test(`[J23] ${row.title}`, () => {
    const { head, id } = headOf(row);
    const words = wordsOf(head, id);
    assert.deepEqual(words.slice(0, -1), row.words);
    assert.match(words.at(-1) ?? '', /^Priority 0/);
  });
}

test('[J23] the parts of the priority add up, in points', () => {
  const weights = { ...DEFAULT_WEIGHTS, age: 100, fairShare: 2000 };
  const head = new TestHead({ scheduling: { ...plainScheduling('first_fit'), weights } });
  head.connect('n1', { cpus: 4 });
  head.running({ cpuCount: 4 });
  const id = head.submit({ nice: 1 });
  head.at += 150 * MINUTE;
  assert.equal(wordsOf(head, id).at(-1), 'Priority 250 = age 250 + fair share 1,000 - nice 1,000.');
});

test('[J23] a priority of one part is not told twice', () => {
  const head = new TestHead({ scheduling: plainScheduling('first_fit') });
  head.connect('n1', { cpus: 4 });
  head.running({ cpuCount: 4 });
  const id = head.submit({ nice: -5 });
  assert.equal(wordsOf(head, id).at(-1), 'Priority 5,000, all by nice.');
});

test('[J23] a start that is not worked out is not told', () => {
  const { head, id } = headOf({ running: [FULL], waiting: [{ cpuCount: 1 }] });
  const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(id), 0), head.at);
  assert.ok(ahead.prospect !== null);
  const forecast = { at: null, nodes: [], unplannedAfter: null };
  const view = viewLookAhead({ ...ahead, prospect: { ...ahead.prospect, forecast } }, 'task');
  assert.equal(view.startsAt, null);
  assert.match(
    view.words,
    /^Its start is not known: the cluster has too many nodes to look at\.$/m,
  );
});

test('[J23] what keeps a task from the queue is all that is said', () => {
  const { head, id } = headOf({ waiting: [{ held: true }] });
  assert.deepEqual(wordsOf(head, id), [
    `It is pending: held; \`weft release ${id}\` lets it start.`,
  ]);
});

const GUESSES = [
  [{ waitMs: 0 }, 'gets it now and starts it at once: a guess from its listing 12s ago.'],
  [
    { waitMs: 130 * MINUTE },
    'gets it now and starts it at 2023-11-15T00:23:20Z, in 2h10m: a guess from its listing 12s ago.',
  ],
  [
    { waitMs: Number.POSITIVE_INFINITY },
    'gets it now; nobody knows when it starts there: by its listing 12s ago it takes no work.',
  ],
  [
    { waitMs: Number.POSITIVE_INFINITY, listedAt: null },
    'gets it now; nobody knows when it starts there: it was never listed.',
  ],
] as const;

/** The look ahead of a task that starts with the next cycle, or after half an hour, at a site. */
function atSite(wait: { waitMs: number; listedAt?: number | null }, laterMs = 0) {
  const { head, id } = headOf({ running: [FULL], waiting: [{ cpuCount: 1 }] });
  const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(id), 0), head.at);
  assert.ok(ahead.prospect !== null);
  const listed = { site: 'hpc' as NodeName, listedAt: head.at - 12_000, ...wait };
  const nodes = ['hpc' as NodeName];
  const forecast = { at: head.at + laterMs, nodes, unplannedAfter: null, wait: listed };
  return { ...ahead, prospect: { ...ahead.prospect, forecast, startsNow: laterMs === 0 } };
}

test('[J23] a start that a site decides is called a guess, with the age of what it is made from', () => {
  for (const [wait, words] of GUESSES) {
    const view = viewLookAhead(atSite(wait), 'task');
    assert.equal(view.words.split('\n')[1], `Site hpc ${words}`);
    const known = Number.isFinite(wait.waitMs);
    assert.equal(view.startsAt, known ? START_AT + wait.waitMs : null);
    const listedAt = 'listedAt' in wait ? null : START_AT - 12_000;
    assert.deepEqual(view.guess, { site: 'hpc', waitMs: known ? wait.waitMs : null, listedAt });
  }
  const rehearsed = viewLookAhead(atSite({ waitMs: 0 }), 'rehearsal');
  assert.equal(
    rehearsed.words.split('\n')[0],
    'Site hpc would get it now and start it at once: a guess from its listing 12s ago.',
  );
});

test('[J23] what the plan gives to a site later says both instants', () => {
  const view = viewLookAhead(atSite({ waitMs: 10 * MINUTE }, 30 * MINUTE), 'rehearsal');
  assert.equal(
    view.words.split('\n')[1],
    "By today's plan site hpc would get it at 2023-11-14T22:43:20Z, in 30m, and start it at 2023-11-14T22:53:20Z, in 40m: a guess from its listing 12s ago.",
  );
  assert.equal(view.startsAt, START_AT + 40 * MINUTE);
});
