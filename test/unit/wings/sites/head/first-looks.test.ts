// Nodes of a steered site that have just come: nothing is started on them before a whole look has
// said what its site runs there. Parts are of one job here, with time for a plan in between.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Link, linkOf } from '../../../../../src/kernel/head/agent-link.ts';
import { viewNode } from '../../../../../src/kernel/head/answers/node-view.ts';
import { viewLookAhead } from '../../../../../src/kernel/head/answers/prospect-view.ts';
import { pendingOf } from '../../../../../src/kernel/machine/answers/explain.ts';
import { expect, outlook } from '../../../../../src/kernel/machine/answers/questions.ts';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import { type Policy, plainScheduling } from '../../../../../src/kernel/model/scheduling.ts';
import type { ListedJob, SiteNews } from '../../../../../src/kernel/model/site.ts';
import type { Session } from '../../../../../src/kernel/ports/net.ts';
import { gatewaysOf } from '../../../../../src/wings/sites/head/gateways.ts';
import { EngineBench } from '../../../../support/engine.ts';
import { PLAIN_SITE_JOB, PLAIN_SITE_NODE } from '../../../../support/plain.ts';

const NODES = ['n1', 'n2', 'n3'].map((name) => ({ ...PLAIN_SITE_NODE, name, cpuCount: 1 }));

function siteJob(id: string, on?: string): ListedJob {
  const plain = { ...PLAIN_SITE_JOB, id, name: 'theirs', owner: 'eve', walltimeMs: 60_000 };
  const where =
    on === undefined
      ? { word: 'PENDING', submittedAt: 1 }
      : { word: 'RUNNING', submittedAt: 1, state: 'running' as const, startedAt: 1, nodes: [on] };
  return { ...plain, ...where, isOurs: false };
}

const NEWS: SiteNews = {
  isFirst: false,
  isLast: true,
  system: 'slurm',
  mode: 'steer',
  takeover: null,
  problem: null,
  ageMs: 10,
  nodes: NODES,
  jobs: [],
  gone: [],
};

async function started(policy: Policy = 'first_fit') {
  const bench = new EngineBench({ scheduling: plainScheduling(policy) });
  const links = new Map<NodeName, Link>();
  const world = { clock: bench.clock, engine: () => bench.engine };
  const gateways = gatewaysOf({ ...world, linkOf: (node) => links.get(node) }, 1);
  await bench.start();
  const come = async (name: string, cpus: number) => {
    const node = name as NodeName;
    const session = { peer: node, send: () => undefined, close: () => undefined };
    const link = linkOf(session as Partial<Session> as Session);
    links.set(node, link);
    gateways.greeted(link, [], 'hpc');
    await bench.connect(name, { cpus, site: 'hpc' });
    const number = bench.engine.state.nodes.get(node)?.session ?? 0;
    link.stage = { kind: 'welcomed', session: number, reports: 0 };
  };
  const look = async (...jobs: readonly ListedJob[]) => {
    const link = links.get('hpc' as NodeName) ?? assert.fail('no gateway');
    gateways.hear(link, { ...NEWS, jobs });
    await bench.settle();
  };
  /** Where each job of the site is here; null: it waits. */
  const places = () =>
    [...bench.engine.state.jobs.values()].map(({ spec, active }) => {
      const [task] = active.values();
      return [spec.foreign?.job, [...(task?.parts.keys() ?? [])][0] ?? null];
    });
  const unlooked = () => [...bench.engine.state.scratch.unlooked.keys()];
  await come('hpc', 0);
  return { bench, come, look, places, unlooked };
}

const RUNNING = NODES.slice(0, 2).map(({ name }, at) => siteJob(`${at + 7}`, name));
const ALL = [...RUNNING, siteJob('9')];

