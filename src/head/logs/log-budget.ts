// Keeps captured output within a total: when it is passed, output of the oldest done jobs goes, and
// a note of which jobs those were stays.

import { opendir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { IntervalSet } from '../../core/base/interval-set.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Log } from '../../ports/log.ts';
import { KeptTotal } from '../kept-total.ts';
import { bucketOf, JOBS_PER_BUCKET } from './log-path.ts';

/** Make room down to this share, so that the next byte does not begin the search again. */
const TARGET_SHARE = 0.9;
/** In each bucket: the ids of the jobs whose output was removed, as `1-17,20`. */
const NOTE = 'removed';

export interface LogBudgetOptions {
  readonly directory: string;
  readonly bytesMax: number;
  readonly isDone: (jobId: number) => boolean;
  /** Called with each file that is about to go, as a path from `directory`. */
  readonly onRemove: (relative: string) => void;
  readonly log: Log;
}

export class LogBudget {
  readonly #options: LogBudgetOptions;
  readonly #total: KeptTotal;
  #isKnown = true;
  #isClosing = false;
  #making: Promise<void> | null = null;

  constructor(options: LogBudgetOptions) {
    this.#options = options;
    this.#total = new KeptTotal({ ...options, what: 'output' });
  }

  /** Reads what the last head has left: one file, however many there are. */
  async prepare(): Promise<void> {
    this.#isKnown = await this.#total.read();
  }

  /** To be called when the head serves: now there is time to look at files, should it be needed. */
  begin(): void {
    if (this.#isKnown) this.#makeRoomIfNeeded();
    else this.#work(() => this.#count());
  }

  add(bytes: number): void {
    this.#total.add(bytes);
    this.#makeRoomIfNeeded();
  }

  /** Stops what looks at files between two jobs. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#making;
    await this.#total.close();
  }

  async jobIdSeen(): Promise<number> {
    const buckets = await numbersIn(this.#options.directory);
    const newest = buckets.at(-1);
    return newest === undefined ? 0 : (Number(newest) + 1) * JOBS_PER_BUCKET - 1;
  }

  async wasRemoved(jobId: number): Promise<boolean> {
    return (await this.#readNote(bucketOf(jobId as JobId))).has(jobId);
  }

  #makeRoomIfNeeded(): void {
    if (this.#total.bytes > this.#options.bytesMax) this.#work(() => this.#makeRoom());
  }

  /** One thing at a time, and beside everything else. */
  #work(work: () => Promise<void>): void {
    if (this.#making !== null) return;
    const { log } = this.#options;
    this.#making = work()
      .catch((error: unknown) => log.warn({ error: String(error) }, 'cannot remove old output'))
      .finally(() => {
        this.#making = null;
      });
  }

  /** What lies on the disk. Output that comes meanwhile may count twice, never not at all. */
  async #count(): Promise<void> {
    const since = this.#total.bytes;
    let bytes = 0;
    for (const bucket of await numbersIn(this.#options.directory)) {
      for (const job of await numbersIn(this.#path(bucket))) {
        if (this.#isClosing) return;
        bytes += await bytesIn(this.#path(bucket, job));
      }
    }
    this.#total.counted(bytes, since);
    this.#isKnown = true;
    if (this.#total.bytes > this.#options.bytesMax) await this.#makeRoom();
  }

  async #makeRoom(): Promise<void> {
    // Nothing is removed on a guess.
    if (!this.#total.isExact) return this.#count();
    const goal = this.#options.bytesMax * TARGET_SHARE;
    for (const bucket of await numbersIn(this.#options.directory)) {
      for (const job of await numbersIn(this.#path(bucket))) {
        if (this.#total.bytes <= goal || this.#isClosing) return;
        if (this.#options.isDone(Number(job))) await this.#remove(bucket, job);
      }
    }
    const { bytesMax, log } = this.#options;
    const fields = { bytes: this.#total.bytes, bytesMax };
    if (fields.bytes > bytesMax)
      log.warn(fields, 'the output of unfinished jobs exceeds head.log_total');
  }

  /** The note first: output that is gone must never look like a program that said nothing. */
  async #remove(bucket: string, job: string): Promise<void> {
    const removed = await this.#readNote(bucket);
    removed.add(Number(job));
    await writeFile(this.#path(bucket, NOTE), removed.toString(), { mode: 0o600 });
    const bytes = await bytesIn(this.#path(bucket, job), (name) =>
      this.#options.onRemove(path.join(bucket, job, name)),
    );
    await rm(this.#path(bucket, job), { recursive: true });
    this.#total.add(-bytes);
    this.#options.log.info({ job: Number(job), bytes }, 'removed old output to make room');
  }

  async #readNote(bucket: string): Promise<IntervalSet> {
    const text = await readFile(this.#path(bucket, NOTE), 'utf8').catch(absent(''));
    const ranges = text.split(',').filter((part) => part !== '');
    return IntervalSet.of(
      ranges.map((part) => {
        const [from = 0, to = from] = part.split('-').map(Number);
        return [from, to] as const;
      }),
    );
  }

  #path(...parts: readonly string[]): string {
    return path.join(this.#options.directory, ...parts);
  }
}

/** Names that are numbers, smallest first: buckets and jobs, oldest first. */
async function numbersIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(absent([] as string[]));
  return names.filter((name) => /^\d+$/.test(name)).sort((a, b) => Number(a) - Number(b));
}

async function bytesIn(directory: string, found?: (name: string) => void): Promise<number> {
  let bytes = 0;
  const entries = await opendir(directory).catch(absent(null));
  if (entries === null) return 0;
  for await (const entry of entries) {
    const file = await stat(path.join(directory, entry.name)).catch(absent(null));
    bytes += file?.size ?? 0;
    found?.(entry.name);
  }
  return bytes;
}

/** A handler that takes "no such file" for `value` and passes everything else on. */
function absent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
