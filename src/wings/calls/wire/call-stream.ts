// A line of calls over a connection: frames of messages as messages of a WebSocket. The bytes of
// large values are passed on as they come and are not copied: a frame of its own each, cut
// anywhere.

import type { Duplex } from 'node:stream';
import { ok, type Result } from '../../../kernel/base/result.ts';
import {
  CALL_FRAME_BYTES,
  CALL_FRAME_BYTES_MAX,
  CALL_PIECE_BYTES_MAX,
} from '../../../kernel/model/limits.ts';
import { passed } from '../../../kernel/wire/short-lived.ts';
import type { Body } from '../core/messages.ts';
import { FrameFault } from './call-bytes.ts';
import { FrameWriter, type Layout, type Message, readFrame, VERSION } from './call-frames.ts';
import { HEADER_BYTES_MAX, OPCODE, type Sink, SocketReader, writeHeader } from './web-socket.ts';

/** A large body goes out as it is; below that, one more buffer costs more than a copy. */
const COPIED_BYTES_MAX = 4096;
/** Version, kind, stream and length, as `body` has them in a frame. */
const BODY_HEAD_BYTES = 10;
/** For the other side to close, too; then it is cut. */
const CLOSING_MS = 2000;
/** Answers to pings that nobody reads; further pings get none. */
const PONGS_WAITING_MAX = 100;
const CODES = { normal: 1000, goingAway: 1001, fault: 1002 } as const;

export interface Speech<In extends Message, Out extends Message> {
  readonly reads: Layout<In>;
  readonly writes: Layout<Out>;
  readonly isClient: boolean;
}

/** A frame, or bytes of a large value. */
export type Arrived = Uint8Array | Body;

export interface StreamEvents {
  arrived(what: Arrived): void;
  /** What came is no WebSocket's: nothing that follows is read. */
  broken(detail: string): void;
  /** The kernel has taken more of what was sent. */
  written?: () => void;
  /** Once; nothing comes after it. */
  gone(why: string): void;
}

/** The connection, and what came behind the handshake. */
export interface Opened {
  readonly stream: Duplex;
  readonly rest: Uint8Array;
}

/** What a frame says; what is wrong with it in words when it is none. */
export function readArrived<In extends Message>(
  layout: Layout<In>,
  what: Arrived,
): Result<In[], string> {
  return 'kind' in what ? ok([what as unknown as In]) : readFrame(layout, what);
}

export class CallStream<In extends Message, Out extends Message> {
  readonly #stream: Duplex;
  readonly #events: StreamEvents;
  readonly #frames: FrameWriter<Out>;
  readonly #isClient: boolean;
  readonly #bodyKind: number;
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #pongsWaiting = 0;
  #isOpen = true;
  #why = 'the connection was cut';

