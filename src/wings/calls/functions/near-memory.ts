// Values in files of /dev/shm that have no name: others of the same user find them by the process
// that has them open, and they are gone with it, however it ends.

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import type { NearBytes, NearValue } from '../core/near.ts';
import { HOST_HEADER } from '../model/host.ts';

const SHARED_MEMORY = '/dev/shm';
/** A flag of Linux; Node has no name for it. */
const O_TMPFILE = 0o20200000;
const ANEW = O_TMPFILE | constants.O_RDWR;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** Values are copied in one turn of the event loop; this one takes about five milliseconds. */
const VALUE_BYTES_MAX = 16 * 1_048_576;
/** All at once: it counts against the memory of a worker's task. */
const BYTES_MAX = 32 * 1_048_576;
const OFFERS_MAX = 32;

export class NearMemory implements NearBytes {
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
    // The number of a descriptor is used again, that of a file is not.
    return { file: `${process.pid}.${fd}.${fstatSync(fd).ino}`, close };
  }

  read(file: string, into: Uint8Array): boolean {
    if (readInto(file, into)) return true;
    // The next line is one over which values go: this machine is not what it seemed to be.
    this.#host = null;
    return false;
  }
}

/** Null: the memory is full, or is no such file system. */
function written(bytes: Uint8Array): number | null {
  let fd: number | null = null;
  try {
    fd = openSync(SHARED_MEMORY, ANEW, 0o600);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
    return fd;
  } catch (error) {
    if (fd !== null) closeSync(fd);
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return null;
  }
}

function readInto(file: string, into: Uint8Array): boolean {
  const [, pid, descriptor, ino] = /^(\d+)\.(\d+)\.(\d+)$/.exec(file) ?? [];
  if (pid === undefined) return false;
  const path = `/proc/${pid}/fd/${descriptor}`;
  const isIt = (status: Stats): boolean =>
    isValue(status) && String(status.ino) === ino && status.size === into.length;
  try {
    // Looked at before it is opened: to open a device or a pipe of that process would do something.
    if (!isIt(statSync(path))) return false;
    const fd = openSync(path, READ);
    try {
      return isIt(fstatSync(fd)) && isFilled(fd, into);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return false;
  }
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
