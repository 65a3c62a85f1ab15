// A head whose store was put back from an older copy: what its nodes told it, and what it does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEAD_MACHINE } from '../../../../sim/head-machine.ts';
import { MemoryDisk } from '../../../../sim/memory-store.ts';
import { Agents } from '../../../../src/kernel/head/agents.ts';
import { FirstWord } from '../../../../src/kernel/head/first-word.ts';
import { Stamps } from '../../../../src/kernel/head/stamps.ts';
import type { Command } from '../../../../src/kernel/machine/declared.ts';
import type { State } from '../../../../src/kernel/machine/state.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Stamp } from '../../../../src/kernel/model/life.ts';
import { ANN, submission } from '../../../support/controller.ts';
import { EngineBench, StillClock, settlePromises } from '../../../support/engine.ts';
import { helloOf } from '../../../support/nodes.ts';
import { dial, FakeSession, HELLO } from './support/fake-session.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

const STAMPS = new Stamps(new Uint8Array(32).fill(7));

function stampOf({ engine }: EngineBench): Stamp {
  const stamp = STAMPS.make(engine);
  assert.ok(stamp !== null);
  return stamp;
}

function copyOf(disk: MemoryDisk): MemoryDisk {
  const copy = new MemoryDisk();
  copy.journal = structuredClone(disk.journal);
  copy.snapshot = structuredClone(disk.snapshot);
  return copy;
}

/** Job 1 is known to the copy, job 2 is not; and what node n1 has heard. */
async function putBack(more: EngineBench['more'] = {}) {
  const bench = new EngineBench();
  let lives = 0;
  const nonce = (): string => {
    lives += 1;
    return `n${lives}`;
  };
  bench.more = { nonce };
  await bench.start();
  await bench.connect('n1');
  bench.submit('known');
  await bench.settle();
  const disk = copyOf(bench.disk);
  bench.submit('lost');
  await bench.settle();
  const stamp = stampOf(bench);
  bench.disk = disk;
  bench.more = { ...bench.more, ...more };
  await bench.crash();
  bench.take();
  const say = async () => {
    assert.equal(STAMPS.judge(stamp), 'true');
    const hello = helloOf('n1');
    const known = { heard: stamp, ownSeq: bench.engine.seq };
    bench.perform('hello', { kind: 'hello', hello, known });
    await bench.settle();
  };
  return { bench, say, stamp };
}

test('[S14] a head that was put back refuses work when a node knows more, and says why', async () => {
  const { bench, say } = await putBack();
  assert.equal(bench.engine.behind, null, 'by itself it cannot know');
  await say();
  assert.match(bench.engine.behind ?? '', /older than what n1 has heard.*--accept-loss/);
  bench.take();
  bench.submit('more');
  bench.command('drain', { kind: 'drain_node', node: 'n1' as NodeName, reason: 'x' });
  await bench.settle();
  assert.deepEqual(bench.take(), ['more: head.behind', 'drain: done']);
  await bench.crash();
  assert.notEqual(bench.engine.behind, null, 'also after another start');
  bench.more = { ...bench.more, acceptLoss: true };
  await bench.crash();
  assert.equal(bench.engine.behind, null);
});

test('[S14] while it lacks records it tells no node how far it has come', async () => {
  const { bench, stamp } = await putBack({ firstWordMs: 2000 });
  const { engine, clock } = bench;
  const logs = { append: () => Promise.resolve({ offset: 0, end: false }) };
  const limits = { heartbeatMs: 1000, lookMs: Number.POSITIVE_INFINITY, logBytesMax: 1000 };
  const agents = new Agents({ clock, log: QUIET, logs, stamps: STAMPS, ...limits });
  agents.attach(engine);
  const toldOf = async (name: string, heard: { readonly stamp?: Stamp } = {}) => {
    const session = new FakeSession(name);
    agents.accept(session);
    session.say({ ...HELLO, hello: helloOf(name), dialedAt: dial(), ...heard });
    await bench.settle();
    assert.match(session.heard.join(), /^welcome/);
    return session.stamps;
  };
  assert.equal(engine.seemsNewest, false, 'no node has spoken');
  assert.equal(await toldOf('n1', { stamp }), 0, 'the newer store would not know of it');
  assert.notEqual(engine.behind, null);
  assert.equal(await toldOf('n1'), 0);
  bench.more = { ...bench.more, acceptLoss: true };
  await bench.crash();
  agents.attach(bench.engine);
  assert.equal(await toldOf('n1', { stamp }), 1);
});

test('[S14] while it lacks records it takes over no jobs of sites', async () => {
  const { bench, say } = await putBack();
  await say();
  bench.take();
  const gateway = 'n1' as NodeName;
  const none = new Set<string>();
  const whole = {
    told: [],
    nodes: [],
    shown: new Map<string, string>(),
    listed: none,
    going: none,
    alone: new Map(),
    limits: new Map<string, number>(),
  };
  const part = { node: gateway, session: 2, whole, nodes: [], jobs: [] };
  bench.perform('site', { kind: 'site', part });
  await bench.settle();
  assert.deepEqual(bench.take(), ['site: head.behind']);
});

