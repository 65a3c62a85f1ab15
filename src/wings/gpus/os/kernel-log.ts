// The kernel's log, record by record (/dev/kmsg, dev-kmsg in the kernel's documents). It is read
// without waiting; where this program may not read it, it is empty.

import { closeSync, constants, openSync, readSync } from 'node:fs';

const FILE = '/dev/kmsg';
/** The kernel hands out one record a read, and no longer one. */
const RECORD_BYTES_MAX = 8192;
/** In one go: more than the ring of the kernel holds of records with words. */
const RECORDS_MAX = 100_000;

export class KernelLog {
  #descriptor: number | null | undefined;

  /** Records since the last call, at first all that there are. */
  read(): string[] {
    if (this.#descriptor === undefined) this.#descriptor = open();
    if (this.#descriptor === null) return [];
    const buffer = Buffer.alloc(RECORD_BYTES_MAX);
    const lines: string[] = [];
    for (let count = 0; count < RECORDS_MAX; count += 1) {
      const record = readOne(this.#descriptor, buffer);
      if (record === 'end') break;
      if (record === 'broken') {
        closeSync(this.#descriptor);
        this.#descriptor = null;
        break;
      }
      if (record.startsWith('lost')) continue;
      lines.push(record.slice(record.indexOf(';') + 1).trimEnd());
    }
    return lines;
  }
}

function open(): number | null {
  try {
    return openSync(FILE, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null; // Only root may, or there is none in this container.
  }
}

/** `lost`: records were written over before they were read; the next ones follow. */
function readOne(descriptor: number, buffer: Buffer): string {
  try {
    return buffer.toString('utf8', 0, readSync(descriptor, buffer)) || 'end';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return 'end';
    return code === 'EPIPE' ? 'lost' : 'broken';
  }
}
