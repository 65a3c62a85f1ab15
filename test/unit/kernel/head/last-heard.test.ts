// What counts as a node's silence: time in which the head could have heard it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEAD_MACHINE } from '../../../../sim/head-machine.ts';
import { MemoryStore } from '../../../../sim/memory-store.ts';
import { startHead } from '../../../../src/kernel/head/head.ts';
import type { Node } from '../../../../src/kernel/machine/nodes/facts.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { EngineBench, settlePromises } from '../../../support/engine.ts';
import { dial, FakeSession, HELLO } from './support/fake-session.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const N1 = 'n1' as NodeName;
const LOGS = { append: () => Promise.resolve({ offset: 0, end: false }) };
const TIMING = { heartbeatMs: 1000, tickMs: 1000, logBytesMax: 1000 };

/** A node with a running job that goes elsewhere when its node is lost. */
async function running(): Promise<EngineBench> {
  const made = await new EngineBench().start();
  await made.connect('n1');
  made.submit('a', { onNodeLoss: { kind: 'requeue' } });
  await made.settle();
  return made;
}

/** Without what only holds its place there until the node says that it is gone. */
function tasksOn(node: Node | undefined): number {
  return [...(node?.holding.values() ?? [])].filter(({ task }) => task !== null).length;
}

/** Another head on the same disk and clock, whose store is read in `readMs`. */
async function another({ disk, clock, settings }: EngineBench, readMs: number) {
  const store = new MemoryStore({ disk });
  const recover = store.recover.bind(store);
  store.recover = () => {
    clock.pass(readMs);
    return recover();
  };
  const head = await startHead(
    { machine: HEAD_MACHINE, store, clock, log: QUIET, logs: LOGS },
    { settings, ...TIMING },
  );
  const pass = async (ms: number): Promise<void> => {
    clock.pass(ms);
    for (let turn = 0; turn < 4; turn += 1) {
      clock.endTurn();
      await settlePromises();
    }
  };
  const passSlowly = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) await pass(500);
  };
  return { head, pass, passSlowly };
}

test('[N3] a head whose store takes long to read gives its nodes the whole time-out from then on', async () => {
  const made = await running();
  const timeoutMs = made.settings.nodeTimeoutMs;
  const { head, passSlowly } = await another(made, 4 * timeoutMs);
  const node = () => head.engine.state.nodes.get(N1);
  await passSlowly(timeoutMs - 1000);
  assert.deepEqual([node()?.unreachableSince, tasksOn(node())], [null, 1]);
  await passSlowly(2500);
  assert.notEqual(node()?.unreachableSince, null);
});

test('[N3] what happens until the head listens is no silence', async () => {
  const made = await running();
  const timeoutMs = made.settings.nodeTimeoutMs;
  const { head, passSlowly } = await another(made, 0);
  await passSlowly(timeoutMs - 1000);
  head.agents.beginHearing();
  await passSlowly(timeoutMs - 1000);
  assert.equal(head.engine.state.nodes.get(N1)?.unreachableSince, null);
});

test('[N3] nobody is silent while the store cannot be written', async () => {
  const made = await running();
  const timeoutMs = made.settings.nodeTimeoutMs;
  const { head, passSlowly } = await another(made, 0);
  const session = new FakeSession('n1');
  head.agents.accept(session);
  session.hello();
  await passSlowly(1000);
  assert.match(session.heard.join(), /^welcome/);
  made.breakDisk();
  head.engine.perform({ kind: 'fault', node: N1, session: 2, fault: 'x' }, () => undefined);
  await passSlowly(2 * timeoutMs);
  assert.notEqual(head.engine.failure, null);
  made.disk.failure = null;
  for (let at = 0; head.engine.failure !== null && at < 1000; at += 1) await passSlowly(500);
  await passSlowly(timeoutMs - 2000);
  const node = head.engine.state.nodes.get(N1);
  assert.deepEqual([node?.unreachableSince, tasksOn(node)], [null, 1]);
});

const LOAD = { load1: 0, memoryFreeBytes: 1, diskFreeBytes: 1 };

/** A head that met its node; the session is as old as `silentMs`. */
async function met(silentMs: number) {
  const made = await running();
  const world = await another(made, 0);
  const session = new FakeSession('n1');
  world.head.agents.accept(session);
  session.hello();
  await world.passSlowly(1000);
  assert.match(session.heard.join(), /^welcome/);
  const beat = (): void => session.say({ kind: 'heartbeat', sentAt: 0, at: 0, load: LOAD });
  beat();
  await world.passSlowly(silentMs);
  const standing = () => {
    const node = world.head.engine.state.nodes.get(N1);
    return [session.closed, node?.unreachableSince, tasksOn(node)];
  };
  return { ...world, made, session, beat, standing, timeoutMs: made.settings.nodeTimeoutMs };
}

test('[N3] a head that stood still counts nothing of that as silence of a session or its node', async () => {
  const { head, pass, passSlowly, standing, timeoutMs } = await met(4000);
  await pass(10 * timeoutMs);
  assert.deepEqual(standing(), [null, null, 1]);
  // And again, before anything was heard: the node still has what was left of its time.
  await pass(10 * timeoutMs);
  assert.ok(head.agents.silentMs(N1) <= 4000 + 2 * 1000);
  await passSlowly(timeoutMs - 4000 - 2 * 1000 - 1000);
  assert.deepEqual(standing(), [null, null, 1]);
  await passSlowly(2000);
  const [closed, unreachableSince, held] = standing();
  assert.match(String(closed), /^silent for 1[56]\d\d\d ms$/);
  assert.notEqual(unreachableSince, null);
  assert.equal(held, 0, 'a node that is silent all the same is judged');
});

test('[N3] what is heard first after a stall counts from then, by the same clock', async () => {
  const { head, made, beat, passSlowly, standing, timeoutMs } = await met(2000);
  // A socket is read before the timers are.
  made.clock.at += 3 * timeoutMs;
  beat();
  assert.equal(head.agents.silentMs(N1), 0);
  await passSlowly(timeoutMs - 1000);
  assert.deepEqual(standing(), [null, null, 1]);
  await passSlowly(2000);
  assert.notEqual(standing()[1], null);
});

test('[N3] looks that come late on a busy machine are no stall', async () => {
  const { pass, standing, timeoutMs } = await met(0);
  for (let passed = 0; passed < timeoutMs + 2000; passed += 1900) await pass(1900);
  assert.notEqual(standing()[1], null);
});

test('[N18] a new boot that comes while the head stood still waits for the node to be silent', async () => {
  const { head, made, pass, passSlowly, session, beat, timeoutMs } = await met(0);
  made.clock.at += 3 * timeoutMs;
  const connect = async (upMs: number) => {
    const copy = new FakeSession('n1');
    head.agents.accept(copy);
    const hello = { ...HELLO.hello, bootId: 'another', upMs };
    copy.say({ ...HELLO, hello, dialedAt: dial() });
    await pass(0);
    return [copy.heard.join(), copy.closed];
  };
  const [heard, closed] = await connect(timeoutMs);
  assert.equal(heard, '');
  assert.match(String(closed), /earlier boot/);
  // What the original had said meanwhile is read next.
  beat();
  await passSlowly(1000);
  assert.equal(session.closed, null);
});
