// The judge of `npm run bench -- chaos`: what is right passes, each kind of violation is seen, and
// what is allowed is counted instead.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outage, Rule, Work } from '../../../bench/chaos/evidence.ts';
import { judge } from '../../../bench/chaos/judge.ts';
import { livesOf } from '../../../bench/chaos/receipts.ts';
import type { HistoryTask } from '../../../src/kernel/api/history.ts';
import { evidence, type Given, JOB, LIFE, life, ROW, rules, WORK } from './support/evidence.ts';

const LOST: HistoryTask = {
  ...ROW,
  final: false,
  outcome: { kind: 'node_fail', exit: null, process: null, detail: 'the launcher was lost' },
};

const accepted = (work: Work, id: number) => ({ work, jobIds: [id], answeredAt: [9000] });

/** The next epoch of LIFE, on another host. */
const AGAIN = life({ epoch: 2, host: 'n2', from: 20_000, until: 22_000 });
const AGAIN_ROW = { ...ROW, epoch: 2, nodes: ['n2'], startedAt: 20_000, endedAt: 22_000 };
/** One of two nodes did its part; the other was away, and came back when a reservation was near. */
const BEGUN_ON_ONE = {
  lives: [LIFE, AGAIN, life({ ...AGAIN, host: 'n1', nodeRank: 1 })],
  tasks: [
    {
      ...LOST,
      nodes: ['n1', 'n2'],
      startedAt: null,
      outcome: { ...LOST.outcome, detail: 'its order came late, and it could run into lab' },
    },
    { ...AGAIN_ROW, nodes: ['n1', 'n2'] },
  ],
};
const LAUNCHER_KILLED: Outage = {
  host: 'n1',
  how: 'kill',
  parts: ['launcher'],
  from: 11_900,
  until: 12_500,
};

