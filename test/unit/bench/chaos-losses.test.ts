// The judge of chaos about what is copied: heads that were put back, machines with the folder of a
// node, copies of a cluster; and about what goes on beside: kept files, and who reads command
// lines.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clone, CopyTrial, Outage, Restore, Spied } from '../../../bench/chaos/evidence.ts';
import { judge } from '../../../bench/chaos/judge.ts';
import { evidence, type Given, JOB, LIFE, life, ROW, rules, WORK } from './support/evidence.ts';

/** Copied at 9.9 s, killed at 11 s, told at 14 s, let go on at 15 s; job 1 runs from 10 to 12 s. */
const RESTORE: Restore = {
  copiedAt: 9900,
  putBackAt: 11_000,
  toldAt: 14_000,
  endedAt: 15_000,
  goesOnAt: 16_000,
};
const OUT: Outage = {
  host: 'head',
  how: 'restore',
  parts: ['head', 'store'],
  from: 9900,
  until: 16_000,
};
const PUT_BACK = { restores: [RESTORE], outages: [OUT] } as const;
const LATER = { epoch: 102, host: 'n2', from: 20_000, until: 22_000 };
const LATER_ROW = { ...ROW, epoch: 102, nodes: ['n2'], startedAt: 20_000, endedAt: 22_000 };
const REQUEUED = {
  ...ROW.outcome,
  kind: 'cancelled',
  detail: 'requeued; by whom was lost',
} as const;
const ACCEPTED = { work: WORK, jobIds: [1], answeredAt: [9950] };
/** Submitted again: the answer of the first was lost, or whoever asked was told of its loss. */
const AGAIN = { work: WORK, jobIds: [1, 100_007], answeredAt: [9950, 17_000] };
const JOB_AGAIN = { ...JOB, id: 100_007 };
const LIFE_AGAIN = life({ task: '100007', from: 20_000, until: 22_000 });
const ROW_AGAIN = { ...ROW, id: '100007', jobId: 100_007, startedAt: 20_000, endedAt: 22_000 };
const CLONE: Clone = {
  node: 'n1',
  host: 'c1',
  isAlone: false,
  told: 'two machines use its identity',
  from: 9000,
  until: 15_000,
};
const COPY: CopyTrial = { at: 1, said: ['down: 0'], replaced: [], starts: 1, ended: 'failed 7' };
const SPIED: Spied = { scans: 9, lines: 99, sawDecoy: true, found: [] };

