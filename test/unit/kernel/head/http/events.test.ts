// Following what happens: server-sent events, resumed by sequence number.

import assert from 'node:assert/strict';

import { test } from 'node:test';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import type { RecordView } from '../../../../../src/kernel/api/cluster.ts';
import { EVENT_KINDS } from '../../../../../src/kernel/api/event-kinds.ts';
import type { Answer } from '../../../../../src/kernel/api/exchange.ts';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import type { Clock } from '../../../../../src/kernel/ports/clock.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

/** Collects records until the stream is destroyed. */
async function follow(
  client: Client,
  headers: Record<string, string> = {},
  query: Record<string, string | number> = {},
) {
  const stream: Answer = await client.stream('events', { headers, query });
  const records: RecordView[] = [];
  const ids: number[] = [];
  let rest = '';
  stream.setEncoding('utf8').on('data', (piece: string) => {
    const messages = (rest + piece).split('\n\n');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const id = /^id: (\d+)$/m.exec(message)?.[1];
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (id !== undefined) ids.push(Number(id));
      if (data !== undefined) records.push(JSON.parse(data) as RecordView);
    }
  });
  const kinds = () => records.flatMap(({ events }) => events.map(({ kind }) => kind));
  return { stream, records, ids, kinds };
}

test('a reader who was cut off goes on where it was, and misses and repeats nothing', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const body = { ...TRUE, held: true };
  const first = await follow(world.admin);
  await world.admin.call('submitJob', { body });
  await eventually(() => first.kinds().includes('job_submitted'));
  first.stream.destroy();
  const lastId = first.ids.at(-1) ?? 0;
  for (let at = 0; at < 3; at += 1) await world.admin.call('submitJob', { body });
  const second = await follow(world.admin, { 'last-event-id': String(lastId) });
  await world.admin.call('submitJob', { body });
  const submitted = () => second.kinds().filter((kind) => kind === 'job_submitted').length;
  await eventually(() => submitted() === 4);
  assert.ok(second.ids.every((id, at) => id > (second.ids[at - 1] ?? lastId)));
  second.stream.destroy();
});

test("a user sees the own jobs' and the nodes' events, and no secrets", async (t) => {
  const world = await startWorld(t);
  const alice = await world.client('alice');
  const bob = await world.client('bob');
  const seen = await follow(bob, {}, { after: world.head.engine.seq });
  await startAgent(t, world, 'n1');
  await alice.call('submitJob', {
    body: { ...TRUE, held: true, environment: { PASSWORD: 'hush' } },
  });
  const { jobId } = await bob.call('submitJob', {
    body: { ...TRUE, held: true, environment: { PASSWORD: 'hush' } },
  });
  await eventually(() => seen.kinds().includes('job_submitted'));
  const jobs = seen.records.flatMap(({ events }) => events.map((event) => event['jobId']));
  assert.deepEqual(
    jobs.filter((id) => id !== undefined),
    [jobId],
  );
  assert.ok(seen.kinds().includes('node_connected'));
  const text = JSON.stringify(seen.records);
  assert.ok(!/hush|secretHash|"hash"/.test(text), text);
  assert.ok(!seen.kinds().includes('token_created'));
  seen.stream.destroy();
});

test('records that have left memory, or are yet to come, are refused with what is there', async (t) => {
  const world = await startWorld(t);
  const { seq } = world.head.engine;
  await assert.rejects(world.admin.stream('events', { query: { after: seq + 1000 } }), {
    code: 'event.not_yet',
    message: `There is no record ${seq + 1000} yet; the newest one is ${seq}.`,
  });
  // What was written before the head started is in its journal only.
  await assert.rejects(world.admin.stream('events', { query: { after: 0 } }), {
    code: 'event.too_old',
  });
  const headers = { 'last-event-id': 'soon' };
  await assert.rejects(world.admin.stream('events', { headers }), { code: 'argument.invalid' });
});

