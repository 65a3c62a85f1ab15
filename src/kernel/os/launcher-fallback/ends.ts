// Ends of processes, noted where the next launcher finds them when this one is killed before the
// agent has heard of them: the same file as that of launcher/ends.c, so that either finds the
// other's.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

export interface NotedEnd {
  readonly pid: number;
  readonly uid: number;
  readonly startTicks: bigint;
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly endedTicks: number;
  readonly status: number;
  readonly why: number;
}

const SLOT_BYTES = 128;
/** What `ownerIn` needs of a file. */
export const FIRST_BYTES = SLOT_BYTES;
const SLOTS_MAX = 100_000;
const SECRET_LENGTH = 32;
const MAGIC = 0x0131646e45746657n;
/** Offsets in a slot. */
const AT = {
  id: 0,
  startTicks: 8,
  startedAt: 16,
  endedAt: 24,
  endedTicks: 32,
  status: 64,
  why: 68,
  pid: 72,
  uid: 76,
  /** In slot 0, after the magic. */
  mounts: 8,
  socket: 16,
} as const;

export const ENDS_PREFIX = '/dev/shm/weft-ends-';

/** Whose file this is: a path means something in its mount namespace only. */
export interface EndsOwner {
  readonly mounts: number;
  readonly socketPath: string;
}

/** Returns null when of an older launcher, which does not say, or no such file. */
export function ownerIn(bytes: Buffer): EndsOwner | null {
  if (bytes.length < SLOT_BYTES || bytes.readBigUInt64LE(AT.id) !== MAGIC) return null;
  const text = bytes.toString('utf8', AT.socket, SLOT_BYTES);
  const socketPath = text.slice(0, text.indexOf('\0'));
  const mounts = Number(bytes.readBigUInt64LE(AT.mounts));
  return mounts === 0 || !socketPath.startsWith('/') ? null : { mounts, socketPath };
}

/** 0: not known. */
export function mountNamespace(): number {
  return statSync('/proc/self/ns/mnt', { throwIfNoEntry: false })?.ino ?? 0;
}

export class Ends {
  readonly #socketPath: string;
  readonly #path: string;
  /** -1 where there is none: nothing is noted then. */
  #file: number;
  #used = 0;
  readonly #free: number[] = [];
  readonly #slots = new Map<bigint, number>();

  /** Beside the socket is the secret that the file is named by, as with the C launcher. */
  constructor(socketPath: string) {
    const secret = readSecret(`${socketPath}.lock`);
    this.#socketPath = socketPath;
    this.#path = `${ENDS_PREFIX}${secret}`;
    this.#file = secret === null ? -1 : openOwn(this.#path);
  }

