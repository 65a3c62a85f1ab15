// Nodes of a steered site that have just come: nothing is started on them before a whole look has
// said what its site runs there. Parts are of one job here, with time for a plan in between.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Link, linkOf } from '../../../../../src/kernel/head/agent-link.ts';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
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

async function started() {
  const bench = new EngineBench();
  const links = new Map<NodeName, Link>();
  const world = { clock: bench.clock, engine: () => bench.engine };
  const gateways = gatewaysOf({ ...world, linkOf: (node) => links.get(node) }, 1);
  bench.more = { unlooked: () => gateways.unlooked() };
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
  await come('hpc', 0);
  return { bench, gateways, come, look, places };
}

const RUNNING = NODES.slice(0, 2).map(({ name }, at) => siteJob(`${at + 7}`, name));
const ALL = [...RUNNING, siteJob('9')];

test('[G27] what runs at a site is placed before anything is started there', async () => {
  const { bench, gateways, come, look, places } = await started();
  await look(...ALL);
  for (const name of ['n1.hpc', 'n2.hpc']) await come(name, 1);
  assert.deepEqual([...gateways.unlooked()], ['n1.hpc', 'n2.hpc']);
  const nowhere = ALL.map(({ id }) => [id, null]);
  assert.deepEqual(places(), nowhere, 'the nodes are there, and look free');
  await look(...ALL);
  const placed = [
    ['7', 'n1.hpc'],
    ['8', 'n2.hpc'],
    ['9', null],
  ];
  assert.deepEqual([places(), [...gateways.unlooked()]], [placed, []]);
  // A node that comes later is free after the next look.
  await come('n3.hpc', 1);
  assert.deepEqual(places(), placed);
  await look();
  assert.deepEqual(places().at(-1), ['9', 'n3.hpc']);
  assert.ok(bench.take().some((line) => line.startsWith('to n3.hpc: ')));
});

test('[G27] a node that comes while a look is decided waits for the next one', async () => {
  const { bench, gateways, come, look, places } = await started();
  await look(...ALL);
  await come('n1.hpc', 1);
  const looking = look();
  bench.clock.endTurn();
  await come('n2.hpc', 1);
  await looking;
  assert.deepEqual([...gateways.unlooked()], ['n2.hpc']);
  assert.deepEqual(places().at(-1), ['9', null]);
});

test('[G27] a look that could not be written down lets nothing start', async () => {
  const { bench, gateways, come, look } = await started();
  await look(...ALL);
  await come('n1.hpc', 1);
  bench.breakDisk();
  await look();
  assert.deepEqual([...gateways.unlooked()], ['n1.hpc']);
});
