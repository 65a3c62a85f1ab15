// Steps over the API: who starts them, what nodes are told and tell, and the two lines of a stream.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import { dialHead } from '../../../../../src/kernel/connect/head-socket.ts';
import type { Services } from '../../../../../src/kernel/head/http/services.ts';
import type { EpochId, NodeName, TaskId } from '../../../../../src/kernel/model/ids.ts';
import type { LaunchOrder } from '../../../../../src/kernel/model/orders.ts';
import { StepBook } from '../../../../../src/wings/steps/core/book.ts';
import { EPOCH_HEADER, formatLine } from '../../../../../src/wings/steps/core/ids.ts';
import { STEPS_MAX, STEPS_PAGE_MAX } from '../../../../../src/wings/steps/core/limits.ts';
import { signalStep } from '../../../../../src/wings/steps/head/handlers.ts';
import { dialStep } from '../../../../../src/wings/steps/os/step-dialer.ts';
import {
  eventually,
  type FakeAgent,
  startAgent,
  startWorld,
  type World,
} from '../../../kernel/head/http/fixture.ts';

const ARGV = { argv: ['uptime'] };

async function runningJob(client: Client, agent: FakeAgent, count = 1): Promise<LaunchOrder> {
  await client.call('submitJob', {
    body: { program: { kind: 'argv', argv: ['sleep', '600'] } },
  });
  const order = await agent.launch(count);
  agent.started(order);
  const params = { id: String(order.place.jobId) };
  await eventually(async () => (await client.call('getJob', { params })).state === 'running');
  return order;
}

const wishesTo = ({ messages }: FakeAgent) =>
  messages.flatMap((one) => (one.kind === 'wing' ? [one.body as Record<string, unknown>] : []));

const dialAs = (client: Client, path: string, headers: Readonly<Record<string, string>> = {}) =>
  dialHead(client, { path, timeoutMs: 10_000, protocol: 'weft-step', headers });

const dialAsNode = (
  { socketPath }: World,
  { name, secret }: FakeAgent,
  step: string,
  epoch = 1,
) => {
  const epochId = `${step.split('.')[0]}#${epoch}` as EpochId;
  const door = { head: { socketPath }, name, secret, epochHeader: EPOCH_HEADER, line: formatLine };
  return dialStep(door, { step, rank: 0, epochId });
};

test('[Z2] the owner of a job starts steps in it, and admins; nobody else, operators neither', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const order = await runningJob(ann, agent);
  const id = String(order.place.jobId);
  const step = await ann.call('startStep', { params: { id }, body: ARGV });
  const { epochId } = order;
  assert.deepEqual(step, { id: `${id}.0`, epochId, processes: [{ rank: 0, node: 'n1' }] });
  await eventually(() => wishesTo(agent).length === 1);
  const [wish] = wishesTo(agent);
  assert.deepEqual(
    [wish?.['do'], wish?.['step'], wish?.['epochId'], wish?.['by'], wish?.['argv']],
    ['start', `${id}.0`, order.epochId, 'ann', ['uptime']],
  );
  const bob = await world.client('bob');
  const denied = { code: 'auth.not_owner' };
  await assert.rejects(bob.call('startStep', { params: { id }, body: ARGV }), denied);
  await assert.rejects(bob.call('listSteps', { params: { id } }), denied);
  await assert.rejects(dialAs(bob, `/v1/jobs/${id}/steps/${id}.0/0`), denied);
  await world.admin.call('createUser', { params: { name: 'bob' }, body: { role: 'operator' } });
  await assert.rejects(bob.call('startStep', { params: { id }, body: ARGV }), denied);
  await assert.rejects(dialAs(bob, `/v1/jobs/${id}/steps/${id}.0/0`), denied);
  const own = await world.admin.call('startStep', { params: { id }, body: ARGV });
  assert.equal(own.id, `${id}.1`);
  assert.equal((await bob.call('getJob', { params: { id } })).steps, undefined);
  assert.equal((await ann.call('getJob', { params: { id } })).steps?.length, 2);
});

