// The agent's half of the launcher's protocol (launcher/README.md): requests to bytes, bytes to
// answers. Pure: no sockets, no clock.

/** What this agent's own launcher speaks; raised when a frame changes. */
export const LAUNCHER_VERSION = 1;
/**
 * Oldest version of a launcher that has outlived its agent: it is asked for nothing that starts.
 */
export const LAUNCHER_VERSION_MIN = 1;
/** Largest frame either side accepts, in bytes after the length word (launcher/wire.h). */
export const FRAME_BYTES_MAX = 1 << 20;

/** Texts are UTF-8; bytes are passed as they are. */
export type Text = string | Uint8Array;

export interface SpawnFrame {
  readonly id: number;
  readonly setIds: {
    readonly uid: number;
    readonly gid: number;
    readonly groups: readonly number[];
  } | null;
  readonly append: boolean;
  /** New output files get the mode that the umask leaves, instead of 0600. */
  readonly byUmask: boolean;
  readonly nice: number;
  readonly umask: number;
  readonly cwd: Text;
  readonly argv: readonly Text[];
  readonly environment: readonly Text[];
  readonly stdin: Text;
  readonly stdout: Text;
  readonly stderr: Text;
  /** Numbers as in setrlimit(2); Infinity for none. */
  readonly limits: readonly {
    readonly resource: number;
    readonly soft: number;
    readonly hard: number;
  }[];
  readonly cgroupProcs: readonly Text[];
  /** The folders above new output files are made as well. */
  readonly makeParents: boolean;
  /** It may live this long after the head was last heard; null for ever. */
  readonly leaseMs: number | null;
}

export interface LauncherRecord {
  readonly id: number;
  /** 1 running, 2 stopped, 3 exited, 4 failed, 5 launching. */
  readonly state: number;
  readonly pid: number;
  /** 0 when it ended before anybody asked for its record. */
  readonly startTicks: number;
  readonly startedAt: number;
  /** The status of wait(2) once exited, the errno once failed. */
  readonly status: number;
  readonly stage: number;
  readonly userUs: number;
  readonly systemUs: number;
  readonly rssPeakKib: number;
  readonly endedAt: number;
  /** Ended by the launcher, as its lease was over. */
  readonly leaseOver: boolean;
}

export type LauncherAnswer =
  | { kind: 'hello'; version: number; pid: number; startTicks: number; uid: number }
  /** `startTicks` is 0 where reading them costs too much; the record has them. */
  | { kind: 'started'; id: number; pid: number; startTicks: number; startedAt: number }
  | { kind: 'failed'; id: number; errno: number; stage: number }
  | {
      kind: 'exited';
      id: number;
      status: number;
      userUs: number;
      systemUs: number;
      rssPeakKib: number;
      endedAt: number;
      leaseOver: boolean;
    }
  | { kind: 'stopped' | 'continued'; id: number }
  | { kind: 'signalled' | 'leftovers'; id: number; count: number }
  | { kind: 'record'; record: LauncherRecord }
  | { kind: 'list_end'; count: number }
  | { kind: 'error'; code: number; id: number; text: string };

const SET_IDS = 1;
const APPEND = 2;
const BY_UMASK = 4;
const MAKE_PARENTS = 8;
/** The only scope there is. */
const SCOPE_ALL = 1;
const UNLIMITED = 0xffff_ffff_ffff_ffffn;

/** Collects requests in one growing buffer until `take`. */
export class RequestWriter {
  #buffer = Buffer.allocUnsafe(16_384);
  #used = 0;
  #frame = 0;
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
    this.#begin(0x01);
    this.#u32(version);
    this.#end();
  }

  /** False, and nothing written, when a text holds a NUL or the frame would be too large. */
  spawn(frame: SpawnFrame): boolean {
    const { setIds } = frame;
    this.#begin(0x02);
    this.#u64(frame.id);
    this.#u32(
      (setIds ? SET_IDS : 0) |
        (frame.append ? APPEND : 0) |
        (frame.byUmask ? BY_UMASK : 0) |
        (frame.makeParents ? MAKE_PARENTS : 0),
    );
    this.#u32(setIds?.uid ?? 0);
    this.#u32(setIds?.gid ?? 0);
    this.#u32(setIds?.groups.length ?? 0);
    for (const group of setIds?.groups ?? []) this.#u32(group);
    this.#u32(frame.nice >>> 0);
    this.#u32(frame.umask);
    let good = this.#text(frame.cwd) && this.#texts(frame.argv) && this.#texts(frame.environment);
    good &&= this.#text(frame.stdin) && this.#text(frame.stdout) && this.#text(frame.stderr);
    this.#u32(frame.limits.length);
    for (const { resource, soft, hard } of frame.limits) {
      this.#u32(resource);
      this.#limit(soft);
      this.#limit(hard);
    }
    good &&= this.#texts(frame.cgroupProcs);
    this.#u64(frame.leaseMs ?? 0);
    good &&= this.#used - this.#frame - 4 <= FRAME_BYTES_MAX;
    if (good) this.#end();
    else this.#used = this.#frame;
    return good;
  }

  /** To everything that belongs to it. */
  signal(id: number, signal: number): void {
    this.#begin(0x03);
    this.#u64(id);
    this.#u32(signal);
    this.#u32(SCOPE_ALL);
    this.#end();
  }

  forget(id: number): void {
    this.#begin(0x04);
    this.#u64(id);
    this.#end();
  }

  list(): void {
    this.#begin(0x05);
    this.#end();
  }

  /** Ends all that the launcher has started, and itself. */
  shutdown(): void {
    this.#begin(0x06);
    this.#u32(1);
    this.#end();
  }

  leftovers(id: number): void {
    this.#begin(0x07);
    this.#u64(id);
    this.#end();
  }

  /** The head answered what was sent at this instant, in ms of CLOCK_MONOTONIC: leases count on. */
  heard(monotonic: number): void {
    this.#begin(0x08);
    this.#u64(Math.max(0, Math.floor(monotonic)));
    this.#end();
  }

  #begin(type: number): void {
    this.#frame = this.#used;
    this.#u32(0);
    this.#reserve(1);
    this.#buffer[this.#used++] = type;
  }

  #end(): void {
    this.#buffer.writeUInt32LE(this.#used - this.#frame - 4, this.#frame);
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

  #limit(value: number): void {
    this.#reserve(8);
    const whole = Number.isFinite(value) ? BigInt(Math.max(0, Math.trunc(value))) : UNLIMITED;
    this.#used = this.#buffer.writeBigUInt64LE(whole, this.#used);
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

  #texts(texts: readonly Text[]): boolean {
    this.#u32(texts.length);
    return texts.every((text) => this.#text(text));
  }
}
