// The judge of chaos about a steered site: jobs of its users, and tasks of ours that run there.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outage, Restore, Rule, SiteEvidence } from '../../../bench/chaos/evidence.ts';
import { judge } from '../../../bench/chaos/judge.ts';
import type { TheirWork } from '../../../bench/chaos/site/evidence.ts';
import { evidence, type Given, JOB, LIFE, life, ROW, rules } from './support/evidence.ts';

const THEIRS: TheirWork = {
  key: 's1',
  arraySize: null,
  nodeCount: 1,
  cpuCount: 1,
  words: ['-w', 'n1'],
  nodes: ['n1.hpc'],
  beats: 20,
  exitCode: 0,
  cancelAfterMs: null,
};
const AT_SITE = { task: '7', key: 's1', epoch: 0, host: 'n1.hpc' };
const THERE = life(AT_SITE);
const THEIR_JOB = { ...JOB, id: 2, name: 's1', command: 'hpc/7' };
const THEIR_ROW = { ...ROW, id: '2', jobId: 2, nodes: ['n1.hpc'] };
/** Job 7 of the site is job 2 of ours, on n1.hpc from 10 to 12 s. */
const SITE: SiteEvidence = {
  given: [{ work: THEIRS, id: '7', cancelledAt: null }],
  lives: [THERE],
  jobs: [THEIR_JOB],
  tasks: [THEIR_ROW],
  cpusPerNode: 2,
};

function at(of: Partial<SiteEvidence>): Given {
  return { site: { ...SITE, ...of } };
}

function given(work: Partial<TheirWork>, cancelledAt: number | null = null) {
  return [{ work: { ...THEIRS, ...work }, id: '7', cancelledAt }];
}

const CANCELLED = { ...ROW.outcome, kind: 'cancelled', exit: null } as const;
const GATEWAY_OUT: Outage = {
  host: 'hpc',
  how: 'stop',
  parts: ['gateway'],
  from: 11_000,
  until: 19_000,
};
/** All of it is before job 7 ends, or begins. */
const RESTORE: Restore = {
  copiedAt: 100,
  putBackAt: 200,
  toldAt: null,
  endedAt: 300,
  goesOnAt: 9000,
};
const OURS: Given = { work: { at: 'n1.hpc' }, tasks: [{ ...ROW, nodes: ['n1.hpc'] }] };

/** The first of two starts here of the one at the site. */
const TAKEN_BACK = {
  ...THEIR_ROW,
  final: false,
  nodes: ['n2.hpc'],
  startedAt: null,
  outcome: { ...ROW.outcome, kind: 'node_fail', exit: null } as const,
};
const ELSEWHERE = { ...TAKEN_BACK.outcome, detail: 'its site says that it is on n1' };

