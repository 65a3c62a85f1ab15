// Messages through bytes and back, and bytes that are no messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as unpacking from 'msgpackr/unpack';
import type { EpochId } from '../../../../src/kernel/model/ids.ts';
import { MESSAGE_BYTES_MAX } from '../../../../src/kernel/model/limits.ts';
import {
  decode,
  decodeAgentMessage,
  decodeHeadMessage,
  decodeRecords,
  encode,
  encodeInSlices,
  encodeOrders,
  encodeRecords,
} from '../../../../src/kernel/wire/codec.ts';
import {
  type AgentToHead,
  type HeadToAgent,
  PROTOCOL_VERSION,
} from '../../../../src/kernel/wire/messages.ts';
import { OrderWriter } from '../../../../src/kernel/wire/orders.ts';
import { endReport } from '../../../support/controller.ts';
import { helloOf } from '../../../support/nodes.ts';
import { launch, shell } from '../agent/orders.ts';

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }).map((number) => number + 0), // No message has a negative zero.
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array(),
    fc.array(tie('any')),
    fc.dictionary(
      fc.string().filter((key) => key !== '__proto__'),
      tie('any'),
      { noNullPrototype: true },
    ),
  ),
})).any;

/** Byte arrays come back as Node's own kind of them. */
function plain(one: unknown): unknown {
  if (one instanceof Uint8Array) return { bytes: [...one] };
  if (Array.isArray(one)) return one.map(plain);
  if (typeof one !== 'object' || one === null) return one;
  return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, plain(inner)]));
}

test('[W1] any value comes back as it was', () => {
  fc.assert(
    fc.property(value, (one) => {
      const read = decode(encode(one));
      assert.ok(read.ok);
      assert.deepEqual(plain(read.value), plain(one));
    }),
    { numRuns: 2000 },
  );
});

const epochId = '42[7]#2' as EpochId;
const name = { epochId, nodeRank: 0, rank: 3, stream: 'stderr' } as const;
const FROM_AGENT: readonly AgentToHead[] = [
  {
    kind: 'hello',
    protocol: PROTOCOL_VERSION,
    dialedAt: 0.5,
    features: ['mpi'],
    hello: helloOf('n1', { counted: { lic: 2 } }),
  },
  {
    kind: 'heartbeat',
    sentAt: 1.5,
    at: 1_700_000_000_000,
    load: { load1: 0.1, memoryFreeBytes: 2 ** 40, diskFreeBytes: 1 },
  },
  { kind: 'reports', first: 3, reports: [endReport('42[7]#2', 17, { signal: 9, detail: 'é' })] },
  {
    kind: 'reports',
    first: 4,
    reports: [
      { kind: 'task_storing', epochId, at: 5 },
      { kind: 'task_built', epochId, at: 5, tookMs: 1.5 },
      endReport('42[7]#2', 17, { stored: { files: 1, bytes: 2, leftOut: 3, problem: 'full' } }),
    ],
  },
  { kind: 'log', name, offset: 2 ** 33, bytes: new Uint8Array([0, 255]), end: true, dropped: 0 },
];
const FROM_HEAD: readonly HeadToAgent[] = [
  { kind: 'heartbeat_ack', sentAt: 1.5 },
  { kind: 'reports_ack', upTo: 9 },
  { kind: 'log_ack', name, offset: 4, end: false },
  { kind: 'log_ack', name, offset: 4, end: true },
  { kind: 'orders', orders: [{ kind: 'end', epochId, graceMs: 10_000, why: 'cancel' }] },
  { kind: 'refused', code: 'node.not_found', message: 'No node n1.', details: { node: 'n1' } },
];

test('[W1] every kind of message comes back as it was', () => {
  for (const message of FROM_AGENT) {
    assert.deepEqual(
      plain(decodeAgentMessage(encode(message))),
      plain({ ok: true, value: message }),
    );
  }
  for (const message of FROM_HEAD) {
    assert.deepEqual(decodeHeadMessage(encode(message)), { ok: true, value: message });
  }
});