describe('the judge of chaos', () => {
  it('finds nothing where all is right', () => {
    const { violations, counted } = judge(evidence());
    assert.deepEqual(violations, []);
    assert.deepEqual(counted, { 'ended: completed': 1 });
  });

  const planted: readonly [string, Rule, Given][] = [
    ['a job that did not end', 'lost', { state: 'active' }],
    ['a task of an array without an end', 'lost', { work: { arraySize: 2 } }],
    ['a second job for one key', 'two jobs for a key', { jobIds: [1, 2] }],
    ['a job that is not in the history', 'lost', { jobs: [] }],
    [
      'processes of a job that nobody submitted',
      'nobody asked',
      {
        lives: [LIFE, life({ task: '9' })],
      },
    ],
    [
      'a completed task whose process did not end',
      'rank missing',
      {
        lives: [life({ ended: false })],
      },
    ],
    [
      'a completed task of which one node wrote nothing',
      'rank missing',
      {
        work: { nodeCount: 2 },
      },
    ],
    [
      'a time limit long before its time',
      'end without receipt',
      {
        lives: [life({ ended: false })],
        tasks: [{ ...ROW, outcome: { ...ROW.outcome, kind: 'timeout' } }],
      },
    ],
    [
      'an exit code that no process had',
      'end without receipt',
      {
        tasks: [{ ...ROW, outcome: { ...ROW.outcome, kind: 'failed' } }],
      },
    ],
    [
      'an end that nobody asked for',
      'end without receipt',
      {
        tasks: [{ ...ROW, outcome: { ...ROW.outcome, kind: 'cancelled' } }],
      },
    ],
    ['an epoch that was started twice', 'started twice', { lives: [LIFE, life({ pid: 8 })] }],
    [
      'a wait task in two places',
      'twice at once',
      {
        lives: [LIFE, life({ epoch: 2, host: 'n2', from: 11_000, until: 13_000 })],
        tasks: [LOST, { ...AGAIN_ROW, startedAt: 11_000, endedAt: 13_000 }],
        outages: [{ ...LAUNCHER_KILLED, from: 10_500 }],
      },
    ],
    [
      'a lease task in two places with its agent alive',
      'twice at once',
      {
        work: { onLoss: 'lease' },
        lives: [LIFE, life({ epoch: 2, host: 'n2', from: 11_000, until: 13_000 })],
        tasks: [LOST, { ...AGAIN_ROW, startedAt: 11_000, endedAt: 13_000 }],
        outages: [{ ...LAUNCHER_KILLED, from: 10_500 }],
      },
    ],
    [
      'a wait task done twice with its launcher alive',
      'run again',
      {
        lives: [LIFE, AGAIN],
        tasks: [LOST, AGAIN_ROW],
      },
    ],
    [
      'a job that must not be requeued, and was for a reservation',
      'run again',
      { work: { nodeCount: 2, requeue: false }, ...BEGUN_ON_ONE },
    ],
    [
      'more cpus in use than a node has',
      'more than a node has',
      {
        work: { cpuCount: 3, arraySize: 2 },
        lives: [life({ task: '1[0]' }), life({ task: '1[1]', from: 11_000 })],
        tasks: [
          { ...ROW, id: '1[0]', index: 0 },
          { ...ROW, id: '1[1]', index: 1, startedAt: 11_000 },
        ],
      },
    ],
    [
      'somebody else in a reservation',
      'in a reservation',
      {
        setAside: [{ name: 'lab', madeAt: 0, hosts: ['n1'], cpus: 4, from: 11_000, until: 15_000 }],
      },
    ],
    [
      'a member before its reservation',
      'outside its reservation',
      {
        work: { reservation: 'lab' },
        setAside: [{ name: 'lab', madeAt: 0, hosts: ['n1'], cpus: 4, from: 11_000, until: 15_000 }],
      },
    ],
    [
      'a process that goes on while it is suspended',
      'ran while suspended',
      {
        stops: [{ task: '1', epoch: 1, host: 'n1', from: 10_500, until: 11_800 }],
      },
    ],
    ['a process that runs over its limit', 'ran over its limit', { work: { limitMs: -1000 } }],
    [
      'a process that is there after the end',
      'ran on',
      {
        lives: [life({ until: 15_000 })],
      },
    ],
    [
      'an end in the books long after the process',
      'books',
      {
        tasks: [{ ...ROW, endedAt: 15_000 }],
      },
    ],
    [
      'a start in the books long before the process',
      'books',
      {
        tasks: [{ ...ROW, startedAt: 5000 }],
      },
    ],
    [
      'an epoch without a record',
      'books',
      {
        work: { onLoss: 'requeue' },
        lives: [LIFE, AGAIN],
      },
    ],
  ];
  for (const [what, rule, given] of planted) {
    it(`sees ${what}`, () => assert.deepEqual(rules(given), [rule]));
  }

  const allowed: readonly [string, string, Given][] = [
    [
      'a suspension that by the head ends before it begins, of most of a node',
      'ended: completed',
      {
        work: { cpuCount: 3 },
        stops: [{ task: '1', epoch: 1, host: 'n1', from: 11_150, until: 11_000 }],
      },
    ],
    [
      'the end of a task that was suspended until its machine was switched off',
      'ended: completed',
      {
        work: { onLoss: 'requeue' },
        lives: [{ ...LIFE, ended: false }, life({ ...AGAIN, from: 30_000, until: 32_000 })],
        tasks: [
          { ...LOST, endedAt: 28_000 },
          { ...AGAIN_ROW, startedAt: 30_000, endedAt: 32_000 },
        ],
        stops: [{ task: '1', epoch: 1, host: 'n1', from: 12_100, until: 27_900 }],
      },
    ],
    [
      'books that are late as all of the machine is slow',
      'ended: completed',
      {
        tasks: [{ ...ROW, endedAt: 14_500 }],
        stalls: [{ from: 12_000, until: 13_000 }],
      },
    ],
    [
      'epochs of a requeue task at once',
      'epochs of a requeue task at once',
      {
        work: { onLoss: 'requeue' },
        lives: [LIFE, life({ epoch: 2, host: 'n2', from: 11_000, until: 13_000 })],
        tasks: [LOST, { ...AGAIN_ROW, startedAt: 11_000, endedAt: 13_000 }],
      },
    ],
    [
      'a lease task in two places with agent and launcher dead',
      'lease tasks at once, agent and launcher out',
      {
        work: { onLoss: 'lease' },
        lives: [LIFE, life({ epoch: 2, host: 'n2', from: 11_500, until: 13_000 })],
        tasks: [LOST, { ...AGAIN_ROW, startedAt: 11_500, endedAt: 13_000 }],
        outages: [{ ...LAUNCHER_KILLED, parts: ['agent', 'launcher'], from: 10_500 }],
      },
    ],
    [
      'a wait task done twice after its launcher was killed',
      'done twice: wait, launcher or power lost',
      {
        lives: [LIFE, AGAIN],
        tasks: [LOST, AGAIN_ROW],
        outages: [LAUNCHER_KILLED],
      },
    ],
    [
      'a job on two nodes, one of which came back when a reservation was near',
      'begun again: one of its nodes was late for a reservation',
      { work: { nodeCount: 2 }, ...BEGUN_ON_ONE },
    ],
    [
      'a member that its reservation had no node for until it was over',
      'began after its reservation, the node had been out',
      {
        work: { reservation: 'lab' },
        setAside: [{ name: 'lab', madeAt: 0, hosts: ['n4'], cpus: 4, from: 5000, until: 9500 }],
        outages: [{ host: 'n4', how: 'cut', parts: ['network'], from: 5500, until: 9900 }],
      },
    ],
    [
      'a suspended task that ends with its silent node, and is resumed elsewhere later',
      'done twice: lease, launcher or power lost',
      {
        work: { onLoss: 'lease' },
        stops: [{ task: '1', epoch: 1, host: 'n1', from: 10_500, until: 21_000 }],
        lives: [
          life({
            runs: [
              { from: 10_000, until: 10_500 },
              { from: 11_600, until: 12_000 },
            ],
          }),
          AGAIN,
        ],
        tasks: [{ ...LOST, endedAt: 11_500 }, AGAIN_ROW],
        outages: [LAUNCHER_KILLED],
      },
    ],
    [
      'a task that may start once, whose node lost power before it began',
      'ended: node_fail',
      {
        work: { requeue: false },
        lives: [],
        tasks: [{ ...LOST, final: true, startedAt: null, endedAt: 13_500 }],
        outages: [{ ...LAUNCHER_KILLED, how: 'off', parts: ['agent', 'launcher'] }],
      },
    ],
    [
      'a task of an array whose first number its node gave back',
      'ended: completed',
      {
        work: { arraySize: 1 },
        lives: [{ ...LIFE, task: '1[0]', epoch: 2 }],
        tasks: [{ ...ROW, id: '1[0]', index: 0, epoch: 2 }],
      },
    ],
    [
      'a member in its reservation',
      'ended: completed',
      {
        work: { reservation: 'lab' },
        setAside: [{ name: 'lab', madeAt: 0, hosts: ['n1'], cpus: 4, from: 9000, until: 15_000 }],
      },
    ],
    [
      'a task beside a suspended one',
      'ended: completed',
      {
        stops: [{ task: '1', epoch: 1, host: 'n1', from: 10_500, until: 11_800 }],
        lives: [
          life({
            runs: [
              { from: 10_000, until: 10_600 },
              { from: 11_700, until: 12_000 },
            ],
          }),
        ],
      },
    ],
    [
      'a suspended task that comes to its own end in the grace that it is given to end',
      'ended while suspended, went on for its grace',
      {
        accepted: [accepted(WORK, 1), accepted({ ...WORK, key: 'w2', cpuCount: 4 }, 2)],
        jobs: [JOB, { ...JOB, id: 2, name: 'w2' }],
        stops: [{ task: '1', epoch: 1, host: 'n1', from: 10_500, until: 11_800 }],
        lives: [
          life({
            runs: [
              { from: 10_000, until: 10_500 },
              { from: 11_800, until: 12_000 },
            ],
          }),
          AGAIN,
          life({ task: '2', key: 'w2', pid: 9, from: 10_600, until: 12_600 }),
        ],
        tasks: [LOST, AGAIN_ROW, { ...ROW, id: '2', jobId: 2, startedAt: 10_600, endedAt: 12_600 }],
        outages: [LAUNCHER_KILLED],
      },
    ],
    [
      'a limit that nobody kept',
      'ran over its limit, its agent or launcher was out',
      {
        work: { limitMs: -1000 },
        outages: [{ ...LAUNCHER_KILLED, how: 'stop', parts: ['agent'] }],
      },
    ],
  ];
  for (const [what, counted, given] of allowed) {
    it(`allows and counts ${what}`, () => {
      const verdict = judge(evidence(given));
      assert.deepEqual(verdict.violations, []);
      assert.equal(verdict.counted[counted], 1);
    });
  }
});