test('[G27] what runs at a site is placed before anything is started there', async () => {
  const { bench, come, look, places, unlooked } = await started();
  await look(...ALL);
  for (const name of ['n1.hpc', 'n2.hpc']) await come(name, 1);
  assert.deepEqual(unlooked(), ['n1.hpc', 'n2.hpc']);
  const nowhere = ALL.map(({ id }) => [id, null]);
  assert.deepEqual(places(), nowhere, 'the nodes are there, and look free');
  await look(...ALL);
  const placed = [
    ['7', 'n1.hpc'],
    ['8', 'n2.hpc'],
    ['9', null],
  ];
  assert.deepEqual([places(), unlooked()], [placed, []]);
  // A node that comes later is free after the next look.
  await come('n3.hpc', 1);
  assert.deepEqual(places(), placed);
  await look();
  assert.deepEqual(places().at(-1), ['9', 'n3.hpc']);
  assert.ok(bench.take().some((line) => line.startsWith('to n3.hpc: ')));
});

test('[G27] a node that comes while a look is decided waits for the next one', async () => {
  const { bench, come, look, places, unlooked } = await started();
  await look(...ALL);
  await come('n1.hpc', 1);
  const looking = look();
  bench.clock.endTurn();
  await come('n2.hpc', 1);
  await looking;
  assert.deepEqual(unlooked(), ['n2.hpc']);
  assert.deepEqual(places().at(-1), ['9', null]);
});

test('[G27] a look that could not be written down lets nothing start', async () => {
  const { bench, come, look, places, unlooked } = await started();
  await look();
  await come('n1.hpc', 1);
  bench.breakDisk();
  await look(...RUNNING);
  bench.disk.failure = null;
  bench.clock.pass(60_000);
  await bench.settle();
  // Its agents dial again.
  for (const name of ['hpc', 'n1.hpc']) await come(name, name === 'hpc' ? 0 : 1);
  assert.deepEqual([places(), unlooked()], [[], ['n1.hpc']]);
  await look(...RUNNING);
  assert.deepEqual([places()[0], unlooked()], [['7', 'n1.hpc'], []]);
});

test('[G27] a job that could run only there is told what it waits for, and the node says so', async () => {
  const { bench, come, look } = await started();
  await look();
  await come('n1.hpc', 1);
  bench.submit('ours', { cpuCount: 1 });
  await bench.settle();
  const job = [...bench.engine.state.jobs.values()].at(-1) ?? assert.fail('no job');
  const words = () => {
    const { state } = bench.engine;
    const node = state.nodes.get('n1.hpc' as NodeName) ?? assert.fail('no node');
    const live = { load: null, clockOffsetMs: null, presence: null, heardAt: 0 };
    const ahead = expect(bench.engine, pendingOf(job, 0));
    const told = viewLookAhead(ahead, 'task').words.split('\n').slice(0, 2);
    return [...told, viewNode(state, node, live).reason];
  };
  const waits = 'waiting for a whole look at site hpc, which says what runs there';
  assert.deepEqual(words(), [
    `It is pending: needs 1 node with 1 cpu; n1.hpc is ${waits}.`,
    'It cannot start until n1.hpc has been looked at.',
    waits,
  ]);
  assert.deepEqual(outlook(bench.engine).starts, [], 'nobody knows when');
  await look();
  assert.equal(words().at(-1), null);
  assert.deepEqual(
    [...job.active.values()].map(({ parts }) => [...parts.keys()]),
    [['n1.hpc']],
  );
});

test('[G27] an external scheduler starts nothing there either', async () => {
  const { bench, come, look } = await started('external');
  await look();
  await come('n1.hpc', 1);
  bench.submit('ours', { cpuCount: 1 });
  await bench.settle();
  const nodes = ['n1.hpc' as NodeName];
  const [job] = bench.engine.state.jobs.keys();
  const place = { jobId: job ?? assert.fail('no job'), index: null };
  const start = async () => {
    bench.take();
    bench.command('start', { kind: 'start_task', place, nodes });
    await bench.settle();
    return bench.take()[0];
  };
  assert.equal(await start(), 'start: not_started');
  await look();
  assert.equal(await start(), 'start: changed');
});

test('[G27] a node that is removed is waited for by nobody', async () => {
  const { bench, come, unlooked } = await started();
  await come('n1.hpc', 1);
  assert.deepEqual(unlooked(), ['n1.hpc']);
  bench.command('remove', { kind: 'remove_node', node: 'n1.hpc' as NodeName });
  await bench.settle();
  assert.deepEqual([bench.take().at(-1), unlooked()], ['remove: done', []]);
});