test('[Z13] what a task has started itself is told by its owner, and ends as they say', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { place } = await runningJob(ann, agent);
  const params = { id: String(place.jobId) };
  const body = { title: './rank 4', nodes: ['n1', 'n1'], cpuCount: 2 };
  const { id: step } = await ann.call('noteStep', { params, body });
  assert.equal(step, `${params.id}.0`);
  const viewOf = async () => (await ann.call('listSteps', { params })).steps.at(-1);
  const running = await viewOf();
  assert.deepEqual(
    [running?.state, running?.processes, running?.command, running?.cpuCount],
    ['running', 2, './rank 4', 2],
  );
  assert.deepEqual(wishesTo(agent), []);
  const ofStep = { ...params, step };
  const signal = ann.call('signalStep', { params: ofStep, body: {} });
  await assert.rejects(signal, /processes of step 1\.0 are its job's own/);
  const bob = await world.client('bob');
  const denied = { code: 'auth.not_owner' };
  await assert.rejects(bob.call('noteStep', { params, body }), denied);
  const end = { exits: [{ code: 0 }, { code: 7 }] };
  await assert.rejects(bob.call('endStep', { params: ofStep, body: end }), denied);
  assert.deepEqual(await ann.call('endStep', { params: ofStep, body: end }), { count: 2 });
  assert.deepEqual((await viewOf())?.exit, { code: 7 });
  assert.deepEqual(await ann.call('endStep', { params: ofStep, body: { exits: [] } }), {
    count: 0,
  });
  const elsewhere = { title: 'x', nodes: ['n2'] };
  await assert.rejects(ann.call('noteStep', { params, body: elsewhere }), /'n2' is not a node/);
  // A head that knows nothing of it any more hears of it once it is over.
  const over = { ...body, ranMs: 5, exits: [{ code: 0 }, { signal: 9 }] };
  assert.equal((await ann.call('noteStep', { params, body: over })).id, `${params.id}.1`);
  assert.deepEqual((await viewOf())?.exit, { signal: 9 });
  // One of a node is ended by nobody but its node.
  const asked = await ann.call('startStep', { params, body: ARGV });
  const other = { ...params, step: asked.id };
  await assert.rejects(ann.call('endStep', { params: other, body: end }), /told of by its nodes/);
});

test('[Z4] a line that is for the step of another start gets no stream of this one', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { place, epochId } = await runningJob(ann, agent);
  const id = String(place.jobId);
  const { id: step } = await ann.call('startStep', { params: { id }, body: ARGV });
  const path = `/v1/jobs/${id}/steps/${step}/0`;
  // As after records that were put back, in which its number was not given yet.
  const older = { [EPOCH_HEADER]: `${id}#7` };
  await assert.rejects(dialAs(ann, path, older), { code: 'step.not_found' });
  await assert.rejects(dialAsNode(world, agent, step, 7), /404/);
  const { stream } = await dialAs(ann, path, { [EPOCH_HEADER]: epochId });
  stream.on('error', () => undefined).destroy();
});

test('[Z12] an agent that cannot bind is given no step that is to be bound', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1', 'old machine');
  const ann = await world.client('ann');
  const { place } = await runningJob(ann, agent);
  const params = { id: String(place.jobId) };
  await assert.rejects(
    ann.call('startStep', { params, body: { ...ARGV, bind: 'core' } }),
    /node n1 runs an agent too old for steps that are bound to cpus/,
  );
  await assert.rejects(
    ann.call('startStep', { params, body: { ...ARGV, lingerMs: 120_000 } }),
    /--linger: node n1 runs an agent that is too old/,
  );
  assert.deepEqual(wishesTo(agent), []);
  await ann.call('startStep', { params, body: ARGV });
  await eventually(() => wishesTo(agent).length === 1);
});

