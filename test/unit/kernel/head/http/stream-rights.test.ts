// Streams that outlive what gave their readers the right to them: a logout, a token that was
// revoked, another role.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

const ASK_MS = 15_000;

/** A head whose timers of 15 s fire when the test says so. */
async function openWorld(t: TestContext) {
  const due = new Set<() => void>();
  const after: typeof systemClock.after = (delayMs, then) => {
    if (delayMs !== ASK_MS) return systemClock.after(delayMs, then);
    due.add(then);
    return { cancel: () => due.delete(then) };
  };
  const world = await startWorld(t, { clock: { after } });
  const pass = () => {
    for (const then of [...due]) {
      due.delete(then);
      then();
    }
  };
  return { world, pass, due };
}

async function followEvents(client: Client) {
  const stream = await client.stream('events', {});
  let isOver = false;
  stream.on('close', () => {
    isOver = true;
  });
  stream.resume();
  return { stream, isOver: () => isOver };
}

test('events and followed output end with the token of their reader, not before', async (t) => {
  const { world, pass, due } = await openWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const token = await world.token('alice');
  const alice = await world.client('alice', token);
  const other = await followEvents(await world.client('bob'));
  const events = await followEvents(alice);
  const { jobId } = await alice.call('submitJob', { body: TRUE });
  agent.started(await agent.launch());
  const params = { id: String(jobId) };
  const logs = await alice.stream('readLogs', { params, query: { follow: true } });
  let isCut = false;
  logs
    .on('error', () => undefined)
    .on('close', () => {
      isCut = true;
    });
  logs.resume();
  const count = due.size;
  pass();
  // Asked, and everybody is still who they were: the timers are set again.
  await eventually(() => due.size === count);
  assert.deepEqual([events.isOver(), other.isOver(), isCut], [false, false, false]);
  await world.admin.call('revokeToken', { params: { id: token.split('_')[1] ?? '' } });
  pass();
  await eventually(() => events.isOver() && isCut);
  assert.equal(other.isOver(), false);
  other.stream.destroy();
});

test('events end when their reader gets another role', async (t) => {
  const { world, pass } = await openWorld(t);
  const params = { name: 'alice' };
  await world.admin.call('createUser', { params, body: { role: 'operator' } });
  const events = await followEvents(await world.client('alice'));
  await world.admin.call('modifyUser', { params, body: { role: 'user' } });
  pass();
  await eventually(events.isOver);
  assert.equal(events.isOver(), true);
});