describe('the judge of a steered site', () => {
  it('finds nothing where all is right', () => {
    const { violations, counted } = judge(evidence(at({})));
    assert.deepEqual(violations, []);
    assert.equal(counted['jobs of the site that ran to their end'], 1);
    assert.equal(counted['ended at the site: completed'], 1);
  });

  const planted: readonly [string, Rule[], Given][] = [
    [
      'an element of an array that never ran',
      ['lost'],
      at({ given: given({ arraySize: 2 }), lives: [life({ ...AT_SITE, task: '7_0' })] }),
    ],
    ['a job that did not end', ['lost'], at({ jobs: [{ ...THEIR_JOB, state: 'active' }] })],
    ['a job that the head never saw', ['books'], at({ jobs: [] })],
    [
      'a job that the head never saw, long after it was put back',
      ['books'],
      { ...at({ jobs: [] }), restores: [{ ...RESTORE, goesOnAt: 500 }] },
    ],
    [
      'a job that became two of ours',
      ['two jobs for a key'],
      at({ jobs: [THEIR_JOB, { ...THEIR_JOB, id: 3 }] }),
    ],
    [
      'a job that was started again',
      ['started twice'],
      at({ lives: [THERE, life({ ...AT_SITE, pid: 8, from: 20_000, until: 22_000 })] }),
    ],
    [
      'a node that its user has excluded',
      ['on a node it does not want'],
      at({ given: given({ words: ['-x', 'n1'], nodes: ['n2.hpc'] }) }),
    ],
    [
      'a choice that nobody plans, and that was started all the same',
      ['on a node it does not want'],
      at({ given: given({ words: ['-C', 'red|blue'], nodes: [] }) }),
    ],
    [
      'a job that went on after its cancel',
      ['ran on'],
      at({ given: given({}, 11_000), lives: [life({ ...AT_SITE, until: 20_000 })] }),
    ],
    [
      'an end that nobody asked for',
      ['end without receipt'],
      at({ tasks: [{ ...THEIR_ROW, outcome: CANCELLED }] }),
    ],
    [
      'an exit code that it did not have',
      ['end without receipt'],
      at({ given: given({ exitCode: 3 }) }),
    ],
    [
      'a start that was taken back for no reason',
      ['end without receipt'],
      at({ tasks: [TAKEN_BACK, { ...THEIR_ROW, epoch: 2 }] }),
    ],
    ['another node in the books', ['books'], at({ tasks: [{ ...THEIR_ROW, nodes: ['n2.hpc'] }] })],
    ['a job that nobody gave', ['nobody asked'], at({ given: [], jobs: [], tasks: [] })],
    [
      'more on a node than it has, of both together',
      ['more than a node has'],
      {
        ...at({ given: given({ cpuCount: 2 }), lives: [life({ ...AT_SITE, from: 10_500 })] }),
        ...OURS,
        lives: [life({ host: 'n1.hpc' })],
      },
    ],
    [
      'a task of ours on another node than it was sent to',
      ['on a node it does not want'],
      { ...OURS, lives: [life({ host: 'n2.hpc' })] },
    ],
    [
      'a task of ours at a site to which nobody sent it',
      ['on a node it does not want'],
      { lives: [life({ host: 'n2.hpc' })] },
    ],
  ];
  for (const [what, expected, of] of planted) {
    it(`sees ${what}`, () => assert.deepEqual(rules(of), expected));
  }

  const allowed: readonly [string, string, Given][] = [
    [
      'a job that was cancelled before it began',
      'jobs of the site cancelled before they began',
      at({
        given: given({}, 9000),
        lives: [],
        tasks: [{ ...THEIR_ROW, startedAt: null, outcome: CANCELLED }],
      }),
    ],
    [
      'a job that was cancelled as it ran',
      'jobs of the site that were cancelled',
      at({
        given: given({}, 11_000),
        lives: [life({ ...AT_SITE, until: 11_500, ended: false })],
        tasks: [{ ...THEIR_ROW, outcome: CANCELLED }],
      }),
    ],
    [
      'a start that was taken back, as its site had the job elsewhere',
      'starts taken back, as the site had it elsewhere',
      at({
        tasks: [
          { ...TAKEN_BACK, outcome: ELSEWHERE },
          { ...THEIR_ROW, epoch: 2 },
        ],
      }),
    ],
    [
      'a job that was over when a head that was put back met its site again',
      'jobs of the site that were over when the head met them again',
      { ...at({ jobs: [], tasks: [] }), restores: [RESTORE] },
    ],
    [
      'an end there that is told late, its gateway having been out',
      'ended: completed',
      {
        ...OURS,
        lives: [LIFE].map((one) => ({ ...one, host: 'n1.hpc' })),
        tasks: [{ ...ROW, nodes: ['n1.hpc'], endedAt: 20_000 }],
        outages: [GATEWAY_OUT],
      },
    ],
  ];
  for (const [what, name, of] of allowed) {
    it(`allows and counts ${what}`, () => {
      const { violations, counted } = judge(evidence(of));
      assert.deepEqual(violations, []);
      assert.equal(counted[name], 1);
    });
  }
});
