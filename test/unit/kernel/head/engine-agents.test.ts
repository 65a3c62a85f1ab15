// Agent sessions over the engine: which session counts, and what is told on it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agents } from '../../../../src/kernel/head/agents.ts';
import type { EpochId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { NODE_FEATURES } from '../../../../src/kernel/model/node-features.ts';
import type { Report } from '../../../../src/kernel/model/orders.ts';
import { decode } from '../../../../src/kernel/wire/codec.ts';
import {
  AGENT_FEATURES,
  type LogName,
  PROTOCOL_VERSION,
} from '../../../../src/kernel/wire/messages.ts';
import { endReport } from '../../../support/controller.ts';
import { EngineBench } from '../../../support/engine.ts';
import { helloOf } from '../../../support/nodes.ts';
import { launch, shell } from '../agent/orders.ts';
import { dial, FakeSession, HELLO } from './support/fake-session.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** `kept`: which files a piece came for. */
async function bench() {
  const made = await new EngineBench().start();
  await made.connect('n1');
  const { clock, engine } = made;
  const kept: string[] = [];
  const append = ({ epochId, stream }: LogName) => {
    kept.push(`${epochId} ${stream}`);
    return Promise.resolve({ offset: 0, end: false });
  };
  const logs = { append };
  const limits = { heartbeatMs: 1000, lookMs: Number.POSITIVE_INFINITY, logBytesMax: 1000 };
  const agents = new Agents({ clock, log: QUIET, logs, ...limits });
  agents.attach(engine);
  return { made, agents, engine, kept };
}

test('[N2] of two connections in one turn the later one counts, and stays', async () => {
  const { made, agents, engine } = await bench();
  const [first, second] = [new FakeSession('n1'), new FakeSession('n1')];
  for (const session of [first, second]) {
    agents.accept(session);
    session.hello();
  }
  await made.settle();
  assert.deepEqual(second.heard, ['welcome 3']);
  assert.match(first.closed ?? '', /overtaken/);
  assert.equal(second.closed, null);
  assert.equal(engine.state.nodes.get('n1' as NodeName)?.connected, true);
});

test('[N2] a hello that was sent before the newest one opens no session, however late it comes', async () => {
  const { made, agents, engine } = await bench();
  const [old, current] = [new FakeSession('n1'), new FakeSession('n1')];
  for (const session of [old, current]) agents.accept(session);
  current.say({ ...HELLO, dialedAt: 200 });
  await made.settle();
  old.say({ ...HELLO, dialedAt: 100 });
  await made.settle();
  assert.match(old.closed ?? '', /a newer connection came first/);
  assert.equal(current.closed, null);
  assert.equal(engine.state.nodes.get('n1' as NodeName)?.session, 2);
  // A restarted machine counts from zero again.
  made.clock.pass(5000);
  const rebooted = new FakeSession('n1');
  agents.accept(rebooted);
  rebooted.say({ ...HELLO, hello: { ...helloOf('n1'), bootId: 'another' }, dialedAt: 5 });
  await made.settle();
  assert.deepEqual(rebooted.heard, ['welcome 3']);
});

test('[N18] a machine that has just been started waits until the node is silent', async () => {
  const { made, agents, engine } = await bench();
  const connect = async (more: object) => {
    const session = new FakeSession('n1');
    agents.accept(session);
    session.say({ ...HELLO, hello: { ...helloOf('n1'), ...more }, dialedAt: dial() });
    await made.settle();
    return session;
  };
  const own = await connect({});
  const copy = { bootId: 'another', upMs: 800 };
  for (let time = 0; time < 3; time += 1) {
    made.clock.pass(1000);
    const load = { load1: 0, memoryFreeBytes: 0, diskFreeBytes: 0 };
    own.say({ kind: 'heartbeat', sentAt: 0, at: 0, load });
    const early = await connect(copy);
    assert.deepEqual([early.heard, own.closed], [[], null]);
    assert.match(early.closed ?? '', /earlier boot/);
  }
  made.clock.pass(2000);
  assert.deepEqual((await connect(copy)).heard, ['welcome 3'], 'it was a reboot');
  assert.equal(engine.state.nodes.get('n1' as NodeName)?.bootId, 'another');
});

test('[N18] a head that was started waits for the node before it believes a new boot', async () => {
  const { made, agents } = await bench();
  made.submit('a', { onNodeLoss: { kind: 'wait' } });
  await made.settle();
  await made.crash();
  agents.attach(made.engine);
  agents.reset('as after a start');
  const connect = async (more: object) => {
    const session = new FakeSession('n1');
    agents.accept(session);
    session.say({ ...HELLO, hello: { ...helloOf('n1'), ...more }, dialedAt: dial() });
    await made.settle();
    return session.heard.join();
  };
  const copy = { bootId: 'another', upMs: 800 };
  made.clock.pass(3000);
  assert.equal(await connect(copy), '', 'its original may be about to come');
  made.clock.pass(3000);
  assert.match(await connect(copy), /^welcome/);
});

test('[N18] a second machine is refused, and neither replaces the node nor is taken for it', async () => {
  const { made, agents, engine } = await bench();
  const own = new FakeSession('n1');
  agents.accept(own);
  own.hello();
  await made.settle();
  const copy = { ...helloOf('n1'), bootId: 'another', upMs: 60_000 };
  for (let time = 0; time < 2; time += 1) {
    made.clock.pass(2000);
    const session = new FakeSession('n1');
    agents.accept(session);
    session.say({ ...HELLO, hello: copy, dialedAt: 60_000 });
    await made.settle();
    assert.deepEqual(session.heard, ['refused']);
  }
  assert.equal(own.closed, null);
  assert.equal(agents.silentMs('n1' as NodeName), 4000, 'the node itself says nothing');
  assert.equal(engine.state.nodes.get('n1' as NodeName)?.clones.length, 1);
});

test('[N18] a machine that restarted while the head slept is no copy', async () => {
  const { made, agents } = await bench();
  const own = new FakeSession('n1');
  agents.accept(own);
  own.hello();
  await made.settle();
  // Its own machine sleeps: the clock that never jumps stands still meanwhile.
  made.clock.sleptMs = 3_600_000;
  const connect = async (upMs: number) => {
    const rebooted = new FakeSession('n1');
    agents.accept(rebooted);
    const hello = { ...helloOf('n1'), bootId: 'another', upMs };
    rebooted.say({ ...HELLO, hello, dialedAt: upMs });
    await made.settle();
    return rebooted.heard;
  };
  assert.deepEqual(await connect(1_800_000), [], 'its original may be about to speak');
  made.clock.pass(2000);
  assert.deepEqual(await connect(1_802_000), ['welcome 3']);
});

test('[N1] a session speaks for the node that its secret proved', async () => {
  const { made, agents, engine } = await bench();
  await made.connect('n2');
  const session = new FakeSession('n1');
  agents.accept(session);
  session.hello('n2');
  await made.settle();
  const numbers = ['n1', 'n2'].map((name) => engine.state.nodes.get(name as NodeName)?.session);
  assert.deepEqual(numbers, [2, 1]);
});

test('the offset of a clock is what the fastest of the last heartbeats says', async () => {
  const { made, agents } = await bench();
  const session = new FakeSession('n1');
  agents.accept(session);
  session.hello();
  await made.settle();
  const n1 = 'n1' as NodeName;
  const load = { load1: 0, memoryFreeBytes: 0, diskFreeBytes: 0 };
  const beat = (at: number): void => session.say({ kind: 'heartbeat', sentAt: 0, at, load });
  assert.equal(agents.clockOffsetMs(n1), null, 'nothing was heard yet');
  const now = made.clock.now();
  for (const offset of [4000, 5000, -60_000]) beat(now + offset);
  assert.equal(agents.clockOffsetMs(n1), 5000, 'one that took a minute says nothing');
  for (let at = 0; at < 8; at += 1) beat(now);
  assert.equal(agents.clockOffsetMs(n1), 0, 'the clock was set right');
});

test('[S7] reports sent again are acknowledged again, and change nothing', async () => {
  const { made, agents, engine } = await bench();
  const session = new FakeSession('n1');
  agents.accept(session);
  session.hello();
  made.submit('a');
  await made.settle();
  const reports = [endReport('1#1', made.clock.now())];
  session.say({ kind: 'reports', first: 1, reports });
  await made.settle();
  const before = engine.seq;
  session.say({ kind: 'reports', first: 1, reports });
  await made.settle();
  assert.equal(engine.seq, before);
  assert.deepEqual(session.heard.slice(-2), ['reports_ack', 'reports_ack']);
});

test('[W4] an end without output completes the files, and takes no message of their own', async () => {
  const { made, agents, kept } = await bench();
  const session = new FakeSession('n1');
  agents.accept(session);
  session.hello();
  made.submit('a');
  await made.settle();
  const report = { ...endReport('1#1', made.clock.now()), silentNodeRank: 0 };
  session.say({ kind: 'reports', first: 1, reports: [report as Report] });
  await made.settle();
  assert.deepEqual(kept, ['1#1 stdout', '1#1 stderr']);
  assert.ok(!session.heard.includes('log_ack'));
});

test('orders say what they have in common once', async () => {
  const { made, agents } = await bench();
  const session = new FakeSession('n1');
  agents.accept(session);
  session.hello();
  await made.settle();
  const environment = { HOME: '/' };
  const launches = [1, 2].map((job) => launch(job, shell('a'), { environment }));
  agents.send('n1' as NodeName, launches);
  assert.equal(session.heard.at(-1), 'orders');
  const read = decode(session.bytes.at(-1) ?? new Uint8Array());
  assert.ok(read.ok);
  const { orders } = read.value as { orders: Record<string, unknown>[] };
  assert.deepEqual(
    orders.map((order) => 'umask' in order),
    [true, false],
  );
});

test('a script that orders share is only left out for an agent that knows of that', async () => {
  const { made, agents } = await bench();
  const told = async (features: readonly string[]) => {
    const session = new FakeSession('n1');
    agents.accept(session);
    session.say({ ...HELLO, dialedAt: dial(), features });
    await made.settle();
    const script = (...args: string[]) => ({ kind: 'script', text: '#!/bin/sh', args }) as const;
    const environment = {};
    const launches = [1, 2].map((job) => launch(job, script(`${job}`), { environment }));
    agents.send('n1' as NodeName, launches);
    const read = decode(session.bytes.at(-1) ?? new Uint8Array());
    assert.ok(read.ok);
    const [, second] = (read.value as { orders: Record<string, unknown>[] }).orders;
    return [second?.['program'] ?? null, second?.['args'] ?? null];
  };
  assert.deepEqual(await told(AGENT_FEATURES), [null, ['2']]);
  const before = AGENT_FEATURES.filter((feature) => feature !== 'scripts');
  assert.deepEqual(await told(before), [{ kind: 'script', text: '#!/bin/sh', args: ['2'] }, null]);
});

test('what an agent says it can do is known of its node, and no other is sent input', async () => {
  const { made, agents, engine } = await bench();
  const n1 = 'n1' as NodeName;
  const piece = { epochId: '1#1' as EpochId, offset: 0, bytes: new Uint8Array(1), end: false };
  const told = async (features: readonly string[]) => {
    const session = new FakeSession('n1');
    agents.accept(session);
    session.say({ ...HELLO, dialedAt: dial(), features });
    await made.settle();
    const known = engine.state.nodes.get(n1)?.features;
    return [known, agents.feed(n1, piece), session.heard.includes('stdin')];
  };
  assert.deepEqual(await told([]), [[], false, false]);
  const later = [...AGENT_FEATURES, 'of a later release'];
  assert.deepEqual(await told(later), [NODE_FEATURES, true, true]);
});

test('[N3] a node that says nothing is cut off after the time-out', async () => {
  const { made, agents, engine } = await bench();
  const session = new FakeSession('n1');
  agents.accept(session);
  session.hello();
  await made.settle();
  made.clock.at += 14_999;
  agents.tick();
  assert.equal(session.closed, null);
  made.clock.at += 1;
  agents.tick();
  await made.settle();
  assert.match(session.closed ?? '', /silent/);
  assert.notEqual(engine.state.nodes.get('n1' as NodeName)?.unreachableSince, null);
});

const MANY = Array.from({ length: 1001 }, (_, at) => `label${at}`);

/** Well-formed bytes that no agent of ours would send. */
const NONSENSE: readonly unknown[] = [
  { kind: 'hello', protocol: PROTOCOL_VERSION },
  { kind: 'hello', protocol: PROTOCOL_VERSION, hello: { ...helloOf('n1'), held: 7 } },
  {
    kind: 'hello',
    protocol: PROTOCOL_VERSION,
    hello: { ...helloOf('n1'), held: [{ epochId: '1#1' }] },
  },
  { kind: 'hello', protocol: PROTOCOL_VERSION, hello: { ...helloOf('n1'), resources: null } },
  {
    kind: 'hello',
    protocol: PROTOCOL_VERSION,
    hello: {
      ...helloOf('n1'),
      resources: { cpuCount: 'many', memoryBytes: 1, gpuCount: 0, counted: {} },
    },
  },
  { kind: 'hello', protocol: PROTOCOL_VERSION, hello: { ...helloOf('n1'), labels: [1] } },
  { kind: 'hello', protocol: PROTOCOL_VERSION, hello: helloOf('n1', { gpus: 1e12 }) },
  { kind: 'hello', protocol: PROTOCOL_VERSION, hello: helloOf('n1', { cpus: 1_000_001 }) },
  { kind: 'hello', protocol: PROTOCOL_VERSION, hello: helloOf('n1', { memory: 2 ** 50 + 1 }) },
  { kind: 'hello', protocol: PROTOCOL_VERSION, hello: helloOf('n1', { counted: { l: 1e13 } }) },
  { kind: 'hello', protocol: PROTOCOL_VERSION, hello: helloOf('n1', { labels: MANY }) },
  {
    kind: 'hello',
    protocol: PROTOCOL_VERSION,
    hello: helloOf('n1', { shared: [`/${'x'.repeat(4096)}`] }),
  },
  { kind: 'reports', first: 1, reports: 'none' },
  { kind: 'reports', first: 1, reports: [null] },
  { kind: 'reports', first: 1, reports: [{ kind: 'task_exploded', epochId: '1#1' }] },
  { kind: 'reports', first: 1, reports: [{ ...endReport('1#1', 1), processes: [{ rank: 0 }] }] },
  { kind: 'reports', first: 1, reports: [{ ...endReport('1#1', 1), usage: null }] },
  { kind: 'heartbeat', sentAt: 1, load: 3 },
  { kind: 'log', name: null, offset: 0, bytes: new Uint8Array(1), end: false, dropped: 0 },
];

NONSENSE.forEach((message, at) => {
  test(`[W2] nonsense from an agent closes its session only (${at})`, async () => {
    const { made, agents, engine } = await bench();
    const session = new FakeSession('n1');
    agents.accept(session);
    session.hello();
    made.submit('a');
    await made.settle();
    session.garbage(message);
    await made.settle();
    assert.match(session.closed ?? '', /unreadable message/);
    made.submit('b');
    await made.settle();
    assert.equal(engine.failure, null);
    assert.equal(made.take().at(-1), 'b: job 2');
  });
});
