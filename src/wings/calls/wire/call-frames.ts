// Frames of calls ↔ bytes: a version, then messages one after the other, each a number for its kind
// and its fields. The router passes payloads on without looking into them, so a frame copies each
// once, when it is written; what is read are views into the frame.

import { believed } from '../../../kernel/base/believed.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import {
  CALL_FRAME_BYTES,
  CALL_FRAME_BYTES_MAX,
  CALL_FRAME_MESSAGES_MAX,
  CALL_SHARED_MAX,
} from '../../../kernel/model/limits.ts';
import type {
  Asset,
  Body,
  CallRef,
  ClientCall,
  ClientToRouter,
  InnerCall,
  More,
  Near,
  None,
  RouterToClient,
  RouterToWorker,
  Stop,
  WorkerCall,
  WorkerToRouter,
} from '../core/messages.ts';
import { ByteReader, ByteWriter, FrameFault } from './call-bytes.ts';
import {
  bool,
  type Codec,
  count,
  fields,
  held,
  inline,
  orNull,
  piece,
  readPayload,
  refs,
  sessionId,
  sessionIds,
  sha256,
  source,
  text,
  u32,
  u32s,
  why,
  writePayload,
} from './call-fields.ts';

export interface Message {
  readonly kind: string;
}
type Kind<M extends Message, K extends M['kind']> = Extract<M, { kind: K }>;
/** Every kind of one direction; their order is their numbers. */
type Kinds<M extends Message> = { readonly [K in M['kind']]: Codec<Kind<M, K>> };

/** One direction: what stands for which kind. */
export interface Layout<M extends Message> {
  readonly codecs: readonly Codec<M>[];
  readonly numbers: Readonly<Record<string, number>>;
}

/** Changes whenever an older reader would misread a frame. */
export const VERSION = 1;

/** Gathers messages into a frame. */
export class FrameWriter<M extends Message> {
  readonly #layout: Layout<M>;
  readonly #room: number;
  #writer: ByteWriter | null = null;
  #lastBytes = 0;

  /** `room`: bytes in front of each frame that its taker fills. */
  constructor(layout: Layout<M>, room = 0) {
    this.#layout = layout;
    this.#room = room;
  }

  /** Bytes of the frame so far; 0 when there is no message in it. */
  get bytes(): number {
    return this.#writer === null ? 0 : this.#writer.length - this.#room;
  }

  /** Whether it should be sent before more is added. */
  get isFull(): boolean {
    return this.bytes >= CALL_FRAME_BYTES;
  }

