// The cycle that repairs, on a real cluster: a difference is found, the node is repaired in
// maintenance that nobody planned, verified and back in service; what cannot be mended stays out.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MaintenanceView } from '../../src/kernel/api/maintenance.ts';
import type { NodeView } from '../../src/kernel/api/nodes.ts';
import type { GoalStandingView } from '../../src/wings/goals/api/goals.ts';
import { GpuCluster, WORKSTATION } from './support/gpu-cluster.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

/** Each node has a file of its own, as it would have a package: VERSION in it is what is wanted. */
function goalsOf(folder: string): string {
  const file = `${folder}/$WEFT_NODELIST`;
  return `
classes:
  all:
    at_once: 1
    within: 1h
    duration: 1m
    running: wait
    goals:
      package: {check: 'cat ${file}', expect: '2.*', repair: 'sleep 1; echo 2.1 > ${file}.new; mv ${file}.new ${file}'}
      sealed: {check: 'test ! -e ${file}.broken', repair: 'false'}
`;
}

interface Site {
  readonly cluster: LocalCluster;
  readonly folder: string;
}

async function withSite(use: (site: Site) => Promise<void>): Promise<void> {
  const cluster = new LocalCluster();
  const folder = join(cluster.directory, 'nodes');
  mkdirSync(folder);
  mkdirSync(cluster.state, { recursive: true });
  for (const node of ['n1', 'n2', 'n3']) writeFileSync(join(folder, node), '2.0\n');
  writeFileSync(join(cluster.state, 'goals.yaml'), goalsOf(folder));
  const site = 'up: {nodes: 3, cpus: 1, memory: 256M}\ngoals: {file: goals.yaml, every: 2s}\n';
  writeFileSync(join(cluster.state, 'weft.yaml'), site);
  try {
    await cluster.up();
    await use({ cluster, folder });
  } finally {
    await cluster.close();
  }
}

/** In one move: a check may read it at any time. */
function setVersion(folder: string, node: string, version: string): void {
  const aside = join(folder, `${node}.new`);
  writeFileSync(aside, `${version}\n`);
  renameSync(aside, join(folder, node));
}

async function standings({ cluster }: Site): Promise<GoalStandingView[]> {
  return (await cluster.client.call<{ nodes: GoalStandingView[] }>('GET', '/v1/goals')).nodes;
}

async function maintenances({ cluster }: Site): Promise<MaintenanceView[]> {
  const path = '/v1/maintenance?all=true';
  const { maintenance } = await cluster.client.call<{ maintenance: MaintenanceView[] }>(
    'GET',
    path,
  );
  return maintenance;
}

function allMet(site: Site): Promise<GoalStandingView[]> {
  return until('all nodes meet their goals', async () => {
    const all = await standings(site);
    return all.length === 3 && all.every(({ differences }) => differences?.length === 0)
      ? all
      : undefined;
  });
}

test('[M20, M21] what differs is repaired by itself, one node at a time, and is back in service', () =>
  withSite(async (site) => {
    const { cluster, folder } = site;
    assert.equal(
      await cluster
        .ok('goal', 'check', join(cluster.state, 'goals.yaml'))
        .then((said) => said.split(': ')[1]),
      '1 class, 2 goals.',
    );
    await allMet(site);
    assert.deepEqual(await maintenances(site), [], 'nothing is repaired that is fine');
    for (const node of ['n1', 'n2', 'n3']) setVersion(folder, node, '1.9');
    await until('all are repaired', async () => {
      const all = await maintenances(site);
      assert.ok(all.filter(({ endedAt }) => endedAt === null).length <= 1, 'one at a time');
      return all.filter(({ phase }) => phase === 'done').length === 3 || undefined;
    });
    await allMet(site);
    const all = await maintenances(site);
    assert.deepEqual(all.flatMap(({ nodes }) => nodes.map(({ node }) => node)).sort(), [
      'n1',
      'n2',
      'n3',
    ]);
    for (const one of all) {
      assert.deepEqual(one.goal, { class: 'all', attempt: 1 });
      assert.equal(one.reason, "package is '1.9', expected 2.*");
    }
    const why = await cluster.ok('maint', 'list', '--all', '--why');
    assert.match(why, /goals of all: package is '1\.9', expected 2\.\* \(attempt 1\)/);
    assert.match(await cluster.ok('goal', 'show'), /n1 +all +met/);
    const { nodes } = await cluster.client.call<{ nodes: NodeView[] }>('GET', '/v1/nodes');
    assert.ok(
      nodes.every(({ drained }) => drained === null),
      'all are in service',
    );
  }));