test('[Z12] no process of a step starts where one cannot be bound', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { place } = await runningJob(ann, agent);
  const params = { id: String(place.jobId) };
  const answer = async (count: number, body: object): Promise<void> => {
    await eventually(() => wishesTo(agent).length === count);
    const { claim } = wishesTo(agent).at(-1) ?? {};
    agent.tell({ kind: 'wing', wing: 'steps', body: { claimed: claim, ...body } });
  };
  const bound = () => ann.call('startStep', { params, body: { ...ARGV, bind: 'core' } });
  const refused = assert.rejects(bound, /--bind: on node n1 no cpu is free/);
  await answer(1, { why: 'no cpu is free' });
  await refused;
  const started = bound();
  await answer(2, { cpus: ['0'] });
  assert.equal((await started).processes.length, 1);
  await eventually(() => wishesTo(agent).at(-1)?.['do'] === 'start');
  const claimed = ann.call('claimCpus', { params, body: { nodes: ['n1'], bind: 'core' } });
  await answer(4, { cpus: ['0'] });
  assert.deepEqual(await claimed, { cpus: ['0'] });
  const elsewhere = { nodes: ['n2'], bind: 'core' } as const;
  await assert.rejects(ann.call('claimCpus', { params, body: elsewhere }), /'n2' is not a node/);
  const bob = await world.client('bob');
  const own = { nodes: ['n1'], bind: 'core' } as const;
  await assert.rejects(bob.call('claimCpus', { params, body: own }), /belongs to ann/);
});

test('[Z2] the two lines of a stream are joined, and a node serves its own processes alone', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const stranger = await startAgent(t, world, 'n2');
  const ann = await world.client('ann');
  const { place } = await runningJob(ann, agent);
  const id = String(place.jobId);
  const { id: step } = await ann.call('startStep', {
    params: { id },
    body: { ...ARGV, node: 'n1' },
  });
  const path = `/v1/jobs/${id}/steps/${step}/0`;
  await assert.rejects(dialAsNode(world, stranger, step), /404/);
  await assert.rejects(dialAs(ann, `/v1/jobs/${id}/steps/${id}.9/0`), { code: 'step.not_found' });
  const node = await dialAsNode(world, agent, step);
  const { stream } = await dialAs(ann, path);
  stream.on('error', () => undefined);
  const toNode = new Promise<string>((resolve) => node.onBytes((bytes) => resolve(`${bytes}`)));
  stream.write('to the node');
  assert.equal(await toNode, 'to the node');
  const toClient = new Promise<string>((resolve) => stream.once('data', (b) => resolve(`${b}`)));
  node.send(Buffer.from('to the client'));
  assert.equal(await toClient, 'to the client');
  // A new line begins anew at both ends.
  const gone = [
    new Promise<void>((resolve) => node.onClose(resolve)),
    new Promise<void>((resolve) => void stream.once('close', () => resolve())),
  ];
  const again = await dialAs(ann, path);
  await Promise.all(gone);
  again.stream.destroy();
});

test('what nodes tell is listed, and a step is over with its task', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const order = await runningJob(ann, agent);
  const id = String(order.place.jobId);
  const { epochId } = order;
  await ann.call('startStep', { params: { id }, body: ARGV });
  await ann.call('startStep', { params: { id }, body: ARGV });
  const told = { rank: 0, count: 1, epochId, command: 'uptime', by: 'ann', startedAt: 1 };
  const end = { endedAt: 2, end: { exit: { code: 4 } } };
  agent.tell({ kind: 'wing', wing: 'nobody', body: {} });
  agent.tell({ kind: 'wing', wing: 'steps', body: { isAll: 'no' } });
  const news = { isAll: false, processes: [{ ...told, step: `${id}.0`, ...end }] };
  agent.tell({ kind: 'wing', wing: 'steps', body: news });
  const list = async () => (await ann.call('listSteps', { params: { id } })).steps;
  await eventually(async () => (await list())[0]?.state === 'ended');
  const path = `/v1/jobs/${id}/steps/${id}.0/0`;
  (await dialAs(ann, path)).stream.destroy();
  const [first, second] = await list();
  assert.deepEqual([first?.exit, first?.endedAt, second?.state], [{ code: 4 }, 2, 'running']);
  // Its output is gone: nobody waits for it. The other one its agent has.
  const kept = { ...told, step: `${id}.1`, endedAt: null, end: null };
  agent.tell({ kind: 'wing', wing: 'steps', body: { isAll: true, processes: [kept] } });
  await eventually(async () => {
    try {
      (await dialAs(ann, path)).stream.destroy();
      return false;
    } catch (error) {
      return (error as { code?: string }).code === 'step.over';
    }
  });
  assert.equal((await list())[1]?.state, 'running');
  agent.ended(order, 0);
  await eventually(async () => (await list())[1]?.state === 'ended');
  assert.match((await list())[1]?.why ?? '', /its task has ended/);
  const lost = { code: 'step.lost' };
  await assert.rejects(dialAs(ann, `/v1/jobs/${id}/steps/${id}.1/0`), lost);
  await assert.rejects(ann.call('startStep', { params: { id }, body: ARGV }), {
    code: 'step.not_running',
  });
});

