// Numbers, texts and bytes in the frames of calls: a writer that grows, and a strict reader.

import { CALL_WORDS_BYTES_MAX } from '../../../kernel/model/limits.ts';

/** What makes a frame unreadable; caught where frames are read, and nowhere else. */
export class FrameFault extends Error {
  override readonly name = 'FrameFault';
}

const FIRST_BYTES = 4096;
const TEXT = new TextDecoder('utf-8', { fatal: true });

export class ByteWriter {
  #buffer: Buffer<ArrayBuffer>;
  #view: DataView;
  length = 0;

  /** `room`: bytes left free at the beginning, for whoever takes what was written. */
  constructor(bytes = FIRST_BYTES, room = 0) {
    // Its own memory, not the pool's: what was written goes to a socket and lives on there.
    this.#buffer = Buffer.allocUnsafeSlow(bytes);
    this.#view = new DataView(this.#buffer.buffer);
    this.length = room;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#buffer[this.length] = value;
    this.length += 1;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.length, value, true);
    this.length += 4;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  bytes(value: Uint8Array): void {
    this.u32(value.length);
    this.#reserve(value.length);
    this.#buffer.set(value, this.length);
    this.length += value.length;
  }

  /** Cut to what a reader takes. */
  text(value: string): void {
    const start = this.length;
    this.#reserve(4 + CALL_WORDS_BYTES_MAX);
    const bytes = this.#buffer.write(value, start + 4, CALL_WORDS_BYTES_MAX, 'utf8');
    this.#view.setUint32(start, bytes, true);
    this.length = start + 4 + bytes;
  }

  /** All that was written; the writer must not be used again. */
  taken(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  #reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.length));
    this.#buffer = larger;
    this.#view = new DataView(larger.buffer);
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  u8(): number {
    const at = this.#pass(1);
    return this.#bytes[at] as number;
  }

  bool(): boolean {
    const value = this.u8();
    if (value > 1) throw new FrameFault(`${value} is neither yes nor no`);
    return value === 1;
  }

  u32(): number {
    const at = this.#pass(4);
    return this.#view.getUint32(at, true);
  }

  /** A time or another amount: any number from 0. */
  amount(): number {
    const at = this.#pass(8);
    const value = this.#view.getFloat64(at, true);
    if (value >= 0 && value < Number.POSITIVE_INFINITY) return value;
    throw new FrameFault(`${value} is no amount`);
  }

  /** A whole number from 0. */
  count(): number {
    const value = this.amount();
    if (Number.isSafeInteger(value)) return value;
    throw new FrameFault(`${value} is not whole`);
  }

  /** A view into the frame. */
  bytes(max: number): Uint8Array {
    const length = this.u32();
    if (length > max) throw new FrameFault(`${length} bytes are more than ${max}`);
    const at = this.#pass(length);
    return this.#bytes.subarray(at, at + length);
  }

  text(): string {
    try {
      return TEXT.decode(this.bytes(CALL_WORDS_BYTES_MAX));
    } catch (error) {
      if (error instanceof FrameFault) throw error;
      throw new FrameFault('a text is not UTF-8');
    }
  }

  /** How many entries of at least `bytesEach` follow; no more than there are bytes for. */
  listLength(bytesEach: number): number {
    const length = this.u32();
    if (length * bytesEach <= this.#bytes.length - this.#at) return length;
    throw new FrameFault(`a list of ${length} is longer than its frame`);
  }

  #pass(count: number): number {
    const at = this.#at;
    if (at + count > this.#bytes.length) throw new FrameFault('the frame ends in a message');
    this.#at = at + count;
    return at;
  }
}
