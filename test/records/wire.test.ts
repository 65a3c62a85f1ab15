// What agents and heads of earlier releases say must be understood for ever, or be refused with
// both protocol numbers. Recorded from the shells of each release (see README.md).

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EpochId } from '../../src/core/model/ids.ts';
import { Agents } from '../../src/head/agents.ts';
import { decodeAgentMessage, decodeHeadMessage, encode } from '../../src/wire/codec.ts';
import { PROTOCOL_VERSION } from '../../src/wire/messages.ts';
import { EngineBench } from '../support/engine.ts';
import { helloOf } from '../support/nodes.ts';
import { FakeWorld } from '../unit/agent/fake-world.ts';

const HERE = join(import.meta.dirname, 'wire');
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

interface Line {
  readonly way: string;
  readonly bytes: Uint8Array;
}

function readConversation(version: string): Line[] {
  const text = readFileSync(join(HERE, version, 'conversation.base64'), 'utf8').trim();
  return text.split('\n').map((line) => ({
    way: line.slice(0, 1),
    bytes: Buffer.from(line.slice(2), 'base64'),
  }));
}

/** Bytes as JSON has them in expected.json. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, one) => (isBytes(one) ? textOf(one) : one)));
}

function isBytes(value: unknown): value is { type: 'Buffer'; data: number[] } {
  return (value as { type?: unknown } | null)?.type === 'Buffer';
}

function textOf({ data }: { data: number[] }): { base64: string } {
  return { base64: Buffer.from(data).toString('base64') };
}

/** A head without jobs, and what it answers to one node. */
async function headBench() {
  const made = await new EngineBench().start();
  await made.connect('n1');
  const logs = { append: () => Promise.resolve({ offset: 0, end: false }) };
  const { clock, engine } = made;
  const agents = new Agents({ clock, log: QUIET, logs, heartbeatMs: 1000, logBytesMax: 1000 });
  agents.attach(engine);
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

for (const version of readdirSync(HERE)) {
  test(`every message of release ${version} is read as it was meant`, () => {
    const expected = JSON.parse(readFileSync(join(HERE, version, 'expected.json'), 'utf8'));
    const lines = readConversation(version);
    assert.equal(lines.length, expected.length);
    lines.forEach(({ way, bytes }, at) => {
      const read = way === '>' ? decodeAgentMessage(bytes) : decodeHeadMessage(bytes);
      assert.ok(read.ok, `line ${at + 1}`);
      assert.partialDeepStrictEqual(asJson(read.value), expected[at]);
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
