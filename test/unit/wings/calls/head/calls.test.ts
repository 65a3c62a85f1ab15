// Calls through a whole head: who is let in, what goes from whom to whom, how many workers a pool
// asks for, and what becomes of calls when workers or the pool end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { targetOf } from '../../../../../src/wings/calls/model/pool.ts';
import {
  eventually,
  startAgent,
  startWorld,
  type World,
} from '../../../kernel/head/http/fixture.ts';
import { call, credentials, dial, FUNCTION, hello, program, worker } from './peers.ts';

function target(world: World, jobId: number): number {
  const job = world.head.engine.state.jobs.get(jobId as JobId);
  assert.ok(job !== undefined);
  return targetOf(job.spec);
}

test('[K10] a call goes to a worker, and its result back', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { name: 'sums', min: 1, max: 1 } });
  const order = await agent.launch();
  agent.started(order);
  const works = await worker(t, world, order);
  await works.hears('welcome');
  const asks = await program(t, world, { user: 'ann', pool: 'sums' });
  asks.say(FUNCTION, call(1, 'two and two'));
  const given = await works.hears('call');
  assert.ok('inline' in given.payload);
  assert.equal(Buffer.from(given.payload.inline).toString(), 'two and two');
  const { session, call: number } = given;
  const payload = { inline: Buffer.from('four') };
  works.say({ kind: 'result', session, call: number, ok: true, attempt: 1, elapsedMs: 1, payload });
  const result = await asks.hears('result');
  assert.ok('inline' in result.payload);
  assert.equal(Buffer.from(result.payload.inline).toString(), 'four');
  const view = await ann.call('poolCalls', { params: { id: String(jobId) } });
  assert.deepEqual(
    [view.done, view.clients[0]?.label, view.workers[0]?.name],
    [...[1, "ann's", `n1:${order.epochId}`]],
  );
  const { calls } = await ann.call('getPool', { params: { id: 'sums' } });
  assert.deepEqual(calls, { clients: 1, workers: 1, waiting: 0, running: 0, done: 1, failed: 0 });
});

test('[K10] nobody else is let in: no other user, no old or foreign worker', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { name: 'sums', min: 1, max: 1 } });
  const other = await ann.call('startPool', { body: { min: 1, max: 1 } });
  const orders = [await agent.launch(1), await agent.launch(2)];
  const [own, foreign] = [jobId, other.jobId].map((id) =>
    orders.find(({ place }) => place.jobId === id),
  );
  assert.ok(own !== undefined && foreign !== undefined);
  const refused = (path: string, authorization: string) =>
    dial(t, world, path, authorization).then(
      () => 'let in',
      (error: Error) => error.message,
    );
  const calls = `/v1/pools/${jobId}/calls/socket`;
  const work = `/v1/pools/${jobId}/work`;
  const bob = `Bearer ${await world.token('bob')}`;
  await world.admin.call('createUser', { params: { name: 'olga' }, body: { role: 'operator' } });
  const olga = `Bearer ${await world.token('olga')}`;
  assert.equal(await refused(calls, bob), '403');
  assert.equal(await refused(calls, olga), '403', 'an operator would run what she likes as ann');
  assert.equal(await refused('/v1/pools/sums/calls/socket', bob), '404');
  assert.equal(await refused(calls, credentials(own)), '403');
  assert.equal(await refused(work, bob), '403');
  assert.equal(await refused(work, credentials(foreign)), '404');
  assert.equal(await refused(work, `Worker ${own.epochId}:${foreign.pool?.key}`), '401');
  assert.equal(await refused(work, credentials(own).replace('#1', '#2')), '401');
  for (const wrong of ['Worker x', 'Worker #:', 'Worker 1#1:', `Worker ${own.epochId}:`]) {
    assert.equal(await refused(work, wrong), '401', wrong);
  }
  agent.ended(own, 1);
  await eventually(async () => (await refused(work, credentials(own))) === '401');
});

test('[K10] a worker that says another name is cut off', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('startPool', { body: { min: 1, max: 1 } });
  const order = await agent.launch();
  const works = await worker(t, world, order);
  await works.hears('welcome');
  const liar = await dial(t, world, `/v1/pools/${jobId}/work`, credentials(order));
  const { Voice } = await import('./peers.ts');
  const { ROUTER_TO_WORKER, WORKER_TO_ROUTER } = await import(
    '../../../../../src/wings/calls/wire/call-frames.ts'
  );
  const voice = new Voice(liar, WORKER_TO_ROUTER, ROUTER_TO_WORKER);
  voice.say(hello('n2:99[0]#1'));
  assert.match((await voice.hears('closing')).detail, /says that it is another/);
  await eventually(() => voice.isClosed);
  const view = await world.admin.call('poolCalls', { params: { id: String(jobId) } });
  assert.deepEqual(
    view.workers.map(({ name }) => name),
    [`n1:${order.epochId}`],
  );
});