test('[Z5] what cannot be is refused by its name', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { place } = await runningJob(ann, agent);
  const params = { id: String(place.jobId) };
  const start = (body: object) => ann.call('startStep', { params, body: { ...ARGV, ...body } });
  await assert.rejects(start({ node: 'n9' }), { code: 'argument.invalid' });
  await assert.rejects(start({ argv: ['x'.repeat(300_000)] }), { code: 'argument.invalid' });
  await assert.rejects(start({ count: 2, terminal: { rows: 0, columns: 0 } }), {
    code: 'argument.invalid',
  });
  const variables = { environment: { A: 'x'.repeat(20_000) } };
  await assert.rejects(start({ ...variables, count: 256 }), /256 processes on one node have/);
  await start({ count: 190 });
  await assert.rejects(start({ count: 100 }), { code: 'step.too_many' });
  for (let made = 1; made < STEPS_MAX; made += 1) await start({});
  await assert.rejects(start({}), { code: 'step.too_many' });
  await runningJob(ann, agent, 2);
  agent.socket.terminate();
  const other = { id: String(place.jobId + 1) };
  await eventually(async () => {
    try {
      await ann.call('startStep', { params: other, body: ARGV });
      return false;
    } catch (error) {
      return (error as { code?: string }).code === 'step.node_away';
    }
  });
});

test('a task that is held still takes no steps, in words', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { place } = await runningJob(world.admin, agent);
  const params = { id: String(place.jobId) };
  await world.admin.call('suspendJob', { params });
  const refused = { code: 'step.not_running', message: /is held still/ };
  await assert.rejects(world.admin.call('startStep', { params, body: ARGV }), refused);
});

test('the many lines of its steps do not keep the agent of a node out', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  for (let dialled = 0; dialled < 100; dialled += 1)
    await assert.rejects(dialAsNode(world, agent, '1.0'), /404/);
  const socket = new WebSocket(`ws+unix:${world.socketPath}:/v1/agent`, {
    headers: { authorization: `Node ${agent.name}:${agent.secret}` },
  });
  t.after(() => socket.terminate());
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
});

test('a task at a site takes no steps', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1', 'site');
  const order = await runningJob(world.admin, agent);
  const params = { id: String(order.place.jobId) };
  await assert.rejects(world.admin.call('startStep', { params, body: ARGV }), {
    code: 'step.not_here',
  });
});

test('[Z9] steps of several jobs are listed by page: your own, and to operators all', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const bob = await world.client('bob');
  const first = String((await runningJob(ann, agent)).place.jobId);
  const second = String((await runningJob(bob, agent, 2)).place.jobId);
  for (const _ of [1, 2, 3]) await ann.call('startStep', { params: { id: first }, body: ARGV });
  await bob.call('startStep', { params: { id: second }, body: ARGV });
  const query = { from: 1, limit: 2 };
  const page = await ann.call('listAllSteps', { query });
  assert.deepEqual(
    [page.steps.map(({ id }) => id), page.next],
    [[`${first}.0`, `${first}.1`], `${first}.1`],
  );
  const rest = await ann.call('listAllSteps', { query: { ...query, after: `${first}.1` } });
  assert.deepEqual([rest.steps.map(({ id }) => id), rest.next], [[`${first}.2`], null]);
  const all = await world.admin.call('listAllSteps', { query: { from: Number(second) } });
  assert.deepEqual(
    all.steps.map(({ id }) => id),
    [`${second}.0`],
  );
  const wrong = ann.call('listAllSteps', { query: { ...query, after: 'x' } });
  await assert.rejects(wrong, { code: 'argument.invalid' });
});

