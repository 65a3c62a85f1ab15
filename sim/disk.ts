// The disk of one simulated node: files, directories and the agent's journal. It outlives agents
// and power cuts; writes of an agent that is gone do not reach it.

import type { Files } from '../src/kernel/ports/files.ts';
import type { JournalFile } from '../src/kernel/ports/journal-file.ts';
import type { Life } from './clock.ts';

export class SimDisk {
  readonly files = new Map<string, Buffer>();
  readonly directories = new Set<string>();
  readonly journal = new Bytes();
  /** Nothing can be added to it, but for what is left of the journal's reserve. */
  isFull = false;
  reserveBytes = 0;

  get freeBytes(): number {
    return this.isFull ? 0 : 2 ** 40;
  }

  /** `reserveBytes` of the journal's own are left. */
  fill(reserveBytes: number): void {
    this.isFull = true;
    this.reserveBytes = reserveBytes;
  }

  /** For what is not in the journal's reserve. */
  checkRoom(): void {
    if (this.isFull) throw new Error('ENOSPC: no space left on device');
  }

  /** A new installation: nothing is left. */
  wipe(): void {
    this.isFull = false;
    this.files.clear();
    this.directories.clear();
    this.journal.replace(new Uint8Array(0));
  }

  /** What is written from now on is on one of them only. */
  copied(): SimDisk {
    const copy = new SimDisk();
    for (const [path, bytes] of this.files) copy.files.set(path, Buffer.from(bytes));
    for (const path of this.directories) copy.directories.add(path);
    copy.journal.replace(this.journal.read());
    copy.isFull = this.isFull;
    copy.reserveBytes = this.reserveBytes;
    return copy;
  }

  append(path: string, text: string): void {
    const before = this.files.get(path) ?? Buffer.alloc(0);
    this.files.set(path, Buffer.concat([before, Buffer.from(text)]));
  }

  list(path: string): string[] {
    const names = new Set<string>();
    for (const one of [...this.directories, ...this.files.keys()]) {
      if (!one.startsWith(`${path}/`)) continue;
      names.add(one.slice(path.length + 1).split('/')[0] as string);
    }
    return [...names];
  }

  removeTree(path: string): void {
    for (const one of [...this.directories]) {
      if (one === path || one.startsWith(`${path}/`)) this.directories.delete(one);
    }
    for (const one of [...this.files.keys()]) {
      if (one.startsWith(`${path}/`)) this.files.delete(one);
    }
  }
}

/** The content of a file that is written at its end again and again. */
class Bytes {
  /** Longer than the content, so that it is not copied for each write. */
  #room = Buffer.alloc(0);
  #length = 0;

  read(): Uint8Array {
    return Uint8Array.from(this.#room.subarray(0, this.#length));
  }

  replace(bytes: Uint8Array): void {
    this.#room = Buffer.from(bytes);
    this.#length = bytes.length;
  }

  /** Puts bytes in place of all from `offset` on, which is at most the length of the content. */
  write(offset: number, bytes: Uint8Array): void {
    const end = offset + bytes.length;
    if (end > this.#room.length) {
      const more = Buffer.alloc(2 * end);
      this.#room.copy(more, 0, 0, offset);
      this.#room = more;
    }
    this.#room.set(bytes, offset);
    this.#length = end;
  }
}

/** The Files port of one agent's life on the disk. */
export function filesOf(disk: SimDisk, life: Life): Files {
  const whileAlive = (work: () => void): void => {
    if (life.alive) work();
  };
  return {
    makeDirectory: (path) =>
      whileAlive(() => {
        if (!disk.directories.has(path)) disk.checkRoom();
        disk.directories.add(path);
      }),
    writeFile: (path, text) =>
      whileAlive(() => {
        disk.checkRoom();
        disk.files.set(path, Buffer.from(text));
      }),
    size: (path) => disk.files.get(path)?.length ?? null,
    look: (path) => {
      const file = disk.files.get(path);
      return file === undefined ? null : { size: file.length, isPrivate: true };
    },
    read: (path, _uid, offset, bytesMax) =>
      Uint8Array.from(disk.files.get(path)?.subarray(offset, offset + bytesMax) ?? []),
    empty(path) {
      whileAlive(() => {
        if (disk.files.has(path)) disk.files.set(path, Buffer.alloc(0));
      });
      return true;
    },
    emptyFrom: async (path, _uid, offset, _keep) =>
      whileAlive(() => {
        disk.files.get(path)?.fill(0, offset);
      }),
    removeFile: (path) => whileAlive(() => disk.files.delete(path)),
    removeTree: async (path) => whileAlive(() => disk.removeTree(path)),
    list: (path) => disk.list(path),
  };
}

/** Where an agent dies while it writes its journal. */
export type JournalCrash = 'none' | 'before' | 'torn' | 'after';

/** The agent's journal; `crashNow` is asked at each append and has ended the life if it says so. */
export function journalOf(disk: SimDisk, life: Life, crashNow: () => JournalCrash): JournalFile {
  return {
    read: () => disk.journal.read(),
    write(offset, bytes) {
      if (!life.alive) return;
      if (disk.reserveBytes < bytes.length) disk.checkRoom();
      disk.reserveBytes -= bytes.length;
      const crash = crashNow();
      if (crash === 'before') return;
      const length = crash === 'torn' ? Math.floor(bytes.length / 2) : bytes.length;
      disk.journal.write(offset, bytes.subarray(0, length));
    },
    replace(bytes) {
      if (!life.alive) return;
      disk.checkRoom();
      disk.journal.replace(bytes);
    },
    hasRoom: () => !disk.isFull,
    close: () => undefined,
  };
}
