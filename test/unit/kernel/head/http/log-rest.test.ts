// The output of a task that is over: all of it, or said not to be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOG_HEADERS } from '../../../../../src/kernel/api/log-headers.ts';
import { restOf } from '../../../../../src/kernel/head/http/handlers/log-rest.ts';
import type { LogStatus } from '../../../../../src/kernel/head/logs/log-files.ts';
import { startAgent, startWorld, TRUE } from './fixture.ts';

const OPEN: LogStatus = { size: 10, dropped: 0, ended: false, isOpen: true, movedAt: 1000 };
const UNKNOWN: LogStatus = { ...OPEN, isOpen: false, movedAt: 0 };
const OVER = { endedAt: 1000, isConnected: true, isDoubted: false, seenAt: 2000 };

test('[W8] the rest of an output is waited for while its node is there and sends', () => {
  assert.equal(restOf({ ...OPEN, ended: true }, OVER, 1000), 'whole');
  assert.deepEqual(restOf(OPEN, OVER, 1000), { waitMs: 60_000 });
  assert.deepEqual(restOf({ ...OPEN, movedAt: 70_000 }, OVER, 71_000), { waitMs: 59_000 });
  assert.equal(restOf(OPEN, OVER, 61_000), 'lacking');
});

test('[W8] what a node that is away has not sent is lacking, and nobody waits long for it', () => {
  const away = { ...OVER, isConnected: false };
  assert.deepEqual(restOf(OPEN, away, 1000), { waitMs: 5000 });
  assert.equal(restOf(OPEN, away, 6000), 'lacking');
});

test('output of which nothing has come may be on its way only just after the end', () => {
  assert.deepEqual(restOf(UNKNOWN, OVER, 2000), { waitMs: 4000 });
  assert.equal(restOf(UNKNOWN, OVER, 6000), 'whole');
  const ahead = { ...OVER, endedAt: 10_000_000 };
  assert.deepEqual(restOf(UNKNOWN, ahead, 2000), { waitMs: 5000 }, 'by the clock of the head');
  assert.deepEqual(restOf(UNKNOWN, null, 2000), { waitMs: Number.POSITIVE_INFINITY });
});

test('[W8] what ended in a time of lost records may have printed more than is here', () => {
  const doubted = { ...OVER, isDoubted: true };
  assert.deepEqual(restOf(UNKNOWN, doubted, 2000), { waitMs: 4000 });
  assert.equal(restOf(UNKNOWN, doubted, 6000), 'lacking');
  assert.equal(
    restOf({ ...OPEN, ended: true }, doubted, 6000),
    'whole',
    'its node has sent it again',
  );
});

test('[W8] who asks for the output of a task that is done gets all of it, also what is on its way', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const params = { id: String(jobId) };
  const order = await agent.launch();
  agent.started(order);
  agent.output(order.epochId, 'one\n', { offset: 0, end: false });
  agent.ended(order, 0);
  await world.admin.call('waitForJob', { params });
  const read = (query: Record<string, string | number | boolean>) =>
    world.admin.stream('readLogs', { params, query });
  const now = await read({ follow: false });
  assert.equal(await new Response(now as never).text(), 'one\n');
  assert.equal(now.headers[LOG_HEADERS.complete], 'false');
  const part = await read({ limit: 4 });
  assert.equal(await new Response(part as never).text(), 'one\n', 'it is here already');
  const all = await read({});
  const some = await read({ offset: 2, limit: 4 });
  agent.output(order.epochId, 'two\n', { offset: 4, end: true });
  assert.equal(await new Response(all as never).text(), 'one\ntwo\n');
  assert.deepEqual(
    [all.trailers[LOG_HEADERS.complete], all.trailers[LOG_HEADERS.lacking]],
    ['true', 'false'],
  );
  assert.equal(await new Response(some as never).text(), 'e\ntw');
});
