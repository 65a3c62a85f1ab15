// What agents and heads of earlier releases say must be understood for ever, or be refused with
// both protocol numbers. Recorded from the shells of each release (see README.md).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EpochId } from '../../src/kernel/model/ids.ts';
import { Agents } from '../../src/kernel/head/agents.ts';
import { decodeAgentMessage, decodeHeadMessage, encode } from '../../src/kernel/wire/codec.ts';
import { PROTOCOL_VERSION } from '../../src/kernel/wire/messages.ts';
import { OrderReader } from '../../src/kernel/wire/orders.ts';
import { EngineBench } from '../support/engine.ts';
import { helloOf } from '../support/nodes.ts';
import { FakeWorld } from '../unit/kernel/agent/fake-world.ts';
import { readRecord, throughJson, VERSIONS } from './files.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

interface Line {
  readonly way: string;
  readonly session: number;
  readonly bytes: Uint8Array;
  readonly meant: unknown;
}

function readConversation(version: string): Line[] {
  return readRecord<Line[]>(version, 'wire');
}

/** A head without jobs, and what it answers to one node. */
async function headBench() {
  const made = await new EngineBench().start();
  await made.connect('n1');
  const logs = { append: () => Promise.resolve({ offset: 0, end: false }) };
  const { clock, engine } = made;
  const limits = { heartbeatMs: 1000, lookMs: Number.POSITIVE_INFINITY, logBytesMax: 1000 };
  const agents = new Agents({ clock, log: QUIET, logs, ...limits });
  agents.attach(engine);
  // The recorded agent is in another boot, which is believed only of a node that has been silent.
  clock.pass(6_000);
  const heard: unknown[] = [];
  const bench = { made, heard, closed: '', say: (_: Uint8Array): void => undefined };
  agents.accept({
    peer: 'n1',
    send(bytes) {
      const read = decodeHeadMessage(bytes);
      heard.push(read.ok ? read.value : read.error);
    },
    onMessage(handler) {
      bench.say = handler;
    },
    onClose() {},
    close(why) {
      bench.closed = why;
    },
  });
  return bench;
}

for (const version of VERSIONS) {
  test(`every message of release ${version} is read as it was meant`, () => {
    const readers = new Map<number, OrderReader>();
    readConversation(version).forEach(({ way, session, bytes, meant }, at) => {
      const kept = readers.get(session) ?? new OrderReader();
      readers.set(session, kept);
      const read = way === '>' ? decodeAgentMessage(bytes) : decodeHeadMessage(bytes, kept);
      assert.ok(read.ok, `line ${at + 1}`);
      assert.partialDeepStrictEqual(throughJson(read.value), throughJson(meant));
    });
  });

  test(`an agent of release ${version} is welcome, and everything it says is answered`, async () => {
    const bench = await headBench();
    for (const { way, bytes } of readConversation(version)) {
      if (way === '>') bench.say(bytes);
      await bench.made.settle();
    }
    const kinds = new Set(bench.heard.map((one) => (one as { kind: string }).kind));
    const answers = ['welcome', 'heartbeat_ack', 'reports_ack', 'log_ack'];
    assert.deepEqual([...kinds].sort(), answers.sort());
    assert.equal(bench.closed, '');
  });

  test(`a head of release ${version} is understood, and its orders are carried out`, async (t) => {
    const world = new FakeWorld();
    t.after(() => world.kill());
    const agent = await world.start();
    const launched = new Set<EpochId>();
    for (const { way, bytes } of readConversation(version)) {
      const read = way === '<' ? decodeHeadMessage(bytes) : null;
      if (read === null || !read.ok || read.value.kind === 'refused') continue;
      world.head.tell(read.value);
      await world.clock.settle();
      for (const epochId of agent.state.epochs.keys()) launched.add(epochId);
    }
    assert.ok(launched.has('1#1' as EpochId));
    assert.equal(agent.status.state, 'connected');
    assert.deepEqual(
      world.complaints.filter((words) => words.includes('cannot be read')),
      [],
    );
  });
}

test('[W7] a hello of another protocol is refused with both numbers', async () => {
  for (const protocol of [PROTOCOL_VERSION - 1, PROTOCOL_VERSION + 1]) {
    const bench = await headBench();
    bench.say(encode({ kind: 'hello', protocol, hello: helloOf('n1') }));
    await bench.made.settle();
    const [refused] = bench.heard as { code: string; details: unknown; message: string }[];
    assert.equal(refused?.code, 'protocol.version');
    assert.deepEqual(refused?.details, {
      theirs: String(protocol),
      ours: String(PROTOCOL_VERSION),
    });
    assert.notEqual(bench.closed, '');
  }
});
