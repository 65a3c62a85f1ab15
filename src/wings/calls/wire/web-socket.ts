// WebSockets (RFC 6455) as the lines of calls use them: binary messages, whole or, of large bodies,
// as they come. Bytes are not copied on their way in unless a message comes in several chunks.

import { FrameFault } from './call-bytes.ts';

export const OPCODE = { rest: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** The longest header before a payload. */
export const HEADER_BYTES_MAX = 14;
const CONTROL_BYTES_MAX = 125;
const MASK_BYTES = 4;
const NOTHING = new Uint8Array();

export interface Header {
  readonly opcode: number;
  readonly length: number;
  /**
   * Whether it is a client's, as the RFC has it. The mask is zero: it is there for proxies that a
   * page in a browser might lead astray, and its cost is a fifth of what a large value costs.
   */
  readonly isMasked: boolean;
}

/** Writes the header so that it ends where the payload begins; where it begins itself. */
export function writeHeader(into: Uint8Array, end: number, of: Header): number {
  const { opcode, length, isMasked } = of;
  const extended = length > 65_535 ? 8 : length > CONTROL_BYTES_MAX ? 2 : 0;
  const start = end - 2 - extended - (isMasked ? MASK_BYTES : 0);
  into[start] = 0x80 | opcode;
  const short = extended === 8 ? 127 : extended === 2 ? 126 : length;
  into[start + 1] = (isMasked ? 0x80 : 0) | short;
  let rest = length;
  for (let at = start + 1 + extended; at > start + 1; at -= 1) {
    into[at] = rest & 0xff;
    rest = Math.floor(rest / 256);
  }
  if (isMasked) into.fill(0, end - MASK_BYTES, end);
  return start;
}

/** Takes the bytes of one message as they come. */
export type Sink = (bytes: Uint8Array) => void;

export interface SocketHandlers {
  /** A whole message: a view into what was fed, or memory of its own. */
  message(bytes: Uint8Array): void;
  /**
   * The first bytes of a message that is still coming, and its length: who takes it piece by piece,
   * these first ones included; null to have it whole.
   */
  begins(bytes: Uint8Array, length: number): Sink | null;
  control(opcode: number, bytes: Uint8Array): void;
}

export interface SocketRules {
  /** What comes is from a client, which masks all that it sends; a server masks nothing. */
  readonly isMasked: boolean;
  readonly messageBytesMax: number;
}

/** Cuts what comes into messages. Throws FrameFault when it breaks the protocol. */
export class SocketReader {
  readonly #rules: SocketRules;
  readonly #handlers: SocketHandlers;
  readonly #header = new Uint8Array(HEADER_BYTES_MAX);
  #headerBytes = 0;
  #opcode = 0;
  #isFinal = true;
  #length = 0;
  /** Bytes of the payload that are to come; -1 between two of them. */
  #left = -1;
  readonly #mask = new Uint8Array(MASK_BYTES);
  #hasMask = false;
  #phase = 0;
  #sink: Sink | null = null;
  #whole: Uint8Array | null = null;
  /** What there is of a message in fragments, with room behind it. */
  #gathered: Uint8Array = NOTHING;
  #fragmentBytes = 0;
  #isFragmented = false;

  constructor(rules: SocketRules, handlers: SocketHandlers) {
    this.#rules = rules;
    this.#handlers = handlers;
  }

  /** The bytes are the reader's from now on: masked ones are changed in place. */
  feed(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#left < 0 ? this.#takeHeader(chunk, at) : this.#takePayload(chunk, at);
    }
  }

  #takeHeader(chunk: Uint8Array, from: number): number {
    const header = this.#header;
    for (let at = from; at < chunk.length; at += 1) {
      header[this.#headerBytes] = chunk[at] as number;
      this.#headerBytes += 1;
      if (this.#headerBytes < 2 || this.#headerBytes < headerLength(header)) continue;
      this.#begin();
      return at + 1;
    }
    return chunk.length;
  }

  #begin(): void {
    const [first = 0, second = 0] = this.#header;
    this.#opcode = first & 0x0f;
    this.#isFinal = first >= 0x80;
    this.#length = payloadLength(this.#header);
    this.#check(first, second);
    this.#headerBytes = 0;
    this.#left = this.#length;
    this.#phase = 0;
    this.#hasMask = false;
    if (second >= 0x80) this.#takeMask(headerLength(this.#header));
    if (this.#length === 0) this.#over(NOTHING);
  }

  #takeMask(end: number): void {
    this.#mask.set(this.#header.subarray(end - MASK_BYTES, end));
    this.#hasMask = this.#mask.some((byte) => byte !== 0);
  }

  #check(first: number, second: number): void {
    const { isMasked, messageBytesMax } = this.#rules;
    const opcode = this.#opcode;
    if ((first & 0x70) !== 0) throw new FrameFault('bits that nobody agreed on');
    if (second >= 0x80 !== isMasked) {
      throw new FrameFault(isMasked ? 'a frame without a mask' : 'a frame with a mask');
    }
    if (opcode > OPCODE.pong || (opcode > OPCODE.binary && opcode < OPCODE.close)) {
      throw new FrameFault(`unknown opcode ${opcode}`);
    }
    if (opcode === OPCODE.text) throw new FrameFault('a text, where messages are bytes');
    if (opcode >= OPCODE.close) {
      if (this.#isFinal && this.#length <= CONTROL_BYTES_MAX) return;
      throw new FrameFault('a control frame that is too long, or in fragments');
    }
    if ((opcode === OPCODE.rest) !== this.#isFragmented) {
      throw new FrameFault('a fragment out of order');
    }
    if (this.#fragmentBytes + this.#length > messageBytesMax) {
      throw new FrameFault(`a message of more than ${messageBytesMax} bytes`);
    }
  }

  #takePayload(chunk: Uint8Array, from: number): number {
    const until = Math.min(chunk.length, from + this.#left);
    const bytes = chunk.subarray(from, until);
    if (this.#hasMask) this.#unmask(bytes);
    const isFirst = this.#left === this.#length;
    this.#left -= bytes.length;
    if (isFirst && this.#left === 0) this.#over(bytes);
    else if (isFirst) this.#first(bytes);
    else this.#next(bytes);
    return until;
  }

  #unmask(bytes: Uint8Array): void {
    const mask = this.#mask;
    const phase = this.#phase;
    for (let at = 0; at < bytes.length; at += 1) {
      bytes[at] = (bytes[at] as number) ^ (mask[(phase + at) & 3] as number);
    }
    this.#phase = (phase + bytes.length) & 3;
  }

  /** More is to come of this message. */
  #first(bytes: Uint8Array): void {
    const isWhole = this.#opcode === OPCODE.binary && this.#isFinal;
    this.#sink = isWhole ? this.#handlers.begins(bytes, this.#length) : null;
    if (this.#sink !== null) return this.#sink(bytes);
    this.#whole = Buffer.allocUnsafeSlow(this.#length);
    this.#whole.set(bytes);
  }

  #next(bytes: Uint8Array): void {
    const isLast = this.#left === 0;
    if (this.#sink !== null) {
      const sink = this.#sink;
      if (isLast) {
        this.#sink = null;
        this.#left = -1;
      }
      return sink(bytes);
    }
    const whole = this.#whole as Uint8Array;
    whole.set(bytes, this.#length - this.#left - bytes.length);
    if (!isLast) return;
    this.#whole = null;
    this.#over(whole);
  }

  #over(bytes: Uint8Array): void {
    this.#left = -1;
    if (this.#opcode >= OPCODE.close) return this.#handlers.control(this.#opcode, bytes);
    if (this.#isFinal && !this.#isFragmented) return this.#handlers.message(bytes);
    this.#gather(bytes);
    this.#isFragmented = !this.#isFinal;
    if (this.#isFragmented) return;
    const all = this.#gathered.subarray(0, this.#fragmentBytes);
    this.#gathered = NOTHING;
    this.#fragmentBytes = 0;
    this.#handlers.message(all);
  }

  /** Copied together: a view of its own for each costs far more than a fragment of one byte. */
  #gather(bytes: Uint8Array): void {
    const needed = this.#fragmentBytes + bytes.length;
    if (needed > this.#gathered.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#gathered.length));
      grown.set(this.#gathered.subarray(0, this.#fragmentBytes));
      this.#gathered = grown;
    }
    this.#gathered.set(bytes, this.#fragmentBytes);
    this.#fragmentBytes = needed;
  }
}

function headerLength(header: Uint8Array): number {
  const second = header[1] as number;
  const short = second & 0x7f;
  const extended = short === 127 ? 8 : short === 126 ? 2 : 0;
  return 2 + extended + (second >= 0x80 ? MASK_BYTES : 0);
}

function payloadLength(header: Uint8Array): number {
  const short = (header[1] as number) & 0x7f;
  if (short < 126) return short;
  let length = 0;
  const end = short === 127 ? 10 : 4;
  for (let at = 2; at < end; at += 1) length = length * 256 + (header[at] as number);
  return length;
}