describe('receipts', () => {
  it('become lives, with their pauses, and without what was cut off', () => {
    const at = (ms: number, what: string): string => `1 1 n1 0 0 7 ${ms} ${what}`;
    const lines = [at(1000, 'start'), at(1100, 'beat'), at(2000, 'beat'), at(2100, 'end'), '1 1 n'];
    const [first, ...others] = livesOf([lines.join('\n')]);
    assert.deepEqual(others, []);
    assert.deepEqual(first?.runs, [
      { from: 1000, until: 1100 },
      { from: 2000, until: 2100 },
    ]);
    assert.equal(first?.ended, true);
  });

  it('that a full disk cut off run on into the next line, and neither counts', () => {
    const lines = ['1 1 n1 0 0 7 10002 1 n1 0 0 8 1000 start', '2 1 n1 0 0 8 1100 beat', ''];
    assert.deepEqual(
      livesOf([lines.join('\n')]).map(({ task, from }) => [task, from]),
      [['2', 1100]],
    );
  });

  it('of a process with the number of an earlier one are another life', () => {
    const lines = [
      '1 1 n1 0 0 7 1000 start',
      '1 1 n1 0 0 7 2000 start',
      '1 1 n1 0 0 7 2100 end',
      '',
    ];
    assert.deepEqual(
      livesOf([lines.join('\n')]).map(({ from, ended }) => [from, ended]),
      [
        [1000, false],
        [2000, true],
      ],
    );
  });
});
