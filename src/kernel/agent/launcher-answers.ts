// The answers of the launcher: a byte stream cut into frames, and each frame into a plain value.

import { ANSWERS, byType, FRAME_BYTES_MAX, type Sort } from '../ports/launcher-frames.ts';
import type { LauncherAnswer } from './launcher-wire.ts';

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

  field(sort: Sort): number | string {
    if (sort === 'u32') return this.u32();
    if (sort === 'u64') return this.u64();
    if (sort === 'text') return this.text();
    throw new Error(`no answer has a field of sort ${sort}`);
  }

  done(): void {
    if (this.#at !== this.#end) throw new MalformedAnswer('answer is too long');
  }
}

const KINDS = byType(ANSWERS);

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
  const reading = KINDS.get(type);
  if (reading === undefined) throw new MalformedAnswer(`no answer has type ${type}`);
  const answer: Record<string, unknown> = { kind: reading.kind };
  for (const [name, sort] of reading.fields) answer[name] = cursor.field(sort);
  cursor.done();
  return answer as LauncherAnswer;
}