  /** What the launcher before left. */
  take(): Map<bigint, NotedEnd> {
    const found = new Map<bigint, NotedEnd>();
    if (this.#file === -1) return found;
    if (this.#read(0)?.readBigUInt64LE(AT.id) !== MAGIC) {
      this.#begin();
      return found;
    }
    this.#write(0, this.#head());
    while (this.#used < SLOTS_MAX) {
      const bytes = this.#read(this.#used + 1);
      if (bytes === null) return found;
      this.#used += 1;
      const id = bytes.readBigUInt64LE(AT.id);
      if (id === 0n || found.has(id)) this.#free.push(this.#used);
      else {
        found.set(id, endIn(bytes));
        this.#slots.set(id, this.#used);
      }
    }
    return found;
  }

  /** Before anybody is told of the end. */
  note(id: bigint, end: NotedEnd): void {
    if (this.#file === -1) return;
    if (this.#free.length === 0 && this.#used >= SLOTS_MAX) return;
    const slot = this.#free.pop() ?? ++this.#used;
    const bytes = Buffer.alloc(SLOT_BYTES);
    bytes.writeBigUInt64LE(id, AT.id);
    bytes.writeBigUInt64LE(end.startTicks, AT.startTicks);
    bytes.writeBigUInt64LE(end.startedAt, AT.startedAt);
    bytes.writeBigUInt64LE(end.endedAt, AT.endedAt);
    bytes.writeBigUInt64LE(BigInt(end.endedTicks), AT.endedTicks);
    bytes.writeUInt32LE(end.status, AT.status);
    bytes.writeUInt32LE(end.why, AT.why);
    bytes.writeUInt32LE(end.pid, AT.pid);
    bytes.writeUInt32LE(end.uid, AT.uid);
    if (this.#write(slot, bytes)) this.#slots.set(id, slot);
    else this.#free.push(slot);
  }

  forget(id: bigint): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    if (this.#write(slot, Buffer.alloc(8))) this.#free.push(slot);
  }

  /** What ends from now on is noted no more, as it is ended by force. */
  close(): void {
    if (this.#file === -1) return;
    if (this.#slots.size === 0) rmSync(this.#path, { force: true });
    closeSync(this.#file);
    this.#file = -1;
  }

  #begin(): void {
    ftruncateSync(this.#file, 0);
    if (!this.#write(0, this.#head())) this.close();
  }

  #head(): Buffer {
    const head = Buffer.alloc(SLOT_BYTES);
    head.writeBigUInt64LE(MAGIC, AT.id);
    head.writeBigUInt64LE(BigInt(mountNamespace()), AT.mounts);
    head.write(this.#socketPath, AT.socket, SLOT_BYTES - AT.socket - 1);
    return head;
  }

  /** Null where the file ends. */
  #read(slot: number): Buffer | null {
    const bytes = Buffer.alloc(SLOT_BYTES);
    const count = readSync(this.#file, bytes, 0, SLOT_BYTES, slot * SLOT_BYTES);
    return count === SLOT_BYTES ? bytes : null;
  }

  /** False when there is no memory left: as if there were no file. */
  #write(slot: number, bytes: Buffer): boolean {
    if (this.#file === -1) return false;
    try {
      return writeSync(this.#file, bytes, 0, bytes.length, slot * SLOT_BYTES) === bytes.length;
    } catch {
      return false;
    }
  }
}

function endIn(bytes: Buffer): NotedEnd {
  return {
    pid: bytes.readUInt32LE(AT.pid),
    uid: bytes.readUInt32LE(AT.uid),
    startTicks: bytes.readBigUInt64LE(AT.startTicks),
    startedAt: bytes.readBigUInt64LE(AT.startedAt),
    endedAt: bytes.readBigUInt64LE(AT.endedAt),
    endedTicks: Number(bytes.readBigUInt64LE(AT.endedTicks)),
    status: bytes.readUInt32LE(AT.status),
    why: bytes.readUInt32LE(AT.why),
  };
}

const SAFE = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

/** Null where it can be neither read nor written. */
function readSecret(lockPath: string): string | null {
  try {
    const lock = openSync(lockPath, SAFE, 0o600);
    try {
      const bytes = Buffer.alloc(SECRET_LENGTH + 1);
      const text = bytes.toString('latin1', 0, readSync(lock, bytes, 0, bytes.length, 0));
      if (/^[0-9a-f]{32}$/.test(text)) return text;
      const made = randomBytes(SECRET_LENGTH / 2).toString('hex');
      ftruncateSync(lock, 0);
      return writeSync(lock, made, 0) === SECRET_LENGTH ? made : null;
    } finally {
      closeSync(lock);
    }
  } catch {
    return null; // A full disk: ends are noted nowhere, and processes start all the same.
  }
}

/** -1 where there is no shared memory, or something of somebody else. */
function openOwn(path: string): number {
  try {
    const file = openSync(path, SAFE, 0o600);
    const found = fstatSync(file);
    if (found.isFile() && found.uid === process.geteuid?.()) return file;
    closeSync(file);
    return -1;
  } catch {
    return -1;
  }
}