test('[M22] what two repairs do not mend stays out with its reason, until a person has mended it', () =>
  withSite(async (site) => {
    const { cluster, folder } = site;
    await allMet(site);
    const broken = join(folder, 'n2.broken');
    writeFileSync(broken, '');
    const ended = await until('two repairs failed', async () => {
      const all = await maintenances(site);
      return all.length >= 2 && all.every(({ phase }) => phase === 'failed') ? all : undefined;
    });
    assert.deepEqual(ended.map(({ goal }) => goal?.attempt).sort(), [1, 2]);
    const node = () => cluster.client.call<NodeView>('GET', '/v1/nodes/n2');
    const { drained } = await node();
    assert.match(
      drained?.reason ?? '',
      /^maintenance m\d+: its program \(job \d+\) ended as failed/,
    );
    const [, job = ''] = /job (\d+)/.exec(drained?.reason ?? '') ?? [];
    assert.match(await cluster.ok('logs', job), /weft-goal: sealed still differs/);
    // Looks go on; nothing more is tried, also by a head that was killed.
    await cluster.kill('head');
    await until('the head is back', async () => {
      const { code } = await cluster.weft('goal', 'show');
      return code === 0 || undefined;
    });
    await cluster.connect();
    await until('it was looked at again', async () => {
      const [, one] = await standings(site);
      return (one?.differences?.length ?? 0) > 0 || undefined;
    });
    assert.equal((await maintenances(site)).length, 2);
    rmSync(broken);
    await until('it is back in service', async () =>
      (await node()).drained === null ? true : undefined,
    );
    assert.equal((await maintenances(site)).length, 2, 'without a further repair');
    assert.ok(existsSync(join(folder, 'n2')));
  }));

test('[M25] a card that is ill is reset in a maintenance, and given to tasks again', async () => {
  const cluster = new GpuCluster();
  mkdirSync(cluster.state, { recursive: true });
  // Programs of the system find neither the stand-ins nor their file by themselves.
  const { PATH = '', FAKE_GPUS = '' } = cluster.env;
  const tool = `PATH=${PATH} FAKE_GPUS=${FAKE_GPUS} nvidia-smi`;
  const repair = `${tool} --gpu-reset -i "$WEFT_ILL_GPUS"`;
  const goals = `classes: {all: {within: 1h, duration: 1m, goals: {cards: {fact: gpu_fault, is: none, repair: '${repair}'}}}}`;
  writeFileSync(join(cluster.state, 'goals.yaml'), goals);
  const nodes = 'up: {nodes: 2, cpus: 1, memory: 256M}\n';
  writeFileSync(join(cluster.state, 'weft.yaml'), `${nodes}goals: {file: goals.yaml, every: 2s}\n`);
  try {
    const [one, two] = WORKSTATION.nvidia;
    assert.ok(one !== undefined && two !== undefined);
    cluster.write({ nvidia: [one, two] });
    await cluster.up('--listen', 'none', '--gpus', '1');
    await cluster.shows('free', 'n2');
    const site = { cluster, folder: '' };
    const pending = 'gpu_recovery_action';
    cluster.write({ nvidia: [one, { ...two, cells: { [pending]: 'Reset' } }] });
    const [done] = await until('it is repaired', async () => {
      const all = await maintenances(site);
      return all.some(({ phase }) => phase === 'done') ? all : undefined;
    });
    assert.match(done?.reason ?? '', /^cards is gpu 1 is ill: .*, expected none$/);
    await cluster.shows('free', 'n2');
    await until('the node meets its goals', async () => {
      const { differences } = (await standings(site))[1] ?? {};
      return differences?.length === 0 || undefined;
    });
    assert.equal((await maintenances(site)).length, 1);
    const job = await cluster.ok(
      'run',
      '--follow',
      '--gpus',
      '1',
      '--nodes-named',
      'n2',
      '--',
      'echo $WEFT_GPUS',
    );
    assert.match(job, /^1$/m);
  } finally {
    await cluster.close();
  }
});
