// Messages about calls through frames and back, and bytes that are no frames.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  CALL_BYTES_MAX,
  CALL_FRAME_BYTES_MAX,
  CALL_INLINE_BYTES_MAX,
  CALL_PIECE_BYTES_MAX,
  CALL_WORDS_BYTES_MAX,
} from '../../../../../src/kernel/model/limits.ts';
import {
  type ClientToRouter,
  HELD_STATES,
  type RouterToClient,
  type RouterToWorker,
  SETTLED_WHYS,
  type WorkerToRouter,
} from '../../../../../src/wings/calls/core/messages.ts';
import {
  CLIENT_TO_ROUTER,
  FrameWriter,
  type Layout,
  ROUTER_TO_CLIENT,
  ROUTER_TO_WORKER,
  readFrame,
  WORKER_TO_ROUTER,
} from '../../../../../src/wings/calls/wire/call-frames.ts';
import { PLAIN_CALL } from '../plain-call.ts';

type Made<M> = fc.Arbitrary<M>;
/** An arbitrary of every kind: the compiler sees to it that none is missing. */
type Every<M extends { kind: string }> = {
  readonly [K in M['kind']]: Made<Extract<M, { kind: K }>>;
};

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const count = fc.maxSafeInteger().map((number) => Math.abs(number) + 0);
const bool = fc.boolean();
const text = fc.string({ unit: 'grapheme', maxLength: 50 });
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const bytes = fc.uint8Array({ maxLength: 300 }).map((one) => new Uint8Array(one));
const u32s = fc.array(u32, { maxLength: 20 });
const payload = fc.oneof(
  fc.record({ inline: bytes }),
  fc.record({ size: fc.integer({ min: 0, max: CALL_BYTES_MAX }) }),
);
const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null });
const ref = { session: u32, call: u32 };
const attempt = { ...ref, attempt: u32 };
const part = { stream: u32, from: count, upTo: count };
const amount = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((one) => one + 0);

function made<K extends string, T extends object>(
  kind: K,
  of: { [N in keyof T]: fc.Arbitrary<T[N]> },
) {
  return fc.record({ kind: fc.constant(kind), ...of }) as never;
}

const shared = {
  more: made('more', { stream: u32, upTo: count }),
  stop: made('stop', { stream: u32 }),
  none: made('none', { stream: u32 }),
  body: made('body', { stream: u32, bytes }),
  near: made('near', { stream: u32, file: text }),
  asset: made('asset', { asset: u32, sha256: hex(64), size: count, bytes: orNull(bytes) }),
};
const source = fc.constantFrom('call', 'asset');
const closing = made('closing', { detail: text, isFinal: bool });

const FROM_CLIENT: Every<ClientToRouter> = {
  ...shared,
  hello: made('hello', { session: hex(32), generation: orNull(text), detach: bool, label: text }),
  call: made('call', {
    call: u32,
    asset: u32,
    retriesMax: u32,
    timeoutMs: count,
    since: orNull(count),
    attempt: u32,
    shared: u32s,
    payload,
  }),
  synced: made('synced', {}),
  cancel: made('cancel', { call: u32 }),
  ack: made('ack', { calls: u32s }),
  wanted: made('wanted', { call: u32, ...part }),
  bye: made('bye', {}),
  ping: made('ping', {}),
};

const TO_CLIENT: Every<RouterToClient> = {
  more: shared.more,
  stop: shared.stop,
  none: shared.none,
  body: shared.body,
  near: shared.near,
  welcome: made('welcome', {
    generation: text,
    losses: count,
    windowCalls: u32,
    windowBytes: count,
  }),
  result: made('result', { call: u32, ok: bool, attempt: u32, payload }),
  settled: made('settled', {
    call: u32,
    why: fc.constantFrom(...SETTLED_WHYS),
    detail: text,
    worker: orNull(text),
  }),
  taken: made('taken', { calls: u32, bytes: count }),
  started: made('started', { call: u32, attempt: u32, worker: text }),
  progress: made('progress', { call: u32, bytes }),
  wanted: made('wanted', { of: source, id: u32, ...part }),
  wanted_near: made('wanted_near', { call: u32, ...part }),
  pool: made('pool', {
    workers: u32,
    busy: u32,
    waiting: u32,
    losses: count,
    why: orNull(text),
  }),
  closing,
  pong: made('pong', {}),
};