test('[W2] bytes that are no message are refused with words', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200, size: 'max' }), (bytes) => {
      for (const read of [decode(bytes), decodeAgentMessage(bytes), decodeHeadMessage(bytes)]) {
        if (!read.ok) assert.ok(read.error.length > 0);
      }
    }),
    { numRuns: 5000 },
  );
});

test('[W2] a message cut short or with a byte changed never throws', () => {
  const writer = new OrderWriter({ sharesScripts: true });
  const both = [launch(1, shell('a')), launch(2, shell('a'))];
  const short = encodeOrders(
    both.map((order) => writer.write(order)),
    null,
  );
  const whole = [...[...FROM_AGENT, ...FROM_HEAD].map((message) => encode(message)), short];
  fc.assert(
    fc.property(
      fc.nat(whole.length - 1),
      fc.nat(),
      fc.nat(255),
      fc.boolean(),
      (which, at, byte, cut) => {
        const bytes = Uint8Array.from(whole[which] as Uint8Array);
        const place = at % bytes.length;
        bytes[place] = byte;
        for (const read of [decodeAgentMessage, decodeHeadMessage])
          assert.equal(typeof read(cut ? bytes.slice(0, place) : bytes).ok, 'boolean');
      },
    ),
    { numRuns: 5000 },
  );
});

test('[W2] orders that are none, or like none before them, are refused', () => {
  const all = [undefined, 5, [null], ['x'], [{}], [{ kind: 'launch', like: 0 }]];
  for (const orders of all) {
    const read = decodeHeadMessage(encode({ kind: 'orders', orders }));
    assert.ok(!read.ok && read.error.length > 0, JSON.stringify(orders));
  }
});

test('[W2] a kind of the other direction, or of nobody, is refused', () => {
  for (const message of [...FROM_HEAD, { kind: 'launch' }, { kind: 7 }, {}, [], 'hello', null]) {
    assert.ok(!decodeAgentMessage(encode(message)).ok, JSON.stringify(message));
  }
  for (const message of FROM_AGENT) assert.ok(!decodeHeadMessage(encode(message)).ok);
});

test('[W3] what is too large is refused unread', () => {
  const read = decodeAgentMessage(new Uint8Array(MESSAGE_BYTES_MAX + 1));
  assert.deepEqual(read, { ok: false, error: `${MESSAGE_BYTES_MAX + 1} bytes are too many` });
});

test('no native reader of strings is asked for: where it is missing each message throws inside', () => {
  // Not in its types for this path, though it is there.
  assert.equal(Reflect.get(unpacking, 'isNativeAccelerationEnabled'), false);
});

test('a large map as bytes in slices is the map, and its long lists come after all else', () => {
  const element = (at: number) => (at % 3 === 0 ? { at, odd: `${at}` } : { at, sub: [{ at }] });
  for (const count of [0, 1, 15, 16, 999, 1000, 1001, 2016, 5000]) {
    const jobs = Array.from({ length: count }, (_, at) => element(at));
    const other = { kept: [1], deep: { a: 1 } };
    const value = { v: 1, jobs, other, nodes: [{ name: 'n1' }] };
    const making = encodeInSlices(
      value,
      new Map([
        ['jobs', (one: object) => one],
        ['nowhere', (one: object) => one],
      ]),
    );
    let turns = 0;
    let step = making.next();
    // What is not in a long list may change from here on.
    value.v = 2;
    other.kept.push(2);
    for (; step.done !== true; step = making.next()) turns += 1;
    assert.equal(turns, 1 + Math.ceil(count / 1000));
    const read = decodeRecords(step.value);
    const wanted = { ...value, v: 1, other: { ...other, kept: [1] } };
    assert.deepEqual(read, { ok: true, value: wanted });
    const atOnce = decodeRecords(encodeRecords(wanted));
    assert.deepEqual(atOnce, read);
  }
});
