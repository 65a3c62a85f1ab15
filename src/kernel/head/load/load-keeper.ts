// Looks at the cluster every few seconds and keeps what it sees for the curves of the page. A file
// beside the store has it over restarts: the minutes without a head are a gap, and what is lost of
// the last minute when a head is killed is lost.

import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LoadPoint } from '../../api/cluster.ts';
import type { State } from '../../machine/state.ts';
import type { Clock, Timer } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Engine } from '../engine.ts';
import type { Committed } from '../engine-options.ts';
import { ENDS_MS, LoadBook, type LoadSample, readLoad } from './load-book.ts';

const LOOK_MS = 5000;
const WRITE_MS = 60_000;
/** A file of ours is a tenth of it. */
const FILE_BYTES_MAX = 1_048_576;

export interface LoadParts {
  readonly engine: Pick<Engine, 'state' | 'isReadable'>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Log;
  /** The head's state. */
  readonly directory: string;
  /** What there is to see. */
  readonly look: (state: State) => LoadSample;
}

export class LoadKeeper {
  readonly #parts: LoadParts;
  readonly #file: string;
  #book: LoadBook;
  #timer: Timer | null = null;
  #writtenAt: number;
  #writing: Promise<void> = Promise.resolve();
  /** The last write failed, and that was said. */
  #isFailing = false;

  private constructor(parts: LoadParts, book: LoadBook) {
    this.#parts = parts;
    this.#file = fileIn(parts.directory);
    this.#book = book;
    this.#writtenAt = parts.clock.now();
  }

  /** Goes on with what the head before has left. */
  static async start(parts: LoadParts): Promise<LoadKeeper> {
    const { clock, engine, log } = parts;
    const now = clock.now();
    const text = await readText(fileIn(parts.directory));
    const kept = text === null ? null : readLoad(text);
    if (text !== null && kept === null)
      log.warn({ file: fileIn(parts.directory) }, 'the history of the load cannot be read');
    const book = new LoadBook(now - ENDS_MS, kept);
    // Of a clock that was set back since then nothing is left uncounted.
    const since = Math.min(book.countedUntil, now);
    for (const { endedAt, outcome } of engine.state.jobs.values()) {
      if (endedAt !== null && endedAt > since && outcome !== null)
        book.ended(endedAt, outcome.kind);
    }
    const keeper = new LoadKeeper(parts, book);
    keeper.#look();
    return keeper;
  }

  points(now: number): LoadPoint[] {
    return this.#book.points(now);
  }

  ends(now: number): Record<string, number> {
    return this.#book.ends(now);
  }

  committed({ at, events }: Omit<Committed, 'history'>): void {
    for (const event of events) {
      if (event.kind === 'job_done') this.#book.ended(at, event.outcome.kind);
    }
  }

  /** Resolves when what is known is written. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#write();
    await this.#writing;
  }

  #look(): void {
    const { clock, engine, look } = this.#parts;
    const now = clock.now();
    // While the store is read again nobody knows.
    if (engine.isReadable) this.#book.look(now, look(engine.state));
    if (Math.abs(now - this.#writtenAt) >= WRITE_MS) this.#write();
    this.#timer = clock.after(LOOK_MS, () => this.#look());
  }

  #write(): void {
    const { clock, log } = this.#parts;
    this.#writtenAt = clock.now();
    const text = JSON.stringify(this.#book.kept());
    this.#writing = this.#writing
      .then(() => replace(this.#file, text))
      .then(
        () => {
          this.#isFailing = false;
        },
        (error: Error) => {
          // A full disk is said once, and by others louder.
          if (!this.#isFailing)
            log.warn({ error: error.message }, 'the history of the load cannot be kept');
          this.#isFailing = true;
        },
      );
  }
}

function fileIn(directory: string): string {
  return path.join(directory, 'load.json');
}

/** Returns null when there is none, or none of ours. */
async function readText(file: string): Promise<string | null> {
  try {
    const text = await readFile(file, 'utf8');
    return text.length > FILE_BYTES_MAX ? '' : text;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : '';
  }
}

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