  constructor({ stream, rest }: Opened, speech: Speech<In, Out>, events: StreamEvents) {
    this.#stream = stream;
    this.#events = events;
    this.#isClient = speech.isClient;
    this.#frames = new FrameWriter(speech.writes, HEADER_BYTES_MAX);
    this.#bodyKind = speech.writes.numbers['body'] as number;
    const rules = { isMasked: !speech.isClient, messageBytesMax: CALL_FRAME_BYTES_MAX };
    const bodyKind = speech.reads.numbers['body'] as number;
    const reader = new SocketReader(rules, {
      message: (bytes) => {
        if (this.#isOpen) this.#events.arrived(bytes);
      },
      begins: (bytes, length) => this.#bodySink(bodyKind, bytes, length),
      control: (opcode, bytes) => this.#control(opcode, bytes),
    });
    if (rest.length > 0) stream.unshift(rest);
    stream.on('data', (chunk: Buffer) => this.#feed(reader, chunk));
    stream.on('end', () => this.#end());
    stream.on('error', (error) => {
      this.#why = error.message;
      stream.destroy();
    });
    stream.once('close', () => {
      this.#isOpen = false;
      events.gone(this.#why);
    });
    // Whoever shook hands may have paused it.
    stream.resume();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Bytes that wait to be flushed. */
  get unsentBytes(): number {
    return this.#partBytes + this.#frames.bytes;
  }

  /** All bytes that wait here. */
  get waitingBytes(): number {
    return this.unsentBytes + this.#stream.writableLength;
  }

  /** Goes out with the next flush, or at once when much waits for it. */
  send(message: Out): void {
    if (!this.#isOpen) return;
    if (message.kind === 'body') this.#sendBody(message as unknown as Body, message);
    else this.#frames.add(message);
    if (this.unsentBytes >= CALL_FRAME_BYTES) this.flush();
  }

  /** Sends all that waits for it. */
  flush(): void {
    if (!this.#isOpen || this.unsentBytes === 0) return;
    this.#closeFrame();
    const parts = this.#parts;
    this.#parts = [];
    this.#partBytes = 0;
    const stream = this.#stream;
    const last = parts.length - 1;
    if (last > 0) stream.cork();
    for (let at = 0; at < last; at += 1) stream.write(parts[at] as Uint8Array);
    const { written } = this.#events;
    if (written === undefined) stream.write(parts[last] as Uint8Array);
    else stream.write(parts[last] as Uint8Array, written);
    if (last > 0) stream.uncork();
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Sends what waits and says goodbye; cuts when that takes long. */
  close(reason = '', code: keyof typeof CODES = 'normal'): void {
    if (!this.#isOpen) return;
    this.flush();
    const words = Buffer.from(reason).subarray(0, 120);
    const payload = Buffer.allocUnsafe(2 + words.length);
    payload.writeUInt16BE(CODES[code]);
    payload.set(words, 2);
    this.#sendControl(OPCODE.close, payload);
    this.#end();
  }

  /** At once. */
  cut(): void {
    this.#isOpen = false;
    this.#stream.destroy();
  }

  #end(): void {
    this.#isOpen = false;
    const stream = this.#stream;
    if (stream.destroyed) return;
    stream.end();
    // What still comes is nobody's, and unread it would hold the end up.
    stream.resume();
    const timer = setTimeout(() => stream.destroy(), CLOSING_MS).unref();
    stream.once('close', () => clearTimeout(timer));
  }

  #feed(reader: SocketReader, chunk: Uint8Array): void {
    if (!this.#isOpen) return;
    try {
      reader.feed(chunk);
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error;
      this.#why = error.message;
      this.#events.broken(error.message);
      this.close(error.message, 'fault');
    }
  }

  /** Returns null when it is no large body, or one that the reader of frames has to refuse. */
  #bodySink(bodyKind: number, first: Uint8Array, length: number): Sink | null {
    if (first.length < BODY_HEAD_BYTES) return null;
    const head = Buffer.from(first.buffer, first.byteOffset, BODY_HEAD_BYTES);
    const bytes = length - BODY_HEAD_BYTES;
    const isBody = head[0] === VERSION && head[1] === bodyKind && head.readUInt32LE(6) === bytes;
    if (!isBody || bytes > CALL_PIECE_BYTES_MAX) return null;
    const stream = head.readUInt32LE(2);
    let skipped = BODY_HEAD_BYTES;
    return (part) => {
      passed(part.length);
      const rest = skipped === 0 ? part : part.subarray(skipped);
      skipped = 0;
      if (rest.length > 0 && this.#isOpen)
        this.#events.arrived({ kind: 'body', stream, bytes: rest });
    };
  }

  #sendBody({ stream, bytes }: Body, message: Out): void {
    if (bytes.length <= COPIED_BYTES_MAX) return this.#frames.add(message);
    this.#closeFrame();
    const end = HEADER_BYTES_MAX;
    const head = Buffer.allocUnsafe(end + BODY_HEAD_BYTES);
    head[end] = VERSION;
    head[end + 1] = this.#bodyKind;
    head.writeUInt32LE(stream, end + 2);
    head.writeUInt32LE(bytes.length, end + 6);
    this.#push(head, BODY_HEAD_BYTES + bytes.length);
    this.#parts.push(bytes);
    this.#partBytes += bytes.length;
  }

  #closeFrame(): void {
    const { bytes } = this.#frames;
    if (bytes > 0) this.#push(this.#frames.take(), bytes);
  }

  /** With the header of its message, for which there is room in front. */
  #push(part: Uint8Array, length: number): void {
    const header = { opcode: OPCODE.binary, length, isMasked: this.#isClient };
    const whole = part.subarray(writeHeader(part, HEADER_BYTES_MAX, header));
    this.#parts.push(whole);
    this.#partBytes += whole.length;
  }

  #control(opcode: number, bytes: Uint8Array): void {
    if (opcode === OPCODE.ping) return this.#sendPong(bytes);
    if (opcode !== OPCODE.close) return;
    const words = Buffer.from(bytes.subarray(2)).toString();
    this.#why = words || 'the other side closed the connection';
    this.close();
  }

  #sendPong(payload: Uint8Array): void {
    if (this.#pongsWaiting >= PONGS_WAITING_MAX) return;
    this.#pongsWaiting += 1;
    this.#sendControl(OPCODE.pong, payload, () => {
      this.#pongsWaiting -= 1;
    });
  }

  #sendControl(opcode: number, payload: Uint8Array, written: () => void = () => undefined): void {
    const head = Buffer.allocUnsafe(HEADER_BYTES_MAX + payload.length);
    const header = { opcode, length: payload.length, isMasked: this.#isClient };
    const start = writeHeader(head, HEADER_BYTES_MAX, header);
    head.set(payload, HEADER_BYTES_MAX);
    if (this.#stream.writable) this.#stream.write(head.subarray(start), written);
  }
}
