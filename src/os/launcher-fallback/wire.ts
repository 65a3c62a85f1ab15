// The launcher's half of its protocol (launcher/README.md): bytes to requests, answers to bytes.

export const VERSION = 1;
const FRAME_BYTES_MAX = 1 << 20;
/** The only scope of a SIGNAL. */
const SCOPE_ALL = 1;

/** Codes of ERROR frames, as in launcher/wire.h. */
export const ERROR = {
  malformed: 1,
  version: 2,
  noHello: 3,
  unknownId: 4,
  stillLive: 5,
} as const;

export class Malformed extends Error {
  override name = 'Malformed';
}

export interface SpawnRequest {
  readonly kind: 'spawn';
  readonly id: bigint;
  readonly flags: number;
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly nice: number;
  readonly umask: number;
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly environment: readonly string[];
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly limits: readonly { resource: number; soft: bigint; hard: bigint }[];
  readonly cgroupProcs: readonly string[];
  /** 0: it may live for ever. */
  readonly leaseMs: bigint;
}

export type Request =
  | { readonly kind: 'hello'; readonly version: number }
  | SpawnRequest
  | {
      readonly kind: 'signal';
      readonly id: bigint;
      readonly signal: number;
      readonly scope: number;
    }
  | { readonly kind: 'forget' | 'leftovers'; readonly id: bigint }
  /** In ms of CLOCK_MONOTONIC. */
  | { readonly kind: 'heard'; readonly monotonic: bigint }
  | { readonly kind: 'list' }
  | { readonly kind: 'shutdown' };

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

  list<T>(take: () => T, bytesEach: number): T[] {
    const count = this.u32();
    if (count > (this.#bytes.length - this.#at) / bytesEach) throw new Malformed('malformed frame');
    return Array.from({ length: count }, take);
  }

  done(): void {
    if (this.#at !== this.#bytes.length) throw new Malformed('malformed frame');
  }
}

function decodeSpawn(c: Cursor): SpawnRequest {
  return {
    kind: 'spawn',
    id: c.u64(),
    flags: c.u32(),
    uid: c.u32(),
    gid: c.u32(),
    groups: c.list(c.u32, 4),
    nice: c.i32(),
    umask: c.u32(),
    cwd: c.text(),
    argv: c.list(c.text, 4),
    environment: c.list(c.text, 4),
    stdin: c.text(),
    stdout: c.text(),
    stderr: c.text(),
    limits: c.list(() => ({ resource: c.u32(), soft: c.u64(), hard: c.u64() }), 20),
    cgroupProcs: c.list(c.text, 4),
    leaseMs: c.u64(),
  };
}

function decodeShutdown(c: Cursor): Request {
  if (c.u32() !== 1) throw new Malformed('argument out of bounds');
  return { kind: 'shutdown' };
}

const DECODERS: Record<number, (c: Cursor) => Request> = {
  1: (c) => ({ kind: 'hello', version: c.u32() }),
  2: decodeSpawn,
  3: (c) => ({ kind: 'signal', id: c.u64(), signal: c.u32(), scope: c.u32() }),
  4: (c) => ({ kind: 'forget', id: c.u64() }),
  5: () => ({ kind: 'list' }),
  6: decodeShutdown,
  7: (c) => ({ kind: 'leftovers', id: c.u64() }),
  8: (c) => ({ kind: 'heard', monotonic: c.u64() }),
};

function decodeRequest(bytes: Buffer): Request {
  const cursor = new Cursor(bytes);
  const decoder = DECODERS[cursor.u8()];
  if (!decoder) throw new Malformed('malformed frame');
  const request = decoder(cursor);
  cursor.done();
  if (request.kind === 'signal' && (request.signal > 64 || request.scope !== SCOPE_ALL)) {
    throw new Malformed('argument out of bounds');
  }
  return request;
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

/** One answer frame: numbers are u32, bigints u64, a text is a string. */
export function encodeAnswer(type: number, fields: readonly (number | bigint | string)[]): Buffer {
  const parts: Buffer[] = [Buffer.alloc(5)];
  for (const field of fields) parts.push(...encodeField(field));
  const frame = Buffer.concat(parts);
  frame.writeUInt32LE(frame.length - 4, 0);
  frame.writeUInt8(type, 4);
  return frame;
}

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