const TO_WORKER: Every<RouterToWorker> = {
  ...shared,
  welcome: made('welcome', { generation: text, heartbeatMs: u32 }),
  session: made('session', { session: u32, id: hex(32) }),
  call: made('call', {
    ...ref,
    asset: u32,
    attempt: u32,
    timeoutMs: count,
    shared: u32s,
    payload,
  }),
  cancel: made('cancel', ref),
  ack: made('ack', { session: u32, calls: u32s }),
  wanted: made('wanted', { ...ref, ...part }),
  wanted_near: made('wanted_near', { ...ref, ...part }),
  recall: made('recall', { count: u32 }),
  over: made('over', { id: hex(32), isDetached: bool }),
  forget: made('forget', { assets: u32s }),
  leave: made('leave', {}),
  closing,
  ping: made('ping', {}),
  inner: made('inner', {
    ...ref,
    asset: u32,
    attempt: u32,
    timeoutMs: count,
    shared: u32s,
    payload,
    depth: u32,
  }),
};

const heldCall = fc.record({
  session: hex(32),
  call: u32,
  attempt: u32,
  state: fc.constantFrom(...HELD_STATES),
});
const FROM_WORKER: Every<WorkerToRouter> = {
  more: shared.more,
  stop: shared.stop,
  none: shared.none,
  body: shared.body,
  near: shared.near,
  hello: made('hello', {
    worker: text,
    generation: orNull(text),
    held: fc.array(heldCall, { maxLength: 5 }),
    over: fc.array(hex(32), { maxLength: 5 }),
  }),
  started: made('started', attempt),
  progress: made('progress', { ...attempt, bytes }),
  result: made('result', { ...attempt, ok: bool, elapsedMs: amount, payload }),
  lost: made('lost', { ...attempt, detail: text }),
  timed_out: made('timed_out', attempt),
  cancelled: made('cancelled', attempt),
  refused: made('refused', { ...attempt, detail: text }),
  returned: made('returned', { calls: fc.array(fc.record(ref), { maxLength: 5 }) }),
  wanted: made('wanted', { of: source, session: u32, id: u32, ...part }),
  pong: made('pong', {}),
};

/** Views into a frame, and objects without prototype, as plain data. */
function plain(one: unknown): unknown {
  if (one instanceof Uint8Array) return { bytes: [...one] };
  if (Array.isArray(one)) return one.map(plain);
  if (typeof one !== 'object' || one === null) return one;
  return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, plain(inner)]));
}

function frameOf<M extends { kind: string }>(
  layout: Layout<M>,
  messages: readonly M[],
): Uint8Array {
  const writer = new FrameWriter(layout);
  for (const message of messages) writer.add(message);
  return writer.take();
}

function comeBack<M extends { kind: string }>(layout: Layout<M>, every: Every<M>): void {
  const any = fc.oneof(...(Object.values(every) as Made<M>[]));
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 10 }), (messages) => {
      const read = readFrame(layout, frameOf(layout, messages));
      assert.ok(read.ok, read.ok ? '' : read.error);
      assert.deepEqual(plain(read.value), plain(messages));
    }),
    { numRuns: 1000 },
  );
}

test('every message of a client comes back as it was', () =>
  comeBack(CLIENT_TO_ROUTER, FROM_CLIENT));
test('every message to a client comes back as it was', () => comeBack(ROUTER_TO_CLIENT, TO_CLIENT));
test('every message to a worker comes back as it was', () => comeBack(ROUTER_TO_WORKER, TO_WORKER));
test('every message of a worker comes back as it was', () =>
  comeBack(WORKER_TO_ROUTER, FROM_WORKER));

const LAYOUTS = [CLIENT_TO_ROUTER, ROUTER_TO_CLIENT, ROUTER_TO_WORKER, WORKER_TO_ROUTER] as const;

test('any bytes are messages or a refusal in words', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LAYOUTS), fc.uint8Array({ maxLength: 200 }), (layout, rest) => {
      const read = readFrame(layout as Layout<ClientToRouter>, Uint8Array.from([1, ...rest]));
      if (!read.ok) assert.match(read.error, /\w/);
    }),
    { numRuns: 5000 },
  );
});

