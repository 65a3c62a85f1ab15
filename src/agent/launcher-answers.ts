// The answers of the launcher: a byte stream cut into frames, and each frame into a plain value.

import { FRAME_BYTES_MAX, type LauncherAnswer } from './launcher-wire.ts';

/** What arrived is not the launcher's protocol: the connection is of no more use. */
export class MalformedAnswer extends Error {
  override name = 'MalformedAnswer';
}

class Cursor {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;

  constructor(bytes: Buffer, at: number, end: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  #step(count: number): number {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#end) throw new MalformedAnswer('answer is cut short');
    return at;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#step(1));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#step(4));
  }

  /** Ids, times and counters here stay below 2^53; more is taken for nonsense. */
  u64(): number {
    const low = this.u32();
    const value = this.u32() * 0x1_0000_0000 + low;
    if (!Number.isSafeInteger(value)) throw new MalformedAnswer('number is too large');
    return value;
  }

  text(): string {
    const length = this.u32();
    const at = this.#step(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  done(): void {
    if (this.#at !== this.#end) throw new MalformedAnswer('answer is too long');
  }
}

/** `why` of an end (launcher/table.h). */
const LEASE_OVER = 1;

type Decoder = (cursor: Cursor) => LauncherAnswer;

const DECODERS = new Map<number, Decoder>([
  [
    0x80,
    (c) => ({
      kind: 'hello',
      version: c.u32(),
      pid: c.u32(),
      startTicks: c.u64(),
      uid: c.u32(),
    }),
  ],
  [
    0x81,
    (c) => ({
      kind: 'started',
      id: c.u64(),
      pid: c.u32(),
      startTicks: c.u64(),
      startedAt: c.u64(),
    }),
  ],
  [0x82, (c) => ({ kind: 'failed', id: c.u64(), errno: c.u32(), stage: c.u32() })],
  [
    0x83,
    (c) => ({
      kind: 'exited',
      id: c.u64(),
      status: c.u32(),
      userUs: c.u64(),
      systemUs: c.u64(),
      rssPeakKib: c.u64(),
      endedAt: c.u64(),
      leaseOver: c.u32() === LEASE_OVER,
    }),
  ],
  [0x84, (c) => ({ kind: 'stopped', id: c.u64() })],
  [0x85, (c) => ({ kind: 'continued', id: c.u64() })],
  [0x86, (c) => ({ kind: 'signalled', id: c.u64(), count: c.u32() })],
  [0x87, (c) => ({ kind: 'record', record: decodeRecord(c) })],
  [0x88, (c) => ({ kind: 'list_end', count: c.u32() })],
  [0x89, (c) => ({ kind: 'leftovers', id: c.u64(), count: c.u32() })],
  [0x8f, (c) => ({ kind: 'error', code: c.u32(), id: c.u64(), text: c.text() })],
]);

function decodeRecord(c: Cursor): Extract<LauncherAnswer, { kind: 'record' }>['record'] {
  return {
    id: c.u64(),
    state: c.u32(),
    pid: c.u32(),
    startTicks: c.u64(),
    startedAt: c.u64(),
    status: c.u32(),
    stage: c.u32(),
    userUs: c.u64(),
    systemUs: c.u64(),
    rssPeakKib: c.u64(),
    endedAt: c.u64(),
    leaseOver: c.u32() === LEASE_OVER,
  };
}

/** Cuts a stream into answers; keeps an unfinished frame for the next chunk. */
export class AnswerReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Throws MalformedAnswer. */
  push(chunk: Uint8Array): LauncherAnswer[] {
    const fresh = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = this.#rest.length === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    const answers: LauncherAnswer[] = [];
    let at = 0;
    while (bytes.length - at >= 4) {
      const length = bytes.readUInt32LE(at);
      if (length < 1 || length > FRAME_BYTES_MAX) throw new MalformedAnswer('bad frame length');
      if (bytes.length - at < 4 + length) break;
      answers.push(decodeAnswer(bytes, at + 4, at + 4 + length));
      at += 4 + length;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
    return answers;
  }
}

function decodeAnswer(bytes: Buffer, from: number, to: number): LauncherAnswer {
  const cursor = new Cursor(bytes, from, to);
  const type = cursor.u8();
  const decoder = DECODERS.get(type);
  if (!decoder) throw new MalformedAnswer(`no answer has type ${type}`);
  const answer = decoder(cursor);
  cursor.done();
  return answer;
}
