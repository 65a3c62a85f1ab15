// Heartbeats whose answers may wait: the head hears its nodes by them as by any other, and answers
// when it has something to say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agents } from '../../../../src/kernel/head/agents.ts';
import { Stamps } from '../../../../src/kernel/head/stamps.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Heartbeat } from '../../../../src/kernel/wire/messages.ts';
import { EngineBench } from '../../../support/engine.ts';
import { launch, shell } from '../agent/orders.ts';
import { FakeSession } from './support/fake-session.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const N1 = 'n1' as NodeName;
const LOAD = { load1: 0.5, memoryFreeBytes: 2, diskFreeBytes: 3 };
const LOGS = { append: () => Promise.resolve({ offset: 0, end: false }) };
const LIMITS = { heartbeatMs: 1000, lookMs: Number.POSITIVE_INFINITY, logBytesMax: 1000 };

/** A welcomed node, and how it beats. `stamps`: the head says how far it has come. */
async function welcomed(options: { readonly stamps?: Stamps } = {}) {
  const made = new EngineBench();
  made.more = { nonce: () => 'aa' };
  await made.start();
  await made.connect('n1');
  const { clock, engine } = made;
  const agents = new Agents({ clock, log: QUIET, logs: LOGS, ...LIMITS, ...options });
  agents.attach(engine);
  const session = new FakeSession('n1');
  agents.accept(session);
  session.hello();
  await made.settle();
  const beat = (more: Partial<Heartbeat> = {}): string[] => {
    const before = session.heard.length;
    const sentAt = clock.monotonic();
    const heartbeat = { kind: 'heartbeat', sentAt, at: clock.now(), load: LOAD } as const;
    session.beatShortly({ ...heartbeat, mayWait: true, ...more });
    return session.heard.slice(before);
  };
  return { made, agents, engine, session, beat };
}

test('[N3] a node that only beats shortly is not silent', async () => {
  const { made, agents, engine, session, beat } = await welcomed();
  const { nodeTimeoutMs } = made.settings;
  for (let passed = 0; passed < 2 * nodeTimeoutMs; passed += nodeTimeoutMs / 2) {
    made.clock.pass(nodeTimeoutMs / 2);
    beat();
    agents.tick();
    await made.settle();
  }
  assert.equal(agents.silentMs(N1), 0);
  assert.deepEqual([session.closed, engine.state.nodes.get(N1)?.unreachableSince], [null, null]);
  made.clock.pass(nodeTimeoutMs);
  agents.tick();
  await made.settle();
  assert.notEqual(engine.state.nodes.get(N1)?.unreachableSince, null);
});

test('a short heartbeat says the load and the clock of its node', async () => {
  const { made, agents, beat } = await welcomed();
  beat({ at: made.clock.now() + 4000 });
  assert.deepEqual(agents.load(N1), LOAD);
  assert.equal(agents.clockOffsetMs(N1), 4000);
});

test('[N16] a short heartbeat ends the fault that its node had told', async () => {
  const { made, engine, session, beat } = await welcomed();
  session.say({ kind: 'heartbeat', sentAt: 1, at: 1, load: LOAD, fault: 'hot' });
  await made.settle();
  assert.equal(engine.state.nodes.get(N1)?.fault, 'hot');
  beat();
  await made.settle();
  assert.equal(engine.state.nodes.get(N1)?.fault, null);
});

test('[W11] an answer that may wait does, and one that may not does not', async () => {
  const { beat } = await welcomed();
  assert.deepEqual(beat(), []);
  assert.deepEqual(beat({ mayWait: false }), ['heartbeat_ack']);
  assert.deepEqual(beat(), []);
});

test('[W11] an answer that waits comes before orders, for the last heartbeat', async () => {
  const { made, agents, session, beat } = await welcomed();
  const before = session.heard.length;
  beat();
  made.clock.pass(1000);
  beat();
  for (const job of [1, 2]) agents.send(N1, [launch(job, shell('a'))]);
  assert.deepEqual(session.heard.slice(before), ['heartbeat_ack', 'orders', 'orders']);
  assert.equal(session.sentAt, made.clock.monotonic());
});

test('[W11] [S14] no answer waits that brings the news of a record', async () => {
  const { made, beat } = await welcomed({ stamps: new Stamps(new Uint8Array(32)) });
  assert.deepEqual(beat(), []);
  made.submit('a');
  await made.settle();
  assert.deepEqual(beat(), ['heartbeat_ack']);
  assert.deepEqual(beat(), [], 'it has been told');
});
