// Lines of calls over connections: what one side sends the other hears, however it is cut on its
// way; with a foreign WebSocket on the other side; and what breaks the protocol ends the line.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { WebSocket } from 'ws';
import { CALL_PIECE_BYTES_MAX } from '../../../../../src/kernel/model/limits.ts';
import type {
  ClientToRouter,
  RouterToClient,
} from '../../../../../src/wings/calls/core/messages.ts';
import { takeOver } from '../../../../../src/wings/calls/head/handshake.ts';
import {
  CLIENT_TO_ROUTER,
  ROUTER_TO_CLIENT,
  readFrame,
} from '../../../../../src/wings/calls/wire/call-frames.ts';
import {
  type Arrived,
  CallStream,
  readArrived,
} from '../../../../../src/wings/calls/wire/call-stream.ts';
import { SocketReader, writeHeader } from '../../../../../src/wings/calls/wire/web-socket.ts';

const CLIENT = { reads: ROUTER_TO_CLIENT, writes: CLIENT_TO_ROUTER, isClient: true };
const HEAD = { reads: CLIENT_TO_ROUTER, writes: ROUTER_TO_CLIENT, isClient: false };

interface Heard {
  readonly messages: ClientToRouter[];
  broken: string | null;
  gone: string | null;
}

function listen(stream: Duplex, rest: Uint8Array = new Uint8Array()) {
  const heard: Heard = { messages: [], broken: null, gone: null };
  const line = new CallStream<ClientToRouter, RouterToClient>({ stream, rest }, HEAD, {
    arrived: (what: Arrived) => {
      const read = readArrived(CLIENT_TO_ROUTER, what);
      if (read.ok) heard.messages.push(...read.value);
      else heard.broken = read.error;
    },
    broken: (detail) => {
      heard.broken = detail;
    },
    gone: (why) => {
      heard.gone = why;
    },
  });
  return { heard, line };
}

/** What a client writes when it says this. */
function bytesOf(messages: readonly ClientToRouter[]): Buffer {
  const written: Buffer[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      written.push(chunk);
      done();
    },
  });
  const line = new CallStream<RouterToClient, ClientToRouter>(
    { stream, rest: Buffer.alloc(0) },
    CLIENT,
    {
      arrived: () => undefined,
      broken: () => undefined,
      gone: () => undefined,
    },
  );
  for (const message of messages) line.send(message);
  line.flush();
  return Buffer.concat(written);
}

/** A connection of which this side is read here, and the other one fed by hand. */
function fed(): Duplex {
  return new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
}

/** Pieces of one stream put together again: how it is cut does not matter. */
function joined(messages: readonly ClientToRouter[]): ClientToRouter[] {
  const all: ClientToRouter[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    const isNext =
      message.kind === 'body' && last?.kind === 'body' && last.stream === message.stream;
    if (!isNext) all.push(message);
    else all[all.length - 1] = { ...last, bytes: Buffer.concat([last.bytes, message.bytes]) };
  }
  return all.map((message) =>
    message.kind === 'body' ? { ...message, bytes: Buffer.from(message.bytes) } : message,
  );
}

function bytes(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) & 0xff));
}

const SAID: readonly ClientToRouter[] = [
  { kind: 'ping' },
  { kind: 'body', stream: 3, bytes: bytes(100) },
  { kind: 'ack', calls: [1, 2, 3] },
  { kind: 'body', stream: 4, bytes: bytes(5000) },
  { kind: 'body', stream: 5, bytes: bytes(CALL_PIECE_BYTES_MAX) },
  { kind: 'cancel', call: 7 },
  { kind: 'ack', calls: Array.from({ length: 40_000 }, (_, at) => at) },
  { kind: 'bye' },
];

test('a line hears what was said, however it is cut on its way', async () => {
  const whole = bytesOf(SAID);
  for (const step of [13, 14, 24, 1000, 65_536, whole.length]) {
    const stream = fed();
    const { heard } = listen(stream);
    for (let at = 0; at < whole.length; at += step) {
      stream.push(Buffer.from(whole.subarray(at, at + step)));
    }
    stream.push(null);
    await new Promise((resolve) => stream.once('close', resolve));
    assert.deepEqual(joined(heard.messages), SAID, `in steps of ${step}`);
    assert.equal(heard.broken, null);
  }
});