describe('the judge of copies', () => {
  const planted: readonly [string, string, Given][] = [
    [
      'a job that was accepted before the copy was made, and is gone',
      'lost',
      { ...PUT_BACK, jobs: [], lives: [], tasks: [] },
    ],
    [
      'a job that was accepted after the head went on, and is gone',
      'lost',
      {
        ...PUT_BACK,
        accepted: [{ ...ACCEPTED, answeredAt: [17_000] }],
        jobs: [],
        lives: [],
        tasks: [],
      },
    ],
    [
      'a head that never says that records are missing',
      'not told',
      { ...PUT_BACK, restores: [{ ...RESTORE, toldAt: null }] },
    ],
    [
      'a head that does not go on when it is told to',
      'not told',
      { ...PUT_BACK, restores: [{ ...RESTORE, goesOnAt: null }] },
    ],
    [
      'a start while records are missing',
      'started while records were missing',
      {
        ...PUT_BACK,
        lives: [life({ from: 14_500, until: 16_500 })],
        tasks: [{ ...ROW, startedAt: 14_500, endedAt: 16_500 }],
      },
    ],
    [
      'an epoch whose number is given again',
      'started twice',
      {
        ...PUT_BACK,
        lives: [LIFE, life({ host: 'n2', from: 20_000, until: 22_000 })],
        tasks: [{ ...LATER_ROW, epoch: 1 }],
        outages: [{ ...OUT, until: 23_000 }],
      },
    ],
    [
      'a task that is done again though the copy knew of its start',
      'run again',
      {
        ...PUT_BACK,
        restores: [{ ...RESTORE, copiedAt: 10_500 }],
        lives: [LIFE, life(LATER)],
        tasks: [
          { ...ROW, final: false, outcome: { ...ROW.outcome, kind: 'node_fail' } },
          LATER_ROW,
        ],
      },
    ],
    [
      'a lost start beside its successor, with its node there',
      'twice at once',
      {
        ...PUT_BACK,
        lives: [life({ until: 16_500, ended: false }), life({ ...LATER, from: 16_200 })],
        tasks: [{ ...LATER_ROW, startedAt: 16_200 }],
      },
    ],
    [
      'a lost job that nobody ends',
      'ran on',
      {
        ...PUT_BACK,
        jobs: [],
        tasks: [],
        accepted: [ACCEPTED],
        lives: [life({ until: 40_000, ended: false })],
        work: { limitMs: 60_000 },
      },
    ],
    ['a clone that nobody names', 'not told', { clones: [{ ...CLONE, told: null }] }],
    [
      'a task on a clone',
      'ran on a copy',
      {
        clones: [CLONE],
        lives: [life({ host: 'c1' })],
      },
    ],
    [
      'a copy that stops its original',
      'a copy harmed its original',
      { copies: [{ ...COPY, replaced: ['head'] }] },
    ],
    [
      'a copy that ends a task of its original',
      'a copy harmed its original',
      { copies: [{ ...COPY, starts: 2 }] },
    ],
    [
      'a secret that somebody could read',
      'a secret on a command line',
      { spied: { ...SPIED, found: ['cat <secret>'] } },
    ],
    ['uploads that end at once', 'not slow', { slow: { begun: 9, longestMs: 80, said: [] } }],
    ['a spy that sees nothing', 'not told', { spied: { ...SPIED, sawDecoy: false } }],
    [
      'a file that was kept and is gone',
      'a kept file is gone',
      { kept: [{ key: 'w1', jobId: 1, wrong: 'blob.not_found' }] },
    ],
    ['a file that was sent, and is gone', 'a kept file is gone', { lacked: [11_000] }],
  ];
  for (const [what, rule, given] of planted) {
    it(`sees ${what}`, () => assert.deepEqual(rules(given), [rule]));
  }

  const twice: readonly [string, Given][] = [
    [
      'an id that was given again',
      {
        ...PUT_BACK,
        accepted: [ACCEPTED, { ...ACCEPTED, work: { ...WORK, key: 'w2' } }],
        jobs: [{ ...JOB, name: 'w2' }],
        lives: [],
        tasks: [{ ...ROW, startedAt: 20_000, endedAt: 22_000 }],
      },
    ],
    [
      'an id under which two works ran',
      {
        ...PUT_BACK,
        accepted: [ACCEPTED, { work: { ...WORK, key: 'w2' }, jobIds: [2], answeredAt: [9000] }],
        jobs: [JOB, { ...JOB, id: 2, name: 'w2' }],
        lives: [LIFE, life({ key: 'w2', nodeRank: 1 })],
      },
    ],
  ];
  for (const [what, given] of twice) {
    it(`sees ${what}`, () => assert.equal(rules(given)[0], 'one id for two jobs'));
  }

  const allowed: readonly [string, string, Given][] = [
    [
      'a job that was accepted after the copy was made',
      'jobs lost with the store',
      { ...PUT_BACK, accepted: [ACCEPTED], jobs: [], tasks: [] },
    ],
    [
      'an id that was given again, its first job having come while no node was back',
      'ids given again that no node had heard of',
      {
        ...PUT_BACK,
        outages: [OUT, { ...OUT, how: 'stop', parts: ['head'], from: 5000, until: 9000 }],
        accepted: [ACCEPTED, { ...ACCEPTED, work: { ...WORK, key: 'w2' }, answeredAt: [17_000] }],
        jobs: [{ ...JOB, name: 'w2' }],
        lives: [life({ key: 'w2', from: 20_000, until: 22_000 })],
        tasks: [{ ...ROW, startedAt: 20_000, endedAt: 22_000 }],
      },
    ],
    [
      'a file that was sent to a store that is put back',
      'files sent to a store that was put back',
      { ...PUT_BACK, lacked: [14_500] },
    ],
    [
      'a lost job that was submitted again',
      'ended: completed',
      {
        ...PUT_BACK,
        accepted: [AGAIN],
        jobs: [JOB_AGAIN],
        lives: [LIFE, LIFE_AGAIN],
        tasks: [ROW_AGAIN],
      },
    ],
    [
      'a job that ran though its submitter never had an answer',
      'ended: completed',
      {
        ...PUT_BACK,
        accepted: [{ work: WORK, jobIds: [100_007], answeredAt: [17_000] }],
        jobs: [JOB_AGAIN],
        lives: [LIFE, LIFE_AGAIN],
        tasks: [ROW_AGAIN],
      },
    ],
    [
      'a task that is done again as its start was lost',
      'done twice: its start was lost with the store',
      { ...PUT_BACK, lives: [LIFE, life(LATER)], tasks: [LATER_ROW] },
    ],
    [
      'a task that was told to make room by a head that has lost that',
      'begun again: why it was requeued was lost with the store',
      {
        ...PUT_BACK,
        lives: [life({ until: 10_900, ended: false }), life(LATER)],
        tasks: [{ ...ROW, final: false, outcome: REQUEUED, endedAt: 10_950 }, LATER_ROW],
      },
    ],
    [
      'a head that was put back and had written nothing since its copy was made',
      'heads put back that had written nothing meanwhile, as far as is seen',
      {
        restores: [{ ...RESTORE, copiedAt: 10_500, toldAt: null }],
        outages: [{ ...OUT, from: 10_500 }],
      },
    ],
    [
      'a lost start beside its successor, its node being out',
      'twice at once: start lost, its node was out',
      {
        restores: [RESTORE],
        lives: [life({ until: 16_500, ended: false }), life({ ...LATER, from: 16_200 })],
        tasks: [{ ...LATER_ROW, startedAt: 16_200 }],
        outages: [
          OUT,
          { host: 'n1', how: 'cut', parts: ['network'], from: 15_000, until: 16_400 },
        ] as const,
      },
    ],
    [
      'a late start by an order from before',
      'started while records were missing, by an order from before',
      {
        restores: [RESTORE],
        lives: [life({ from: 14_500, until: 16_500 })],
        tasks: [{ ...ROW, startedAt: 14_500, endedAt: 16_500 }],
        outages: [
          OUT,
          { host: 'n1', how: 'stop', parts: ['agent'], from: 10_000, until: 14_400 },
        ] as const,
      },
    ],
    [
      'a start on a clone that was the node, and is gone',
      'done twice: a clone that was the node is gone',
      {
        clones: [{ ...CLONE, isAlone: true }],
        lives: [life({ host: 'c1' }), life({ epoch: 2, from: 20_000, until: 22_000 })],
        tasks: [
          { ...ROW, final: false, outcome: { ...ROW.outcome, kind: 'node_fail' } },
          { ...LATER_ROW, epoch: 2 },
        ],
      },
    ],
    [
      'a member of a reservation on a clone that was the node',
      'ended: completed',
      {
        work: { reservation: 'lab' },
        setAside: [{ name: 'lab', madeAt: 0, hosts: ['n1'], cpus: 4, from: 9000, until: 15_000 }],
        clones: [{ ...CLONE, isAlone: true }],
        lives: [life({ host: 'c1' })],
      },
    ],
    [
      'a file of an end that was heard late, and lost',
      'files lost with the store that kept them',
      {
        restores: [{ ...RESTORE, copiedAt: 16_000, putBackAt: 18_000 }],
        outages: [{ host: 'n1', how: 'cut', parts: ['network'], from: 11_900, until: 17_000 }],
        kept: [{ key: 'w1', jobId: 1, wrong: 'blob.not_found' }],
      },
    ],
    [
      'a clone that a head that starts hears before its node',
      'clones that a head that had just come heard before their node',
      {
        clones: [CLONE],
        lives: [life({ host: 'c1' })],
        outages: [{ ...OUT, how: 'kill', parts: ['head'], from: 5000, until: 9500 }],
      },
    ],
    ['a clone that is named and gets nothing', 'clones of nodes', { clones: [CLONE] }],
    ['a copy that harms nobody', 'copies of a cluster', { copies: [COPY] }],
    [
      'a file that is there',
      'files kept to the end',
      { kept: [{ key: 'w1', jobId: 1, wrong: null }] },
    ],
    [
      'a file of an end that was lost',
      'files lost with the store that kept them',
      {
        ...PUT_BACK,
        restores: [{ ...RESTORE, putBackAt: 13_000 }],
        kept: [{ key: 'w1', jobId: 1, wrong: 'blob.not_found' }],
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