test('events of some jobs and kinds are all that a reader gets who asks for them', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const body = { ...TRUE, held: true };
  const after = world.head.engine.seq;
  const { jobId } = await world.admin.call('submitJob', { body });
  const other = await world.admin.call('submitJob', { body });
  const query = { after, job: jobId, kind: 'job_submitted,job_done' };
  const seen = await follow(world.admin, {}, query);
  for (const id of [other.jobId, jobId]) {
    await world.admin.call('cancelJob', { params: { id: String(id) } });
  }
  await eventually(() => seen.kinds().includes('job_done'));
  assert.deepEqual(seen.kinds(), ['job_submitted', 'job_done']);
  const about = seen.records.flatMap(({ events }) => events.map((event) => event.jobId));
  assert.deepEqual(about, [jobId, jobId]);
  seen.stream.destroy();
  const wrong = world.admin.stream('events', { query: { kind: 'job_donne' } });
  await assert.rejects(wrong, /kind\[0\]: no kind of event; docs\/events\.md lists them/);
});

test('[D22] a brief reader resumes where it was, and hears of own jobs alone, briefly', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const bob = await world.client('bob');
  const body = { ...TRUE, held: true };
  const { seq } = world.head.engine;
  const foreign = await alice.call('submitJob', { body });
  const { jobId } = await bob.call('submitJob', { body });
  const query = { brief: 'true', after: seq };
  const first = await follow(bob, {}, query);
  await eventually(() => first.kinds().includes('job_submitted'));
  first.stream.destroy();
  await bob.call('cancelJob', { params: { id: String(jobId) } });
  const second = await follow(bob, { 'last-event-id': String(first.ids.at(-1)) }, query);
  await eventually(() => second.kinds().includes('job_done'));
  second.stream.destroy();
  assert.equal(second.kinds().includes('job_submitted'), false, 'told before');
  const told = [...first.records, ...second.records].flatMap(({ events }) => events);
  const ofJobs = told.filter((event) => event.jobId !== undefined);
  assert.ok(!ofJobs.some((event) => event.jobId === foreign.jobId));
  for (const event of ofJobs) {
    assert.deepEqual(event, { kind: event.kind, jobId });
  }
});

test('the list of kinds says of each who sees it as the head decides it', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const bob = await world.client('bob');
  const after = world.head.engine.seq;
  const [own, foreign] = await Promise.all([
    follow(alice, {}, { after }),
    follow(bob, {}, { after }),
  ]);
  const all = await follow(world.admin, {}, { after });
  await alice.call('submitJob', { body: TRUE });
  const order = await agent.launch();
  agent.started(order);
  agent.ended(order, 0);
  await world.admin.call('drainNode', { params: { name: 'n1' }, body: { reason: 'x' } });
  await world.admin.call('createUser', { params: { name: 'carol' }, body: { role: 'user' } });
  await eventually(() => all.kinds().includes('user_set'));
  await eventually(() => own.kinds().includes('node_drained'));
  await eventually(() => foreign.kinds().includes('node_drained'));
  const audience = (kind: string) =>
    foreign.kinds().includes(kind) ? 'all' : own.kinds().includes(kind) ? 'job' : 'admin';
  for (const kind of new Set(all.kinds())) {
    assert.equal(audience(kind), EVENT_KINDS[kind as keyof typeof EVENT_KINDS].audience, kind);
  }
  for (const { stream } of [own, foreign, all]) stream.destroy();
});

test('[D12] a reader hears of a head every five seconds, whatever happens', async (t) => {
  const beats: (() => void)[] = [];
  const after: Clock['after'] = (delayMs, then) => {
    if (delayMs !== 5000) return systemClock.after(delayMs, then);
    beats.push(then);
    return { cancel: () => undefined };
  };
  const world = await startWorld(t, { clock: { after } });
  beats.length = 0;
  const stream: Answer = await world.admin.stream('events', {});
  let heard = '';
  stream.setEncoding('utf8').on('data', (piece: string) => {
    heard += piece;
  });
  await eventually(() => beats.length > 0);
  beats.shift()?.();
  await eventually(() => heard !== '');
  stream.destroy();
  assert.match(heard, /^(id: \d+\n\n|:\n\n)/);
  assert.equal(beats.length, 1, 'and the next one');
});