test('[K11] calls that wait bring workers, and who has none to do leaves', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const body = { min: 0, max: 3, idleMs: 0 };
  const { jobId } = await ann.call('startPool', { body });
  const asks = await program(t, world, { user: 'ann', pool: String(jobId) });
  await asks.hears('welcome');
  assert.equal(target(world, jobId), 0);
  asks.say(FUNCTION, call(1));
  const order = await agent.launch();
  agent.started(order);
  const works = await worker(t, world, order);
  const { session } = await works.hears('call');
  const payload = { inline: Buffer.from('') };
  works.say({ kind: 'result', session, call: 1, ok: true, attempt: 1, elapsedMs: 1, payload });
  asks.say({ kind: 'ack', calls: [1] });
  await works.hears('leave');
  agent.ended(order, 0);
  await eventually(() => target(world, jobId) === 0);
  await eventually(() => world.head.engine.state.jobs.get(jobId as JobId)?.entry.running === 0);
  assert.equal(agent.launches.length, 1, 'nobody is started in its place');
  assert.equal((await ann.call('getPool', { params: { id: String(jobId) } })).losses, 0);
});

test('[K11] a program hears why its pool gets no more workers', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('startPool', { body: { max: 1, cpuCount: 4 } });
  const held = { program: { kind: 'argv' as const, argv: ['true'] }, cpuCount: 4 };
  await world.admin.call('submitJob', { body: held });
  await world.admin.call('createUser', { params: { name: 'ada' }, body: { role: 'admin' } });
  const asks = await program(t, world, { user: 'ada', pool: String(jobId) });
  asks.say(FUNCTION, call(1));
  await eventually(() => asks.of('pool').some(({ why }) => why !== null && /cpu/.test(why)));
});

test('the end of a worker settles the call that it had', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { min: 1, max: 1 } });
  const order = await agent.launch();
  agent.started(order);
  const works = await worker(t, world, order);
  const asks = await program(t, world, { user: 'ann', pool: String(jobId) });
  asks.say(FUNCTION, call(1));
  const { session } = await works.hears('call');
  works.say({ kind: 'started', session, call: 1, attempt: 1 });
  await asks.hears('started');
  agent.ended(order, 137);
  const settled = await asks.hears('settled');
  assert.deepEqual([settled.why, settled.worker], ['worker_lost', `n1:${order.epochId}`]);
  await eventually(() => works.isClosed);
});

test('a worker that the cluster takes away is no fault of the function that it ran', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { min: 1, max: 1 } });
  const params = { id: String(jobId) };
  const asks = await program(t, world, { user: 'ann', pool: params.id });
  asks.say(FUNCTION);
  for (let round = 1; round <= 4; round += 1) {
    const order = await agent.launch(round);
    agent.started(order);
    const works = await worker(t, world, order);
    asks.say(call(round));
    const { session } = await works.hears('call');
    works.say({ kind: 'started', session, call: round, attempt: 1 });
    await asks.hears('started', round);
    await ann.call('requeueJob', { params, body: {} });
    agent.ended(order, 143);
    const { why, detail } = await asks.hears('settled', round);
    assert.equal(why, 'worker_lost');
    assert.match(detail, /has ended: requeued by ann\.$/);
  }
});

test('[K12] a pool that is stopped settles its calls before its workers end', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { min: 1, max: 1 } });
  const works = await worker(t, world, await agent.launch());
  const asks = await program(t, world, { user: 'ann', pool: String(jobId) });
  asks.say(FUNCTION, call(1));
  await works.hears('call');
  await ann.call('stopPool', { params: { id: String(jobId) } });
  const settled = await asks.hears('settled');
  assert.deepEqual(
    [settled.why, settled.detail],
    ['pool_closed', 'The pool is over: closed by ann.'],
  );
  assert.equal((await asks.hears('closing')).isFinal, true);
  await eventually(() => works.isClosed && asks.isClosed);
  await assert.rejects(program(t, world, { user: 'ann', pool: String(jobId) }), /404/);
});

test('what goes to one side in one turn is one frame, however many calls', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { min: 1, max: 1 } });
  const works = await worker(t, world, await agent.launch());
  const asks = await program(t, world, { user: 'ann', pool: String(jobId) });
  await asks.hears('welcome');
  asks.say(FUNCTION, ...Array.from({ length: 500 }, (_, at) => call(at + 1)));
  const { session } = await works.hears('call');
  const answered = new Set<number>();
  while (answered.size < 500) {
    await eventually(() => works.of('call').length > answered.size);
    const fresh = works.of('call').filter((one) => !answered.has(one.call));
    const payload = { inline: Buffer.from('') };
    works.say(
      ...fresh.map((one) => {
        answered.add(one.call);
        return {
          kind: 'result',
          session,
          call: one.call,
          ok: true,
          attempt: 1,
          elapsedMs: 0,
          payload,
        } as const;
      }),
    );
  }
  await asks.hears('result', 500);
  assert.equal(new Set(asks.of('result').map((one) => one.call)).size, 500);
  assert.ok(asks.frames < 250, `${asks.frames} frames for 500 results`);
});

