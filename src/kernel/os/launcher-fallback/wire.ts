// The launcher's half of its protocol: bytes to requests, answers to bytes
// (src/kernel/ports/launcher-frames.ts).

import {
  ANSWERS,
  byType,
  type Fields,
  FRAME_BYTES_MAX,
  type Frame,
  REQUESTS,
  SCOPE,
  type Sort,
} from '../../ports/launcher-frames.ts';

export class Malformed extends Error {
  override name = 'Malformed';
}

export type Request = Frame<typeof REQUESTS, bigint>;
export type SpawnRequest = Extract<Request, { kind: 'spawn' }>;

class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  #step(count: number): number {
    const at = this.#at;
    if (at + count > this.#bytes.length) throw new Malformed('malformed frame');
    this.#at += count;
    return at;
  }

  u8 = (): number => this.#bytes.readUInt8(this.#step(1));
  u32 = (): number => this.#bytes.readUInt32LE(this.#step(4));
  i32 = (): number => this.#bytes.readInt32LE(this.#step(4));
  u64 = (): bigint => this.#bytes.readBigUInt64LE(this.#step(8));

  text = (): string => {
    const length = this.u32();
    const at = this.#step(length);
    const bytes = this.#bytes.subarray(at, at + length);
    if (bytes.includes(0)) throw new Malformed('malformed frame');
    return bytes.toString('utf8');
  };

  limit = () => ({ resource: this.u32(), soft: this.u64(), hard: this.u64() });

  list<T>(take: () => T, bytesEach: number): T[] {
    const count = this.u32();
    if (count > (this.#bytes.length - this.#at) / bytesEach) throw new Malformed('malformed frame');
    return Array.from({ length: count }, take);
  }

  field(sort: Sort): unknown {
    switch (sort) {
      case 'u32':
        return this.u32();
      case 'i32':
        return this.i32();
      case 'u64':
        return this.u64();
      case 'text':
        return this.text();
      case 'u32[]':
        return this.list(this.u32, 4);
      case 'text[]':
        return this.list(this.text, 4);
      case 'limit[]':
        return this.list(this.limit, 20);
    }
  }

  done(): void {
    if (this.#at !== this.#bytes.length) throw new Malformed('malformed frame');
  }
}

const KINDS = byType(REQUESTS);

function decodeRequest(bytes: Buffer): Request {
  const cursor = new Cursor(bytes);
  const reading = KINDS.get(cursor.u8());
  if (reading === undefined) throw new Malformed('malformed frame');
  const read: Record<string, unknown> = { kind: reading.kind };
  for (const [name, sort] of reading.fields) read[name] = cursor.field(sort);
  cursor.done();
  const request = read as Request;
  if (isOutOfBounds(request)) throw new Malformed('argument out of bounds');
  return request;
}

const SCOPES: readonly number[] = Object.values(SCOPE);

function isOutOfBounds(request: Request): boolean {
  if (request.kind === 'shutdown') return request.all !== 1;
  return request.kind === 'signal' && (request.signal > 64 || !SCOPES.includes(request.scope));
}

/** Cuts a stream into requests; a generator, so that those before a malformed one still count. */
export class RequestReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Throws Malformed where the stream stops making sense. */
  *push(chunk: Buffer): Generator<Request> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 4) {
      const length = this.#rest.readUInt32LE(0);
      if (length < 1 || length > FRAME_BYTES_MAX) throw new Malformed('frame length out of bounds');
      if (this.#rest.length < 4 + length) return;
      const frame = this.#rest.subarray(4, 4 + length);
      this.#rest = this.#rest.subarray(4 + length);
      yield decodeRequest(frame);
    }
  }
}

type Answers = typeof ANSWERS;

/** One answer frame. */
export function encodeAnswer<K extends keyof Answers>(
  kind: K,
  values: Fields<Answers[K], bigint>,
): Buffer {
  const { type, fields } = ANSWERS[kind];
  const parts: Buffer[] = [Buffer.alloc(5)];
  for (const name of Object.keys(fields)) {
    parts.push(...encodeField((values as Record<string, number | bigint | string>)[name] ?? 0));
  }
  const frame = Buffer.concat(parts);
  frame.writeUInt32LE(frame.length - 4, 0);
  frame.writeUInt8(type, 4);
  return frame;
}

/** Numbers are u32, bigints u64. */
function encodeField(field: number | bigint | string): Buffer[] {
  if (typeof field === 'string') {
    const text = Buffer.from(field);
    return [...encodeField(text.length), text];
  }
  const bytes = Buffer.alloc(typeof field === 'bigint' ? 8 : 4);
  if (typeof field === 'bigint') bytes.writeBigUInt64LE(field);
  else bytes.writeUInt32LE(field);
  return [bytes];
}
