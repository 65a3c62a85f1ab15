// Which outputs lie in segments, and how they come there: at once when an output comes whole, and
// with its end when it came in pieces, which until then are a file of its own.

import { readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { SMALL_OUTPUT_BYTES_MAX } from '../../../model/limits.ts';
import type { LogBudget } from '../log-budget.ts';
import { type LogPlace, logPath } from '../log-path.ts';
import { type Segments, type SmallOutput, segmentPath } from './segments.ts';

/** What the head knows of an output in memory, as far as it matters here. */
export interface SmallFile {
  /** -1: the disk has to be asked first. */
  size: number;
  ended: boolean;
  movedAt: number;
  readonly tailSize: number;
  readonly dropped: number;
  /** The output lies whole in the segment of its job. */
  isSmall: boolean;
  /** The file has a second name under which it is still written, so it has to stay a file. */
  isLinked: boolean;
}

interface WholePiece {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly end: boolean;
  readonly dropped: number;
  readonly tail?: Uint8Array;
}

export interface SmallOutputsOptions {
  readonly directory: string;
  readonly fileBytesMax: number;
  readonly segments: Segments;
  readonly budget: Pick<LogBudget, 'add'>;
}

export class SmallOutputs {
  readonly #options: SmallOutputsOptions;
  readonly #bytesMax: number;

  constructor(options: SmallOutputsOptions) {
    this.#options = options;
    this.#bytesMax = Math.min(SMALL_OUTPUT_BYTES_MAX, options.fileBytesMax);
  }

  /** Returns null when it is a file of its own, or there is none. */
  async find(log: LogPlace): Promise<SmallOutput | null> {
    const found = await this.#options.segments.find(log);
    return found === null || found.length === 0 ? null : found;
  }

  /** What an earlier head has kept. */
  async recall(log: LogPlace, file: SmallFile): Promise<void> {
    const found = await this.#options.segments.find(log);
    if (found === null) return;
    if (found.length === 0) {
      file.isLinked = true;
      return;
    }
    become(file, found.length);
    // Of a head that was killed before it removed what it had moved here.
    await rm(this.#pathOf(log), { force: true });
  }

  /** Keeps the output if it is small and all of it is there. False: it belongs into a file. */
  async take(log: LogPlace, file: SmallFile, piece: WholePiece): Promise<boolean> {
    const { offset, bytes, end, dropped, tail } = piece;
    const isWhole = end && offset === 0 && dropped === 0 && tail === undefined;
    if (!isWhole || file.size > 0 || !this.#fits(log, file, bytes.length)) return false;
    await this.#append(log, bytes);
    become(file, bytes.length);
    return true;
  }

  /** An output that came in pieces has ended: a small one needs no file any more. */
  async fold(log: LogPlace, file: SmallFile): Promise<void> {
    const { size, dropped, tailSize } = file;
    if (dropped > 0 || tailSize > 0 || !this.#fits(log, file, size)) return;
    const own = this.#pathOf(log);
    // One with a second name goes on there.
    if ((await stat(own)).nlink > 1) return;
    const bytes = await readFile(own);
    if (bytes.length !== size) return;
    await this.#append(log, bytes);
    become(file, size);
    await rm(own);
    this.#options.budget.add(logPath(log), -size);
  }

  /** A second name is about to be made: what is still to come has to go there, whoever runs. */
  async keepFile(log: LogPlace, file: SmallFile): Promise<void> {
    if (file.isLinked || log.place.index === null) return;
    await this.#append(log, new Uint8Array());
    file.isLinked = true;
  }

  #pathOf(log: LogPlace): string {
    return path.join(this.#options.directory, logPath(log));
  }

  #fits({ place }: LogPlace, { isLinked }: SmallFile, bytes: number): boolean {
    return place.index !== null && !isLinked && bytes > 0 && bytes <= this.#bytesMax;
  }

  async #append(log: LogPlace, bytes: Uint8Array): Promise<void> {
    const { segments, budget } = this.#options;
    budget.add(segmentPath(log.place.jobId), await segments.append(log, bytes));
  }
}

function become(file: SmallFile, size: number): void {
  file.size = size;
  file.isSmall = true;
  file.ended = true;
  file.movedAt = Date.now();
}
