// The agent's half of the launcher's protocol: requests to bytes
// (src/kernel/ports/launcher-frames.ts). Pure: no sockets, no clock.

import type { SignalTo } from '../model/job.ts';
import {
  type ANSWERS,
  type Fields,
  FRAME_BYTES_MAX,
  type Frame,
  LAUNCHER_VERSION,
  type Layout,
  type Limit,
  REQUESTS,
  SCOPE,
  type Sort,
  SPAWN_FLAG,
  UNLIMITED,
} from '../ports/launcher-frames.ts';

/** Oldest version of a launcher that outlived its agent: it is asked for nothing that starts. */
export const LAUNCHER_VERSION_MIN = 1;

/** Texts are UTF-8; bytes are passed as they are. */
export type Text = string | Uint8Array;
type Spawn = Fields<typeof REQUESTS.spawn, number, Text>;

export interface SpawnFrame extends Omit<Spawn, 'flags' | 'uid' | 'gid' | 'groups' | 'leaseMs'> {
  readonly setIds: {
    readonly uid: number;
    readonly gid: number;
    readonly groups: readonly number[];
  } | null;
  readonly append: boolean;
  /** New output files get the mode that the umask leaves, instead of 0600. */
  readonly byUmask: boolean;
  /** The folders above new output files are made as well. */
  readonly makeParents: boolean;
  /** How long the process may live after the head was last heard; null: for ever. */
  readonly leaseMs: number | null;
}

export type LauncherAnswer = Frame<typeof ANSWERS, number>;
export type LauncherRecord = Fields<typeof ANSWERS.record, number>;

/** Collects requests in one growing buffer until `take`. */
export class RequestWriter {
  #buffer = Buffer.allocUnsafe(16_384);
  #used = 0;
  /** What the launcher speaks. */
  version = LAUNCHER_VERSION;

  get isEmpty(): boolean {
    return this.#used === 0;
  }

  /** In bytes, of what was written since the last `take`. */
  get length(): number {
    return this.#used;
  }

  /** A copy of everything written since the last call. */
  take(): Uint8Array {
    const bytes = Buffer.from(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
    return bytes;
  }

  hello(version = this.version): void {
    this.#write(REQUESTS.hello, { version });
  }

  /** False, and nothing written, when a text holds a NUL or the frame would be too large. */
  spawn(frame: SpawnFrame): boolean {
    const { setIds, leaseMs } = frame;
    return this.#write(REQUESTS.spawn, {
      ...frame,
      flags: flagsOf(frame),
      uid: setIds?.uid ?? 0,
      gid: setIds?.gid ?? 0,
      groups: setIds?.groups ?? [],
      leaseMs: leaseMs ?? 0,
    });
  }

  /** To everything that belongs to it. */
  signal(id: number, signal: number, to?: SignalTo): void {
    this.#write(REQUESTS.signal, { id, signal, scope: SCOPE[to ?? 'all'] });
  }

  forget(id: number): void {
    this.#write(REQUESTS.forget, { id });
  }

  list(): void {
    this.#write(REQUESTS.list, {});
  }

  /** Ends all that the launcher has started, and itself. */
  shutdown(): void {
    this.#write(REQUESTS.shutdown, { all: 1 });
  }

  leftovers(id: number): void {
    this.#write(REQUESTS.leftovers, { id });
  }

  /** The head answered what was sent at this instant, in ms of CLOCK_MONOTONIC: leases count on. */
  heard(monotonic: number): void {
    this.#write(REQUESTS.heard, { monotonic: Math.max(0, Math.floor(monotonic)) });
  }

  #write<L extends Layout>({ type, fields }: L, values: Fields<L, number, Text>): boolean {
    const start = this.#used;
    this.#u32(0);
    this.#reserve(1);
    this.#buffer[this.#used++] = type;
    for (const name in fields) {
      if (this.#field(fields[name] as Sort, values[name as keyof typeof values])) continue;
      this.#used = start;
      return false;
    }
    const length = this.#used - start - 4;
    if (length > FRAME_BYTES_MAX) this.#used = start;
    else this.#buffer.writeUInt32LE(length, start);
    return length <= FRAME_BYTES_MAX;
  }

  #field(sort: Sort, value: unknown): boolean {
    switch (sort) {
      case 'u32':
        this.#u32(value as number);
        return true;
      case 'i32':
        this.#u32((value as number) >>> 0);
        return true;
      case 'u64':
        this.#u64(value as number);
        return true;
      case 'text':
        return this.#text(value as Text);
      case 'u32[]':
        return this.#list(value as readonly number[], (each) => this.#u32(each));
      case 'text[]':
        return this.#list(value as readonly Text[], (each) => this.#text(each));
      case 'limit[]':
        return this.#list(value as readonly Limit<number>[], (each) => this.#limit(each));
    }
  }

  #list<T>(list: readonly T[], write: (each: T) => unknown): boolean {
    this.#u32(list.length);
    return list.every((each) => write(each) !== false);
  }

  #reserve(count: number): void {
    if (this.#used + count <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#used + count));
    this.#buffer.copy(grown, 0, 0, this.#used);
    this.#buffer = grown;
  }

  #u32(value: number): void {
    this.#reserve(4);
    this.#used = this.#buffer.writeUInt32LE(value, this.#used);
  }

  #u64(value: number): void {
    this.#u32(value % 0x1_0000_0000);
    this.#u32(Math.floor(value / 0x1_0000_0000));
  }

  #limit({ resource, soft, hard }: Limit<number>): void {
    this.#u32(resource);
    this.#reserve(16);
    for (const value of [soft, hard]) {
      const whole = Number.isFinite(value) ? BigInt(Math.max(0, Math.trunc(value))) : UNLIMITED;
      this.#used = this.#buffer.writeBigUInt64LE(whole, this.#used);
    }
  }

  #text(text: Text): boolean {
    const start = this.#used + 4;
    const length = typeof text === 'string' ? Buffer.byteLength(text) : text.length;
    this.#u32(length);
    this.#reserve(length);
    if (typeof text === 'string') this.#buffer.write(text, start);
    else this.#buffer.set(text, start);
    this.#used = start + length;
    return typeof text === 'string' ? !text.includes('\0') : !text.includes(0);
  }
}

function flagsOf({ setIds, append, byUmask, makeParents }: SpawnFrame): number {
  return (
    (setIds ? SPAWN_FLAG.setIds : 0) |
    (append ? SPAWN_FLAG.append : 0) |
    (byUmask ? SPAWN_FLAG.byUmask : 0) |
    (makeParents ? SPAWN_FLAG.makeParents : 0)
  );
}