test('[Z10] a step gets a signal, or is ended, by whom its job belongs to', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const [ann, bob] = [await world.client('ann'), await world.client('bob')];
  const order = await runningJob(ann, agent);
  const id = String(order.place.jobId);
  const other = String((await runningJob(bob, agent, 2)).place.jobId);
  const { id: step } = await ann.call('startStep', { params: { id }, body: ARGV });
  const signal = (client: Client, job: string, body: { signal?: number } = { signal: 10 }) =>
    client.call('signalStep', { params: { id: job, step }, body });
  assert.deepEqual(await signal(ann, id), { count: 1 });
  assert.deepEqual(await signal(ann, id, {}), { count: 1 });
  await eventually(() => wishesTo(agent).length === 3);
  const [, ...wishes] = wishesTo(agent);
  assert.deepEqual(wishes, [
    { do: 'signal', step, signal: 10 },
    { do: 'stop', step },
  ]);
  await assert.rejects(signal(bob, id), { code: 'auth.not_owner' });
  // A job of one's own is no door to the steps of another.
  await assert.rejects(signal(bob, other), { code: 'step.not_found' });
  const told = { rank: 0, count: 1, command: 'uptime', by: 'ann', startedAt: 1, step };
  const end = { endedAt: 2, end: { exit: { code: 4 } }, epochId: order.epochId };
  const news = { isAll: false, processes: [{ ...told, ...end }] };
  agent.tell({ kind: 'wing', wing: 'steps', body: news });
  await eventually(async () => {
    const reason = await signal(ann, id).catch((error: { code?: string }) => error.code);
    return reason === 'step.ended';
  });
});

test('[Z10] a step that runs is signalled however many came after it', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { place, epochId } = await runningJob(ann, agent);
  const id = String(place.jobId);
  await ann.call('startStep', { params: { id }, body: ARGV });
  const told = { rank: 0, count: 1, epochId, command: 'uptime', by: 'ann', startedAt: 1 };
  const end = { endedAt: Date.now(), end: { exit: { code: 4 } } };
  const later = Array.from({ length: STEPS_PAGE_MAX + 1 }, (_, at) => `${id}.${at + 1}`);
  const processes = later.map((step) => ({ ...told, step, ...end }));
  agent.tell({ kind: 'wing', wing: 'steps', body: { isAll: false, processes } });
  const signal = (step: string) =>
    ann.call('signalStep', { params: { id, step }, body: { signal: 10 } });
  const codeOf = (step: string) => signal(step).catch(({ code }: { code?: string }) => code);
  await eventually(async () => (await codeOf(later.at(-1) ?? '')) === 'step.ended');
  // Long over, and no more among those that are remembered.
  await assert.rejects(signal(`${id}.1`), { code: 'step.ended', message: /exit code 4/ });
  assert.deepEqual(await signal(`${id}.0`), { count: 1 });
});

test('[Z10] of the nodes of a step all that are there get its signal, the others are named', () => {
  const book = new StepBook();
  const nodes = ['n1', 'n2', 'n3'] as NodeName[];
  const epochId = '42#1' as EpochId;
  book.add({ task: '42' as TaskId, epochId, command: 'x', by: 'ann', at: 1, nodes });
  const told: string[] = [];
  const tellWing = (node: string): boolean => node !== 'n1' && told.push(node) > 0;
  const services = { steps: { book }, agents: { tellWing } } as unknown as Services;
  const call = { params: { id: '42', step: '42.0' }, body: {} };
  const reply = signalStep(services, call as Parameters<typeof signalStep>[1]);
  assert.deepEqual(told, ['n2', 'n3']);
  assert.match(JSON.stringify(reply), /step\.node_away.*n1 \(2 of 3 were told\)/);
});