test('what is no frame ends the line, and nothing else', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { max: 1 } });
  const asks = await program(t, world, { user: 'ann', pool: String(jobId) });
  await asks.hears('welcome');
  asks.socket.send('words');
  await asks.hears('closing');
  await eventually(() => asks.isClosed);
  assert.equal(asks.isClosed, true);
  const again = await program(t, world, { user: 'ann', pool: String(jobId) });
  await again.hears('welcome');
});

test('figures tell of pools and calls', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { max: 1 } });
  const asks = await program(t, world, { user: 'ann', pool: String(jobId) });
  await asks.hears('welcome');
  const { get } = await import('node:http');
  const text = await new Promise<string>((resolve) => {
    get({ socketPath: world.socketPath, path: '/metrics', agent: false }, (answer) => {
      let all = '';
      answer.on('data', (piece: Buffer) => {
        all += piece.toString();
      });
      answer.on('end', () => resolve(all));
    });
  });
  assert.match(text, /^weft_pools 1$/m);
  assert.match(text, /^weft_calls\{state="waiting"\} 0$/m);
  assert.match(text, /^weft_call_peers\{kind="clients"\} 1$/m);
  assert.match(text, /^weft_calls_done_total 0$/m);
  assert.match(text, /^weft_calls_failed_total 0$/m);
});

test('[K10] a worker that has ended before it says hello is no worker any more', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { min: 1, max: 1 } });
  const order = await agent.launch();
  agent.started(order);
  const socket = await dial(t, world, `/v1/pools/${jobId}/work`, credentials(order));
  agent.ended(order, 1);
  await agent.launch(2);
  const { Voice } = await import('./peers.ts');
  const frames = await import('../../../../../src/wings/calls/wire/call-frames.ts');
  const late = new Voice(socket, frames.WORKER_TO_ROUTER, frames.ROUTER_TO_WORKER);
  late.say(hello(`n1:${order.epochId}`));
  assert.match((await late.hears('closing')).detail, /has ended/);
  const view = await ann.call('poolCalls', { params: { id: String(jobId) } });
  assert.deepEqual(view.workers, []);
});

test('[C11] a worker that is suspended is shown so, and gets no calls until it goes on', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId } = await ann.call('startPool', { body: { min: 1, max: 1 } });
  const params = { id: String(jobId) };
  const order = await agent.launch();
  agent.started(order);
  const works = await worker(t, world, order);
  await works.hears('welcome');
  const asks = await program(t, world, { user: 'ann', pool: params.id });
  await ann.call('suspendJob', { params });
  const state = async () => (await ann.call('poolCalls', { params })).workers[0]?.state;
  const told = async (kind: 'task_suspended' | 'task_resumed') => {
    const order = kind === 'task_suspended' ? 'suspend' : 'resume';
    await eventually(() => agent.orders.some((one) => one.kind === order));
    const found = agent.orders.find((one) => one.kind === order);
    assert.ok(found !== undefined && 'turn' in found);
    const { epochId, turn } = found;
    agent.report({ kind, epochId, at: Date.now(), turn });
  };
  await told('task_suspended');
  await eventually(async () => (await state()) === 'suspended');
  asks.say(FUNCTION, call(1));
  await eventually(async () => (await ann.call('poolCalls', { params })).waiting === 1);
  await ann.call('resumeJob', { params });
  await told('task_resumed');
  await works.hears('call');
  assert.equal(await state(), 'busy');
});

test('[C18] pools whose calls wait for each other say so', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const pools = ['sums', 'parts'];
  const ids: string[] = [];
  for (const name of pools) {
    const { jobId } = await ann.call('startPool', { body: { name, min: 1, max: 1 } });
    ids.push(String(jobId));
  }
  const orders = [await agent.launch(1), await agent.launch(2)];
  for (const order of orders) {
    agent.started(order);
    const works = await worker(t, world, order);
    await works.hears('welcome');
    const outer = await program(t, world, { user: 'ann', pool: String(order.place.jobId) });
    outer.say(FUNCTION, call(1));
    const { session } = await works.hears('call');
    works.say({ kind: 'started', session, call: 1, attempt: 1 });
  }
  for (const within of orders) {
    const pool = ids.find((id) => id !== String(within.place.jobId)) ?? '';
    const inner = await program(t, world, { user: 'ann', pool, within });
    inner.say(FUNCTION, call(1));
  }
  const words =
    /in a call that waits for calls of pool parts, and those wait in turn .*none goes on/;
  await eventually(async () => {
    const { reason } = await ann.call('getPool', { params: { id: 'sums' } });
    return words.test(reason?.words ?? '');
  });
  const why = await ann.call('explainJob', { params: { id: ids[0] ?? '' } });
  assert.match(why.words, words);
});
