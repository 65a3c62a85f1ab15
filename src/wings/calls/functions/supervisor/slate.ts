// The slate of a child, as its supervisor has it: a file without a name that both have open.

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from '../child/frames.ts';
import { readSlate, SLATE_BYTES } from '../child/slate.ts';
import { ANEW, SHARED_MEMORY } from '../near-memory.ts';

export class Slate {
  /** For the child. */
  readonly fd: number;
  readonly #bytes = Buffer.alloc(SLATE_BYTES);
  #isOpen = true;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** In memory; where there is none that has files, or no room, in this folder. */
  static open(folder: string): Slate | Error {
    const inMemory = opened(() => openSync(SHARED_MEMORY, ANEW, 0o600));
    const fd = typeof inMemory === 'number' ? inMemory : opened(() => nameless(folder));
    return typeof fd === 'number' ? new Slate(fd) : fd;
  }

  read(): Frame[] {
    if (!this.#isOpen) return [];
    const length = readSync(this.fd, this.#bytes, 0, SLATE_BYTES, 0);
    return readSlate(this.#bytes.subarray(0, length));
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.fd);
  }
}

function nameless(folder: string): number {
  const file = join(folder, `slate-${randomUUID()}`);
  const fd = openSync(file, 'wx+', 0o600);
  unlinkSync(file);
  return fd;
}

/** With all its room: later the child cannot say that there is none. */
function opened(open: () => number): number | Error {
  let fd: number | null = null;
  try {
    fd = open();
    if (writeSync(fd, Buffer.alloc(SLATE_BYTES)) === SLATE_BYTES) return fd;
    closeSync(fd);
    return new Error('no space left for what calls note');
  } catch (error) {
    if (fd !== null) closeSync(fd);
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EMFILE' ? new Error('too many files are open') : (error as Error);
  }
}
