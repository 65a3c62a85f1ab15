// What counts as a node's silence: time in which the head could have heard it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeName } from '../../../src/core/model/ids.ts';
import { startHead } from '../../../src/head/head.ts';
import { MemoryStore } from '../../../src/store/memory.ts';
import { EngineBench, settlePromises } from '../../support/engine.ts';
import { FakeSession } from './support/fake-session.ts';

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

/** Another head on the same disk and clock, whose store is read in `readMs`. */
async function another({ disk, clock, settings }: EngineBench, readMs: number) {
  const store = new MemoryStore({ disk });
  const recover = store.recover.bind(store);
  store.recover = () => {
    clock.pass(readMs);
    return recover();
  };
  const head = await startHead({ store, clock, log: QUIET, logs: LOGS }, { settings, ...TIMING });
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
  assert.deepEqual([node()?.unreachableSince, node()?.holding.size], [null, 1]);
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
  assert.deepEqual([node?.unreachableSince, node?.holding.size], [null, 1]);
});
