// A look at a large site in parts: what each alone does, and in which order they come.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { ListedJob, SiteNode } from '../../../../../src/kernel/model/site.ts';
import { partsOf, SITE_PART_MAX } from '../../../../../src/wings/sites/machine/look.ts';
import { scenario, type TestHead } from '../../../../support/controller.ts';
import { PLAIN_SITE_JOB, PLAIN_SITE_NODE } from '../../../../support/plain.ts';

const HPC = 'hpc' as NodeName;
const LOOK = { node: HPC, session: 1, mode: 'steer' } as const;

function siteNode(name: string): SiteNode {
  return { ...PLAIN_SITE_NODE, name };
}

function siteJob(id: string, more: Partial<ListedJob> = {}): ListedJob {
  const plain = { ...PLAIN_SITE_JOB, id, name: 'theirs', owner: 'eve', word: 'PENDING' };
  return { ...plain, submittedAt: 1, walltimeMs: 60_000, isOurs: false, ...more };
}

function idsOf(jobs: readonly ListedJob[], sizeMax: number): string[][] {
  return partsOf({ ...LOOK, nodes: [], jobs }, sizeMax).map((part) =>
    part.jobs.map(({ id }) => id),
  );
}

/** Starts that a head plans after each part, with the site's node `n1` of two cpus. */
function plannedBetween(head: TestHead, jobs: readonly ListedJob[]): string[] {
  head.connect('hpc', { cpus: 0 });
  const { session } = head.node('hpc');
  const look = { ...LOOK, session, nodes: [siteNode('n1')] };
  for (const part of partsOf({ ...look, jobs: [] })) head.perform({ kind: 'site', part });
  head.connect('n1.hpc', { cpus: 2, labels: ['site=hpc'] });
  return partsOf({ ...look, jobs }, 1).flatMap((part) => {
    head.perform({ kind: 'site', part });
    return head.schedule();
  });
}

test('[G26] no part has more than its share of nodes or jobs, and nodes come before jobs', () => {
  const jobs = Array.from({ length: 2 * SITE_PART_MAX + 1 }, (_, at) => siteJob(String(at)));
  const nodes = Array.from({ length: SITE_PART_MAX + 1 }, (_, at) => siteNode(`n${at}`));
  const hidden = { hiddenBy: 'x', labels: [], queue: null, partition: null, name: null, rules: [] };
  nodes.push({ ...siteNode('hidden'), seen: hidden });
  const ours = siteJob('ours', { isOurs: true });
  const parts = partsOf({ ...LOOK, nodes, jobs: [ours, ...jobs] });
  assert.deepEqual(
    parts.map((part) => [part.nodes.length, part.jobs.length]),
    [
      [SITE_PART_MAX, 0],
      [1, SITE_PART_MAX],
      [0, SITE_PART_MAX],
      [0, 1],
    ],
  );
  assert.deepEqual(
    parts.flatMap((part) => part.jobs),
    jobs,
  );
  assert.deepEqual(partsOf({ ...LOOK, mode: 'submit', nodes, jobs }), []);
});

test('[G26] what runs comes first, with its array, and what is over as a whole last', () => {
  const over = { state: 'ended', word: 'over' } as const;
  const runs = { state: 'running', nodes: ['n1'] } as const;
  const jobs = [
    siteJob('5', { ...over, elements: '1-3' }),
    siteJob('5_1', over),
    siteJob('6'),
    siteJob('7', { elements: '2-9' }),
    siteJob('7_1', runs),
    siteJob('8', { state: 'held' }),
    siteJob('9', runs),
  ];
  assert.deepEqual(idsOf(jobs, 3), [['7', '7_1', '9'], ['5_1', '6', '8'], ['5']]);
});

scenario(
  '[G26] nothing that waits is started where a later part says that another runs',
  (head) => {
    const waits = siteJob('7', { cpuCount: 2 });
    const runs = siteJob('8', { cpuCount: 2, state: 'running', nodes: ['n1'] });
    assert.deepEqual(plannedBetween(head, [waits, runs]), []);
    assert.deepEqual(head.holders('1#1'), ['n1.hpc']);
    assert.equal(head.job(1).spec.foreign?.job, '8');
  },
);

scenario('[G26] an element that runs in another part than its array is one of that', (head) => {
  const array = siteJob('16', { state: 'held', elements: '1-3' });
  const element = siteJob('16_2', { state: 'running', nodes: ['n1'] });
  assert.deepEqual(plannedBetween(head, [array, siteJob('7', { state: 'held' }), element]), []);
  assert.equal(head.state.jobs.size, 2);
  assert.deepEqual([...head.job(1).active.keys()], [2]);
});

scenario(
  '[G26] an array that is over in another part than its element does not end that',
  (head) => {
    plannedBetween(head, [siteJob('16', { state: 'held', elements: '1-2' })]);
    const { session } = head.node('hpc');
    const over = { state: 'ended', word: 'over', exit: { code: 0 } } as const;
    const jobs = [
      siteJob('16', { ...over, elements: '1-2', isCancelled: true }),
      siteJob('16_1', over),
    ];
    for (const part of partsOf({ ...LOOK, session, nodes: [siteNode('n1')], jobs }, 1)) {
      head.perform({ kind: 'site', part });
    }
    const { ended } = head.job(1);
    assert.deepEqual(
      [...ended].map(([outcome, indices]) => [outcome, indices.toString()]),
      [
        ['completed', '1'],
        ['cancelled', '2'],
      ],
    );
  },
);

scenario('[G26] parts of a session that is over change nothing', (head) => {
  head.connect('hpc', { cpus: 0 });
  const { session } = head.node('hpc');
  const jobs = [siteJob('7'), siteJob('8')];
  const [first, second] = partsOf({ ...LOOK, session, nodes: [], jobs }, 1);
  assert.ok(first !== undefined && second !== undefined);
  head.perform({ kind: 'site', part: first });
  head.connect('hpc', { cpus: 0 });
  assert.deepEqual(head.perform({ kind: 'site', part: second }).events, []);
  assert.equal(head.state.jobs.size, 1);
});