test('[S14] told to go on, it gives no id twice, and keeps what was lost', async () => {
  const { bench, say } = await putBack({ acceptLoss: true });
  await say();
  assert.equal(bench.engine.behind, null);
  bench.take();
  bench.submit('more');
  await bench.settle();
  assert.equal(bench.take()[0], 'more: job 100003');
  const [loss] = bench.engine.state.losses;
  assert.deepEqual([loss?.jobIdFrom, loss?.jobIdTo], [2, 2]);
  await say();
  assert.equal(bench.engine.behind, null, 'once is enough');
});

test('[S14] after a start ids wait for the first word of a node, but not for long', async () => {
  const { bench, say } = await putBack({ firstWordMs: 2000 });
  let asked = 0;
  const ask = (): { code: string | null } => {
    const answer: { code: string | null } = { code: null };
    asked += 1;
    const wanted = submission({}, { key: `key ${asked}` });
    void bench.engine.execute(wanted, ANN).then((result) => {
      answer.code = result.ok ? 'accepted' : result.error.code;
    });
    return answer;
  };
  const early = ask();
  await bench.settle();
  assert.equal(early.code, null);
  await say();
  await bench.settle();
  assert.equal(early.code, 'head.behind');
  bench.more = { ...bench.more, acceptLoss: true };
  await bench.crash();
  const alone = ask();
  await bench.settle();
  assert.equal(alone.code, null);
  bench.clock.pass(2000);
  await bench.settle();
  assert.equal(alone.code, 'accepted');
});

test('[S14] ids wait for all nodes that were there when the head went', async () => {
  const bench = new EngineBench();
  bench.more = { nonce: () => 'aa', firstWordMs: 6000 };
  await bench.start();
  for (const name of ['n1', 'n2', 'n3']) await bench.connect(name);
  bench.perform('silence', { kind: 'silence', node: 'n3' as NodeName, silentMs: 60_000 });
  await bench.settle();
  await bench.crash();
  await bench.crash();
  const wanted = submission({}, { key: 'one' });
  const answers: boolean[] = [];
  void bench.engine.execute(wanted, ANN).then(({ ok }) => answers.push(ok));
  const isAnswered = async () => {
    await bench.settle();
    return answers.length > 0;
  };
  await bench.connect('n1');
  assert.equal(await isAnswered(), false, 'n2 may know more');
  await bench.connect('n2');
  assert.equal(await isAnswered(), true, 'n3 was away before');
});

test('[S14] nothing starts before all nodes that were there have said what they run', async () => {
  const bench = new EngineBench();
  bench.more = { nonce: () => 'aa', firstWordMs: 6000 };
  await bench.start();
  for (const name of ['n1', 'n2']) await bench.connect(name);
  await bench.crash();
  bench.submit('waits');
  const starts = async (epochId: string) => {
    await bench.settle();
    return bench.take().filter((line) => line.includes(`launch ${epochId}`));
  };
  await bench.connect('n1');
  assert.deepEqual(await starts('1#1'), [], 'n2 may run it, by a record that is lost');
  await bench.connect('n2');
  assert.equal((await starts('1#1')).length, 1);
  await bench.crash();
  bench.submit('waits, too');
  await bench.connect('n1');
  assert.deepEqual(await starts('2#1'), []);
  bench.clock.pass(6000);
  assert.equal((await starts('2#1')).length, 1, 'not for long');
});

test('[S14] a store that is read again keeps waiting who waited', async () => {
  const clock = new StillClock();
  const nodes = new Map([['n1', { name: 'n1', session: 1, unreachableSince: null, facts: null }]]);
  const state = { nodes } as unknown as State;
  const word = new FirstWord(clock, 6000, () => undefined);
  const done: string[] = [];
  const ask = (kind: Command['kind']) => {
    void word.before({ machine: HEAD_MACHINE }, { kind } as Command)?.then(() => done.push(kind));
  };
  word.begin(state);
  ask('start_pool');
  ask('create_reservation');
  ask('plan_maintenance');
  clock.pass(5000);
  word.begin(state);
  clock.pass(5000);
  await settlePromises();
  assert.deepEqual(done, []);
  clock.pass(1000);
  await settlePromises();
  assert.equal(done.length, 3);
});

test('[S14] a node cannot claim what no head has said', () => {
  const state = {
    lives: [{ id: '3.aa', from: 9 }],
    nextJobId: 5,
    nextReservationId: 1,
    epochMax: 1,
  };
  const stamp = STAMPS.make({ state: state as never, seq: 12 });
  assert.ok(stamp !== null);
  assert.equal(STAMPS.judge(stamp), 'true');
  for (const claim of [
    { ...stamp, seq: 13 },
    { ...stamp, life: '4.aa' as Stamp['life'] },
    { ...stamp, given: { ...stamp.given, nextJobId: 9_000_000 } },
    { ...stamp, proof: '' },
  ]) {
    assert.equal(STAMPS.judge(claim), 'forged');
  }
  assert.equal(new Stamps(new Uint8Array(32)).judge(stamp), 'another');
});