test('a frame that is cut anywhere but between two messages is refused', () => {
  const any = fc.oneof(...(Object.values(FROM_CLIENT) as Made<ClientToRouter>[]));
  fc.assert(
    fc.property(any, fc.nat(), (message, seed) => {
      const frame = frameOf(CLIENT_TO_ROUTER, [message]);
      const length = 2 + (seed % Math.max(1, frame.length - 2));
      const read = readFrame(CLIENT_TO_ROUTER, frame.subarray(0, length));
      assert.equal(read.ok, length >= frame.length);
    }),
    { numRuns: 2000 },
  );
});

function refusal(frame: Uint8Array): string {
  const read = readFrame(CLIENT_TO_ROUTER, frame);
  assert.ok(!read.ok, 'the frame is refused');
  return read.error;
}

const CALL: ClientToRouter = {
  ...PLAIN_CALL,
  call: 1,
  payload: { inline: new Uint8Array() },
};

test('what is beyond its bound is refused', () => {
  const call = (change: object) => frameOf(CLIENT_TO_ROUTER, [{ ...CALL, ...change } as never]);
  const inline = new Uint8Array(CALL_INLINE_BYTES_MAX + 1);
  assert.match(refusal(call({ payload: { inline } })), /more than 65536/);
  assert.match(refusal(call({ payload: { size: CALL_BYTES_MAX + 1 } })), /too large/);
  assert.match(refusal(call({ payload: { size: 0.5 } })), /not whole/);
  assert.match(refusal(call({ timeoutMs: -1 })), /no amount/);
  assert.match(refusal(call({ timeoutMs: Number.NaN })), /no amount/);
  assert.match(refusal(call({ shared: Array.from({ length: 1001 }, () => 1) })), /too many/);
  const hello = { kind: 'hello', session: 'A'.repeat(32), generation: null, detach: false };
  const named = frameOf(CLIENT_TO_ROUTER, [{ ...hello, label: '' } as never]);
  assert.match(refusal(named), /not the id of a session/);
  assert.match(refusal(new Uint8Array(CALL_FRAME_BYTES_MAX + 1)), /too large/);
  assert.match(refusal(Uint8Array.of(2)), /version 2/);
  assert.match(refusal(Uint8Array.of(1, 99)), /unknown kind 99/);
  assert.match(refusal(Uint8Array.of(1, 3, 255, 255, 255, 255)), /longer than its frame/);
  assert.match(refusal(new Uint8Array()), /ends in a message/);
  const [, ping = 0] = frameOf(CLIENT_TO_ROUTER, [{ kind: 'ping' }]);
  const pings = new Uint8Array(65_538).fill(ping);
  pings[0] = 1;
  assert.match(refusal(pings), /more than 65536 messages/);
  assert.ok(readFrame(CLIENT_TO_ROUTER, pings.subarray(0, 65_537)).ok);
});

test('words that are too long are cut, and stay UTF-8', () => {
  const detail = 'é€😀'.repeat(CALL_WORDS_BYTES_MAX);
  const frame = frameOf(ROUTER_TO_CLIENT, [{ kind: 'closing', detail, isFinal: true }]);
  const read = readFrame(ROUTER_TO_CLIENT, frame);
  assert.ok(read.ok);
  const [message] = read.value;
  assert.ok(message?.kind === 'closing' && detail.startsWith(message.detail));
  assert.ok(message.detail.length > CALL_WORDS_BYTES_MAX / 4);
});

test('a frame is full before one more large message makes it too large', () => {
  const writer = new FrameWriter(ROUTER_TO_CLIENT);
  const bytes = new Uint8Array(CALL_PIECE_BYTES_MAX);
  const small = bytes.subarray(0, CALL_INLINE_BYTES_MAX);
  let last = 0;
  while (!writer.isFull) {
    last += 1;
    writer.add({ kind: 'progress', call: last, bytes: small });
  }
  writer.add({ kind: 'body', stream: 1, bytes });
  assert.ok(last > 0 && writer.bytes <= CALL_FRAME_BYTES_MAX, `${writer.bytes} bytes`);
});

test('a writer begins a new frame after each that is taken', () => {
  const writer = new FrameWriter(CLIENT_TO_ROUTER);
  assert.equal(writer.bytes, 0);
  writer.add({ kind: 'ping' });
  const first = writer.take();
  writer.add({ kind: 'bye' });
  const second = readFrame(CLIENT_TO_ROUTER, writer.take());
  assert.deepEqual(readFrame(CLIENT_TO_ROUTER, first), { ok: true, value: [{ kind: 'ping' }] });
  assert.deepEqual(second, { ok: true, value: [{ kind: 'bye' }] });
});
