// Values in files of /dev/shm that have no name: others of the same user find them by the process
// that has them open, and they are gone with it, however it ends.

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { CALL_INLINE_BYTES_MAX } from '../../../kernel/model/limits.ts';
import type { NearBytes, NearFile, NearFiles, NearValue, PassedValue } from '../core/near.ts';
import { HOST_HEADER } from '../model/host.ts';

const SHARED_MEMORY = '/dev/shm';
/** A flag of Linux; Node has no name for it. */
const O_TMPFILE = 0o20200000;
const { O_RDONLY, O_RDWR, O_NONBLOCK, O_NOCTTY } = constants;
const ANEW = O_TMPFILE | O_RDWR;
const NOTHING = new Uint8Array();
/** Values are copied in one turn of the event loop; this one takes about five milliseconds. */
const VALUE_BYTES_MAX = 16 * 1_048_576;
/** All at once: it counts against the memory of a worker's task. */
const BYTES_MAX = 32 * 1_048_576;
const OFFERS_MAX = 32;
/** Files of others that are held open; a process may have a thousand. */
const HELD_MAX = 256;

/** An empty file into which another process of this user may write one value. */
export interface Room {
  readonly file: string;
  /** What was written; it outlives the writer. Null: it is not so long, or longer than allowed. */
  filled(length: number): PassedValue | null;
  close(): void;
}

export class NearMemory implements NearBytes, NearFiles {
  /** Files of others that this process holds open. */
  #held = 0;
  /** Others that say the same find what is offered here; null: nobody does. */
  #host: string | null = hostOf();
  #bytes = 0;
  #count = 0;

  get host(): string | null {
    return this.#host;
  }

  /** For the handshake of the next line. */
  get headers(): Readonly<Record<string, string>> {
    return this.#host === null ? {} : { [HOST_HEADER]: this.#host };
  }

  offer(bytes: Uint8Array): NearValue | null {
    const { length } = bytes;
    const isRoom = this.#bytes + length <= BYTES_MAX && this.#count < OFFERS_MAX;
    if (!isRoom || length > VALUE_BYTES_MAX) return null;
    const fd = written(bytes);
    if (fd === null) return null;
    this.#bytes += length;
    this.#count += 1;
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#bytes -= length;
      this.#count -= 1;
      closeSync(fd);
    };
    return { file: nameOf(fd), close };
  }

  /** Null: there is no such memory. */
  room(): Room | null {
    const fd = written(NOTHING);
    if (fd === null) return null;
    return {
      file: nameOf(fd),
      filled: (length) => {
        const isValue = length <= VALUE_BYTES_MAX && fstatSync(fd).size === length;
        return isValue ? this.#keep(fd, length) : null;
      },
      close: () => closeSync(fd),
    };
  }

  read(file: string, into: Uint8Array): boolean {
    if (readInto(file, into)) return true;
    this.#distrust();
    return false;
  }

  open(file: string, length: number): PassedValue | null {
    const fd = opened(file, length, O_RDONLY);
    if (fd !== null) return this.#keep(fd, length);
    this.#distrust();
    return null;
  }

  #keep(fd: number, length: number): PassedValue {
    if (this.#held >= HELD_MAX || length <= CALL_INLINE_BYTES_MAX) return readAll(fd, length);
    this.#held += 1;
    return held(fd, length, () => {
      this.#held -= 1;
    });
  }

  /** The next line is one over which values go: this machine is not what it seemed to be. */
  #distrust(): void {
    this.#host = null;
  }
}

/** Which memory this process shares with that one; empty: none of which it can see files. */
export function hostWith(pid: number): string {
  try {
    readdirSync(`/proc/${pid}/fd`);
  } catch {
    return '';
  }
  return hostOf() ?? '';
}

/** Null: the value is not there, or there is no memory for it. */
export function readValue(file: string, length: number): Buffer | null {
  const fd = opened(file, length, O_RDONLY);
  if (fd === null) return null;
  try {
    return readAll(fd, length);
  } catch (error) {
    if (!(error instanceof RangeError)) nothing(error);
    return null;
  }
}

