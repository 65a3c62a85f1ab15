// A site as the API shows it: of a job that our scheduler leaves out it is said why.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeJob } from '../../../../../../src/kernel/cli/jobs/describe.ts';
import { PLAIN_SITE_JOB } from '../../../../../support/plain.ts';
import { eventually, startAgent, startWorld } from '../../../../kernel/head/http/fixture.ts';

const SITE = {
  isFirst: true,
  isLast: true,
  system: 'slurm',
  mode: 'steer',
  takeover: null,
  problem: null,
  ageMs: 10,
  gone: [],
  nodes: [],
  queues: [],
};

function siteJob(id: string, owner: string) {
  return {
    ...PLAIN_SITE_JOB,
    id,
    owner,
    name: 'theirs',
    word: 'PENDING',
    reason: 'Priority',
    queue: 'main',
    submittedAt: 1,
    walltimeMs: 60_000,
    isOurs: false,
  };
}

test('a job of a steered site that cannot be ours is shown with the reason', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'hpc', 'site');
  agent.tell({
    kind: 'site',
    news: { ...SITE, jobs: [siteJob('7', 'eve'), siteJob('8', 'eve m')] },
  });
  await eventually(() => world.head.agents.sites().length > 0);
  const { jobs } = await world.admin.call('getSite', { params: { name: 'hpc' } });
  assert.deepEqual(
    jobs.map(({ id, reason }) => [id, reason]),
    [
      ['7', 'Priority'],
      ['8', "weft does not start it: its owner 'eve m' is no name that a user can have here"],
    ],
  );
});

test('[G3] a job that nobody saw running is not said to have run on no node', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'hpc', 'site');
  const [ran, cancelled] = ['7', '8'].map((id) => siteJob(id, 'eve'));
  agent.tell({ kind: 'site', news: { ...SITE, jobs: [ran, cancelled] } });
  const listed = async () => (await world.admin.call('listJobs', { query: {} })).jobs;
  await eventually(async () => (await listed()).length === 2);
  const over = { state: 'ended', word: 'gone; the nodes beside n2 are not recorded' };
  const jobs = [
    { ...ran, ...over, exit: { code: 0 } },
    { ...cancelled, ...over },
  ];
  agent.tell({ kind: 'site', news: { ...SITE, jobs } });
  await eventually(async () => (await listed()).every(({ state }) => state === 'done'));
  const shown = (await listed()).map(({ siteJob: id, nodes, nodesUnknown }) => [
    ...[id, nodes.length, nodesUnknown ?? false],
  ]);
  assert.deepEqual(shown.sort(), [
    ['hpc/7', 0, true],
    ['hpc/8', 0, false],
  ]);
  const one = await world.admin.call('getJob', { params: { id: '1' } });
  const lines = describeJob(one, Date.now());
  const [, nodes] = lines.find(([title]) => title === 'Nodes') ?? [];
  assert.equal(nodes, 'not known: nobody saw it run, and its site has not recorded them');
});

test('[G26] nothing follows from a look before all of it has been heard', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'hpc', 'site');
  const half = { ...SITE, isLast: false, jobs: [siteJob('7', 'eve')] };
  agent.tell({ kind: 'site', news: half });
  await eventually(() => world.head.agents.sites().length > 0);
  assert.equal(world.head.engine.state.jobs.size, 0);
  const rest = { ...SITE, isFirst: false, jobs: [siteJob('8', 'eve')] };
  agent.tell({ kind: 'site', news: rest });
  await eventually(() => world.head.engine.state.jobs.size === 2);
});

test('[G24] output of a job that a user gave to a site is said to be there, and is not shown as none', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'hpc', 'site');
  agent.tell({ kind: 'site', news: { ...SITE, jobs: [siteJob('7', 'eve')] } });
  const listed = async () => (await world.admin.call('listJobs', { query: {} })).jobs;
  await eventually(async () => (await listed()).length === 1);
  const [job] = await listed();
  const params = { id: String(job?.id) };
  for (const follow of [false, true]) {
    await assert.rejects(world.admin.stream('readLogs', { params, query: { follow } }), {
      code: 'log.at_site',
      message: `Job ${params.id} is job 7 of site hpc, given to it by its own user: its output goes to files there, and not to the head.`,
      hint: 'There `scontrol show job 7` names them.',
    });
  }
  const detail = await world.admin.call('getJob', { params });
  const output = describeJob(detail, 0).find(([title]) => title === 'Output');
  assert.equal(output?.[1], 'in files at its site');
});
