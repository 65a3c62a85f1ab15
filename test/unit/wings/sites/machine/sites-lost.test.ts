// Jobs that a user gave to a steered site itself, when its gateway or the head's records are lost:
// the site goes on with them, and is heard again.

import assert from 'node:assert/strict';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { ListedJob, SiteNode } from '../../../../../src/kernel/model/site.ts';
import { cancelledHere } from '../../../../../src/wings/sites/machine/heard.ts';
import { ANN, OPERATOR, place, scenario, type TestHead } from '../../../../support/controller.ts';
import { hearSite } from '../../../../support/hear-site.ts';
import { PLAIN_SITE_NODE } from '../../../../support/plain.ts';

const HPC = 'hpc' as NodeName;
const NODES = ['n1', 'n2'].map(siteNode);
const RUNNING = siteJob('7');

function siteNode(name: string): SiteNode {
  return {
    ...PLAIN_SITE_NODE,
    name,
  };
}

function siteJob(id: string): ListedJob {
  return {
    id,
    handle: null,
    name: 'their job',
    owner: 'ann',
    state: 'running',
    word: 'RUNNING',
    reason: null,
    queue: 'main',
    elements: null,
    submittedAt: 1,
    startedAt: 2,
    endedAt: null,
    walltimeMs: null,
    nodeCount: 2,
    cpuCount: 2,
    memoryBytes: null,
    isExclusive: false,
    nodes: ['n1', 'n2'],
    exit: null,
    isOurs: false,
  };
}

function hear(head: TestHead): void {
  const { session } = head.node('hpc');
  const heard = { node: HPC, session, mode: 'steer', nodes: NODES, jobs: [RUNNING] } as const;
  hearSite(head, heard);
}

function connect(head: TestHead, more: Parameters<TestHead['connect']>[1] = {}): void {
  for (const name of ['n1.hpc', 'n2.hpc']) {
    head.connect(name, { cpus: 2, labels: ['site=hpc'], site: 'hpc', ...more });
  }
}

/** Job 1 is job 7 of the site, which runs there on both nodes. */
function running(head: TestHead): void {
  head.connect('hpc', { cpus: 0 });
  hear(head);
  connect(head);
  hear(head);
  head.started('1#1');
  assert.equal(head.task('1').state, 'running');
}

function silence(head: TestHead): void {
  for (const name of ['hpc', 'n1.hpc', 'n2.hpc']) {
    head.disconnect(name);
    head.silence(name, 20_000);
  }
}

function declareLost(head: TestHead, ...nodes: string[]): void {
  for (const node of nodes) {
    head.command({ kind: 'declare_node_lost', node: node as NodeName }, OPERATOR);
  }
}

scenario('[G23] a job of its site outlives a node lost, and goes on as the same job', (head) => {
  running(head);
  const held = new Map(['n1.hpc', 'n2.hpc'].map((name) => [name, head.heldBy(name)]));
  silence(head);
  declareLost(head, 'n1.hpc', 'n2.hpc');
  assert.equal(head.outcome(1), null);
  assert.equal(head.job(1).pending.has(0), true);
  assert.deepEqual(head.schedule(), [], 'only its site can go on with it');
  head.connect('hpc', { cpus: 0 });
  for (const [name, epochs] of held) {
    head.connect(name, { cpus: 2, labels: ['site=hpc'], site: 'hpc', held: epochs });
  }
  // Its gateway knows of which job it is: for such a reason it lets go of it.
  assert.deepEqual(head.orders('n1.hpc'), ['end 1#1']);
  hear(head);
  assert.equal(head.state.jobs.size, 1);
  assert.deepEqual([...head.task('1').parts.keys()], ['n1.hpc', 'n2.hpc']);
  assert.equal(head.task('1').epoch, 2);
});

scenario('[G23] with one of its nodes declared lost, the rest waits for its site', (head) => {
  running(head);
  silence(head);
  declareLost(head, 'n1.hpc');
  connect(head, { held: [] });
  assert.equal(head.outcome(1), null);
  assert.equal(head.job(1).pending.has(0), true);
});

scenario('[G23] what was cancelled before its node was lost is cancelled at its site', (head) => {
  running(head);
  silence(head);
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  declareLost(head, 'n1.hpc', 'n2.hpc');
  assert.equal(head.outcome(1), 'cancelled');
  assert.deepEqual(cancelledHere(head.state, HPC, [RUNNING]), [{ job: '7', index: null }]);
});
