// Keeps captured output on this node within bounds: of each file no more than the head will take,
// and of all files together so much that no new work is taken beyond it.

import type { Clock, Timer } from '../ports/clock.ts';
import type { Files } from '../ports/files.ts';
import type { Log } from '../ports/log.ts';
import { tailBytesOf } from './tail.ts';

/** A captured file, and whose it must be; null = anybody's. */
export interface Spooled {
  readonly path: string;
  readonly uid: number | null;
}

export interface SpoolWorld {
  readonly clock: Clock;
  readonly files: Files;
  readonly log: Log;
  readonly all: () => Iterable<Spooled>;
  /** Bytes of all files together. */
  readonly bytesMax: number;
}

/** A program that writes a GB a second fills no more than this and its limit. */
const LOOK_EVERY_MS = 1000;
/** Bytes beyond the limit that are left alone: no system call for the last line. */
const SLACK_BYTES = 1_048_576;

export class Spool {
  readonly #world: SpoolWorld;
  #timer: Timer | null = null;
  #fileBytesMax = Number.POSITIVE_INFINITY;
  #bytes = 0;
  /** Files whose room is being given back at this moment. */
  readonly #releasing = new Set<string>();

  constructor(world: SpoolWorld) {
    this.#world = world;
  }

  /** Tasks that run may add to it, up to the limit of each file. */
  get isFull(): boolean {
    return this.#bytes > this.#world.bytesMax;
  }

  /** What the head keeps of one file; holds also while it is away. */
  limitFiles(bytesMax: number): void {
    this.#fileBytesMax = bytesMax;
  }

  start(): void {
    this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    let bytes = 0;
    for (const file of this.#world.all()) bytes += this.#bound(file);
    this.#bytes = bytes;
    this.#timer = this.#world.clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  /** How much of the file counts: what is beyond the limit is not kept on the disk. */
  #bound({ path, uid }: Spooled): number {
    const { files, log } = this.#world;
    const limit = this.#fileBytesMax;
    const size = files.size(path) ?? 0;
    if (size <= limit + SLACK_BYTES) return size;
    if (this.#releasing.has(path)) return limit;
    this.#releasing.add(path);
    const done = (): boolean => this.#releasing.delete(path);
    files.emptyFrom(path, uid, limit, tailBytesOf(limit)).then(done, (error: unknown) => {
      done();
      log.warn({ error, path }, 'output beyond the limit could not be released');
    });
    return limit;
  }
}