/** Writes a value into a room of another process. False: the memory is full, or not there. */
export function fillRoom(file: string, bytes: Uint8Array): boolean {
  if (bytes.length > VALUE_BYTES_MAX) return false;
  const fd = opened(file, 0, O_RDWR);
  if (fd === null) return false;
  try {
    writeAll(fd, bytes);
    return true;
  } catch (error) {
    // What was written of it would take the room of others.
    ftruncateSync(fd);
    return nothing(error);
  } finally {
    closeSync(fd);
  }
}

/** By what others find it: the number of a descriptor is used again, that of a file is not. */
function nameOf(fd: number): string {
  return `${process.pid}.${fd}.${fstatSync(fd).ino}`;
}

/** What has been opened, until the last of its holders closes it. */
function held(fd: number, length: number, onClosed: () => void): NearFile {
  const file = nameOf(fd);
  let holders = 0;
  const lend = (): NearValue => {
    let isOpen = true;
    holders += 1;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      holders -= 1;
      if (holders > 0) return;
      closeSync(fd);
      onClosed();
    };
    return { file, close };
  };
  return { ...lend(), length, lend, bytes: () => filled(fd, length) };
}

function filled(fd: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  // Nobody writes there any more: what was whole once stays so.
  if (!isFilled(fd, bytes)) throw new Error('a value in memory has lost bytes');
  return bytes;
}

function readAll(fd: number, length: number): Buffer {
  try {
    return filled(fd, length);
  } finally {
    closeSync(fd);
  }
}

/** Null: the memory is full, or is no such file system. */
function written(bytes: Uint8Array): number | null {
  let fd: number | null = null;
  try {
    fd = openSync(SHARED_MEMORY, ANEW, 0o600);
    writeAll(fd, bytes);
    return fd;
  } catch (error) {
    if (fd !== null) closeSync(fd);
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return null;
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
}

function readInto(file: string, into: Uint8Array): boolean {
  const fd = opened(file, into.length, O_RDONLY);
  if (fd === null) return false;
  try {
    return isFilled(fd, into);
  } catch (error) {
    return nothing(error);
  } finally {
    closeSync(fd);
  }
}

/** Null: it is not there, or is no such value. */
function opened(file: string, length: number, mode: number): number | null {
  const [, pid, descriptor, ino] = /^(\d+)\.(\d+)\.(\d+)$/.exec(file) ?? [];
  if (pid === undefined || length > VALUE_BYTES_MAX) return null;
  const path = `/proc/${pid}/fd/${descriptor}`;
  const isIt = (status: Stats): boolean =>
    isValue(status) && String(status.ino) === ino && status.size === length;
  try {
    // Looked at before it is opened: to open a device or a pipe of that process would do something.
    if (!isIt(statSync(path))) return null;
    const fd = openSync(path, mode | O_NONBLOCK | O_NOCTTY);
    if (isIt(fstatSync(fd))) return fd;
    closeSync(fd);
    return null;
  } catch (error) {
    nothing(error);
    return null;
  }
}

/** What the system refuses is not there; anything else is a bug. */
function nothing(error: unknown): false {
  if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  return false;
}

function isFilled(fd: number, into: Uint8Array): boolean {
  for (let at = 0; at < into.length; ) {
    const count = readSync(fd, into, at, into.length - at, at);
    if (count === 0) return false;
    at += count;
  }
  return true;
}

/** A file without a name, in the memory that is shared, of this process's own user. */
function isValue(status: Stats): boolean {
  const isShared = status.dev === statSync(SHARED_MEMORY).dev;
  return status.isFile() && isShared && status.nlink === 0 && status.uid === process.getuid?.();
}

/** The same for processes of one user that see each other, and the same memory, on one machine. */
function hostOf(): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const processes = readlinkSync('/proc/self/ns/pid');
    const { dev } = statSync(SHARED_MEMORY);
    const said = [boot, processes, dev, process.getuid?.()].join(' ');
    return createHash('sha256').update(said).digest('hex');
  } catch {
    // Another system, or a container without it.
    return null;
  }
}