test('a large body is passed on before it is whole', async () => {
  const whole = bytesOf([{ kind: 'body', stream: 5, bytes: bytes(200_000) }]);
  const stream = fed();
  const { heard } = listen(stream, whole.subarray(0, 60_000));
  await new Promise(setImmediate);
  const [first] = heard.messages;
  assert.ok(first?.kind === 'body');
  assert.equal(first.stream, 5);
  assert.deepEqual(Buffer.from(first.bytes), bytes(200_000).subarray(0, first.bytes.length));
  assert.ok(first.bytes.length > 59_000);
});

async function serve(
  t: TestContext,
): Promise<{ url: string; heard: Promise<ReturnType<typeof listen>> }> {
  const server: Server = createServer();
  const heard = new Promise<ReturnType<typeof listen>>((resolve) => {
    server.once('upgrade', (incoming, socket, head) => {
      const opened = takeOver({ incoming, socket, head });
      if (opened !== null) resolve(listen(opened.stream, opened.rest));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard };
}

/** The payload of each message in what a client writes. */
function payloadsOf(written: Buffer): Buffer[] {
  const found: Buffer[] = [];
  const reader = new SocketReader(
    { isMasked: true, messageBytesMax: 2 ** 21 },
    {
      message: (payload) => void found.push(Buffer.from(payload)),
      begins: () => null,
      control: () => undefined,
    },
  );
  reader.feed(written);
  return found;
}

test('a foreign WebSocket is understood: masked, in fragments, with pings between', async (t) => {
  const { url, heard: listening } = await serve(t);
  const socket = new WebSocket(url);
  await new Promise((resolve) => socket.once('open', resolve));
  const { heard, line } = await listening;
  const pongs: string[] = [];
  const allPonged = new Promise<void>((resolve) =>
    socket.on('pong', (said) => {
      pongs.push(String(said));
      if (pongs.at(-1) === 'that was all') resolve();
    }),
  );
  const payloads = payloadsOf(bytesOf(SAID));
  for (const payload of payloads) {
    const middle = Math.floor(payload.length / 2);
    socket.send(payload.subarray(0, middle), { fin: false });
    socket.ping('are you there');
    socket.send(payload.subarray(middle), { fin: true });
    socket.send(payload);
  }
  // What was sent before it has been read when it is answered.
  socket.ping('that was all');
  await allPonged;
  assert.deepEqual(pongs, [...payloads.map(() => 'are you there'), 'that was all']);
  const answered = new Promise<Buffer>((resolve) => socket.once('message', resolve as never));
  line.send({ kind: 'pong' });
  line.flush();
  assert.deepEqual(readFrame(ROUTER_TO_CLIENT, await answered), {
    ok: true,
    value: [{ kind: 'pong' }],
  });
  const closed = new Promise((resolve) =>
    socket.once('close', (code, why) => resolve([code, `${why}`])),
  );
  line.close('that was all');
  assert.deepEqual(await closed, [1000, 'that was all']);
  // Each payload came twice.
  assert.equal(heard.messages.filter(({ kind }) => kind === 'bye').length, 2);
  assert.equal(heard.messages.filter(({ kind }) => kind === 'cancel').length, 2);
  assert.equal(heard.broken, null);
});

test('the other side says goodbye, and why', async (t) => {
  const { url, heard: listening } = await serve(t);
  const socket = new WebSocket(url);
  await new Promise((resolve) => socket.once('open', resolve));
  const { heard } = await listening;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.close(1000, 'enough of that');
  await closed;
  assert.equal(heard.gone, 'enough of that');
});

function frame(first: number, payload: Uint8Array, { isMasked = true } = {}): Buffer {
  const whole = Buffer.alloc(14 + payload.length);
  whole.set(payload, 14);
  const start = writeHeader(whole, 14, { opcode: 2, length: payload.length, isMasked });
  whole[start] = first;
  return whole.subarray(start);
}

const PAYLOAD = new Uint8Array(10);
const BROKEN: readonly (readonly [what: string, bytes: Buffer, said: RegExp])[] = [
  ['no mask', frame(0x82, PAYLOAD, { isMasked: false }), /without a mask/],
  ['a text', frame(0x81, PAYLOAD), /a text/],
  ['reserved bits', frame(0xc2, PAYLOAD), /nobody agreed on/],
  ['a reserved opcode', frame(0x83, PAYLOAD), /unknown opcode 3/],
  ['the rest of nothing', frame(0x80, PAYLOAD), /out of order/],
  ['two beginnings', Buffer.concat([frame(0x02, PAYLOAD), frame(0x82, PAYLOAD)]), /out of order/],
  ['a long ping', frame(0x89, new Uint8Array(126)), /control frame/],
  ['a ping in fragments', frame(0x09, PAYLOAD), /control frame/],
  ['too much', Buffer.from([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), /more than 2097152/],
  [
    'too much in fragments',
    Buffer.concat([frame(0x02, new Uint8Array(2 ** 20)), frame(0x80, new Uint8Array(2 ** 20 + 1))]),
    /more than 2097152/,
  ],
];

for (const [what, sent, said] of BROKEN) {
  test(`what is no WebSocket's ends the line: ${what}`, async () => {
    const stream = fed();
    const { heard, line } = listen(stream);
    stream.push(sent);
    stream.push(frame(0x82, Buffer.from([1, 4])));
    await new Promise(setImmediate);
    assert.match(heard.broken ?? '', said);
    assert.deepEqual(heard.messages, []);
    assert.equal(line.isOpen, false);
  });
}

test('a body that is longer than a piece may be is refused as a frame', async () => {
  const payload = Buffer.alloc(10 + CALL_PIECE_BYTES_MAX + 1);
  payload[0] = 1;
  payload[1] = CLIENT_TO_ROUTER.numbers['body'] as number;
  payload.writeUInt32LE(CALL_PIECE_BYTES_MAX + 1, 6);
  const stream = fed();
  const { heard } = listen(stream);
  const whole = frame(0x82, payload);
  stream.push(whole.subarray(0, 1000));
  stream.push(whole.subarray(1000));
  await new Promise(setImmediate);
  assert.match(heard.broken ?? '', /are more than/);
});

/** What lives on the heap and in buffers. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test('a message in very many fragments costs what its bytes cost', () => {
  const payload = Buffer.from(bytes(100_000));
  const heard: Buffer[] = [];
  const reader = new SocketReader(
    { isMasked: true, messageBytesMax: 2 ** 21 },
    {
      message: (message) => void heard.push(Buffer.from(message)),
      begins: () => null,
      control: () => undefined,
    },
  );
  const sent = Buffer.alloc(7 * payload.length);
  for (const [at, byte] of payload.entries())
    sent.set(frame(at === 0 ? 0x02 : 0x00, Buffer.of(byte)), 7 * at);
  const before = usedBytes();
  reader.feed(sent);
  const costs = usedBytes() - before;
  assert.ok(costs < 2_000_000, `${costs} bytes for ${payload.length}`);
  reader.feed(frame(0x80, new Uint8Array()));
  assert.deepEqual(heard, [payload]);
  // The next one is none of the first.
  reader.feed(Buffer.concat([frame(0x02, Buffer.of(1)), frame(0x80, Buffer.of(2))]));
  assert.deepEqual(heard[1], Buffer.of(1, 2));
});

test('who sends pings and reads no answers does not fill the memory', async () => {
  const answers: (() => void)[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => void answers.push(done),
  });
  listen(stream);
  const ping = frame(0x89, Buffer.from('there?'));
  stream.push(Buffer.concat(Array.from({ length: 10_000 }, () => ping)));
  await new Promise(setImmediate);
  assert.equal(stream.writableLength, 100 * (2 + 6));
  // Once these are read, further pings are answered.
  for (let at = 0; at < 100; at += 1) {
    answers.shift()?.();
    await new Promise(setImmediate);
  }
  assert.equal(stream.writableLength, 0);
  stream.push(ping);
  await new Promise(setImmediate);
  assert.equal(stream.writableLength, 8);
});