  add(message: M): void {
    if (this.#writer === null) {
      // As large as the last one, and a bit: a busy line's frames are alike.
      const bytes = Math.max(512, this.#lastBytes + (this.#lastBytes >> 3));
      this.#writer = new ByteWriter(bytes, this.#room);
      this.#writer.u8(VERSION);
    }
    const number = this.#layout.numbers[message.kind] as number;
    this.#writer.u8(number);
    (this.#layout.codecs[number] as Codec<M>).write(this.#writer, message);
  }

  /** The frame, with the room before it; and an empty one begins. */
  take(): Uint8Array {
    const bytes = this.#writer?.taken() ?? new Uint8Array();
    this.#lastBytes = bytes.length;
    this.#writer = null;
    return bytes;
  }
}

/** The messages of a frame; what is wrong with it in words when it is none. */
export function readFrame<M extends Message>(
  layout: Layout<M>,
  bytes: Uint8Array,
): Result<M[], string> {
  if (bytes.length > CALL_FRAME_BYTES_MAX)
    return err(`a frame of ${bytes.length} bytes is too large`);
  try {
    return ok(readAll(layout, new ByteReader(bytes)));
  } catch (error) {
    if (error instanceof FrameFault) return err(error.message);
    throw error;
  }
}

function readAll<M extends Message>({ codecs }: Layout<M>, from: ByteReader): M[] {
  const version = from.u8();
  if (version !== VERSION) {
    throw new FrameFault(`frames of version ${version}; this program speaks ${VERSION}`);
  }
  const messages: M[] = [];
  while (!from.isAtEnd) {
    if (messages.length === CALL_FRAME_MESSAGES_MAX) {
      throw new FrameFault(`more than ${CALL_FRAME_MESSAGES_MAX} messages in a frame`);
    }
    const number = from.u8();
    const codec = codecs[number];
    if (codec === undefined) throw new FrameFault(`unknown kind ${number}`);
    messages.push(codec.read(from));
  }
  return messages;
}

function layoutOf<M extends Message>(kinds: Kinds<M>): Layout<M> {
  const names = Object.keys(kinds);
  return {
    codecs: Object.values(kinds),
    numbers: Object.fromEntries(names.map((name, number) => [name, number])),
  };
}

/** A kind by the list of its fields. */
function kind<M extends Message>(
  name: M['kind'],
  of: { readonly [K in keyof Omit<M, 'kind'>]-?: Codec<Omit<M, 'kind'>[K]> },
): Codec<M> {
  // `of` has all fields but this one: the compiler does not put a mapped type together again.
  return fields<M>(believed({ kind: { write: () => undefined, read: () => name }, ...of }));
}

const ref = { session: u32, call: u32 };
const attempt = { ...ref, attempt: u32 };
const part = { stream: u32, from: count, upTo: count };
const body = kind<Body>('body', { stream: u32, bytes: piece });
const more = kind<More>('more', { stream: u32, upTo: count });
const stop = kind<Stop>('stop', { stream: u32 });
const none = kind<None>('none', { stream: u32 });
const near = kind<Near>('near', { stream: u32, file: text });
const asset = kind<Asset>('asset', {
  asset: u32,
  sha256,
  size: count,
  bytes: orNull(inline),
});

function writeShared(to: ByteWriter, shared: readonly number[]): void {
  to.u32(shared.length);
  for (let at = 0; at < shared.length; at += 1) to.u32(shared[at] as number);
}

const NONE: readonly number[] = [];

function readShared(from: ByteReader): readonly number[] {
  const length = from.listLength(4);
  if (length === 0) return NONE;
  if (length > CALL_SHARED_MAX) throw new FrameFault(`${length} shared values are too many`);
  return Array.from({ length }, () => from.u32());
}

const clientCall: Codec<ClientCall> = {
  write(to, message) {
    to.u32(message.call);
    to.u32(message.asset);
    to.u32(message.retriesMax);
    to.u32(message.attempt);
    to.f64(message.timeoutMs);
    to.u8(message.since === null ? 0 : 1);
    if (message.since !== null) to.f64(message.since);
    writeShared(to, message.shared);
    writePayload(to, message.payload);
  },
  read: (from) => ({
    kind: 'call',
    call: from.u32(),
    asset: from.u32(),
    retriesMax: from.u32(),
    attempt: from.u32(),
    timeoutMs: from.count(),
    since: from.bool() ? from.count() : null,
    shared: readShared(from),
    payload: readPayload(from),
  }),
};

const workerCall: Codec<WorkerCall> = {
  write(to, message) {
    to.u32(message.session);
    to.u32(message.call);
    to.u32(message.asset);
    to.u32(message.attempt);
    to.f64(message.timeoutMs);
    writeShared(to, message.shared);
    writePayload(to, message.payload);
  },
  read: (from) => ({
    kind: 'call',
    session: from.u32(),
    call: from.u32(),
    asset: from.u32(),
    attempt: from.u32(),
    timeoutMs: from.count(),
    shared: readShared(from),
    payload: readPayload(from),
  }),
};

const innerCall: Codec<InnerCall> = {
  write(to, message) {
    to.u32(message.depth);
    workerCall.write(to, { ...message, kind: 'call' });
  },
  read: (from) => {
    const depth = from.u32();
    return { ...workerCall.read(from), kind: 'inner', depth };
  },
};

const clientResult: Codec<Kind<RouterToClient, 'result'>> = {
  write(to, message) {
    to.u32(message.call);
    to.u8(message.ok ? 1 : 0);
    to.u32(message.attempt);
    writePayload(to, message.payload);
  },
  read: (from) => ({
    kind: 'result',
    call: from.u32(),
    ok: from.bool(),
    attempt: from.u32(),
    payload: readPayload(from),
  }),
};

const workerResult: Codec<Kind<WorkerToRouter, 'result'>> = {
  write(to, message) {
    to.u32(message.session);
    to.u32(message.call);
    to.u32(message.attempt);
    to.u8(message.ok ? 1 : 0);
    to.f64(message.elapsedMs);
    writePayload(to, message.payload);
  },
  read: (from) => ({
    kind: 'result',
    session: from.u32(),
    call: from.u32(),
    attempt: from.u32(),
    ok: from.bool(),
    elapsedMs: from.amount(),
    payload: readPayload(from),
  }),
};

export const CLIENT_TO_ROUTER: Layout<ClientToRouter> = layoutOf<ClientToRouter>({
  hello: kind('hello', {
    session: sessionId,
    generation: orNull(text),
    detach: bool,
    label: text,
  }),
  asset,
  call: clientCall,
  ack: kind('ack', { calls: u32s }),
  cancel: kind('cancel', { call: u32 }),
  synced: kind('synced', {}),
  wanted: kind('wanted', { call: u32, ...part }),
  more,
  stop,
  none,
  body,
  bye: kind('bye', {}),
  ping: kind('ping', {}),
  near,
});

export const ROUTER_TO_CLIENT: Layout<RouterToClient> = layoutOf<RouterToClient>({
  welcome: kind('welcome', {
    generation: text,
    losses: count,
    windowCalls: u32,
    windowBytes: count,
  }),
  result: clientResult,
  settled: kind('settled', { call: u32, why, detail: text, worker: orNull(text) }),
  taken: kind('taken', { calls: u32, bytes: count }),
  started: kind('started', { call: u32, attempt: u32, worker: text }),
  progress: kind('progress', { call: u32, bytes: inline }),
  wanted: kind('wanted', { of: source, id: u32, ...part }),
  more,
  stop,
  none,
  body,
  pool: kind('pool', { workers: u32, busy: u32, waiting: u32, losses: count, why: orNull(text) }),
  closing: kind('closing', { detail: text, isFinal: bool }),
  pong: kind('pong', {}),
  near,
  wanted_near: kind('wanted_near', { call: u32, ...part }),
});

export const ROUTER_TO_WORKER: Layout<RouterToWorker> = layoutOf<RouterToWorker>({
  welcome: kind('welcome', { generation: text, heartbeatMs: u32 }),
  session: kind('session', { session: u32, id: sessionId }),
  asset,
  call: workerCall,
  ack: kind('ack', { session: u32, calls: u32s }),
  cancel: kind<{ kind: 'cancel' } & CallRef>('cancel', ref),
  wanted: kind('wanted', { ...ref, ...part }),
  more,
  stop,
  none,
  body,
  recall: kind('recall', { count: u32 }),
  over: kind('over', { id: sessionId, isDetached: bool }),
  forget: kind('forget', { assets: u32s }),
  leave: kind('leave', {}),
  closing: kind('closing', { detail: text, isFinal: bool }),
  ping: kind('ping', {}),
  inner: innerCall,
  near,
  wanted_near: kind('wanted_near', { ...ref, ...part }),
});

export const WORKER_TO_ROUTER: Layout<WorkerToRouter> = layoutOf<WorkerToRouter>({
  hello: kind('hello', { worker: text, generation: orNull(text), held, over: sessionIds }),
  started: kind('started', attempt),
  progress: kind('progress', { ...attempt, bytes: inline }),
  result: workerResult,
  lost: kind('lost', { ...attempt, detail: text }),
  timed_out: kind('timed_out', attempt),
  cancelled: kind('cancelled', attempt),
  refused: kind('refused', { ...attempt, detail: text }),
  returned: kind('returned', { calls: refs }),
  wanted: kind('wanted', { of: source, session: u32, id: u32, ...part }),
  more,
  stop,
  none,
  body,
  pong: kind('pong', {}),
  near,
});
