// Keeps captured output within a total: when it is passed, output of the oldest done jobs goes, and
// a note of which jobs those were stays.

import { opendir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { IntervalSet } from '../../core/base/interval-set.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Log } from '../../ports/log.ts';
import { bucketOf } from './log-path.ts';

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
  #bytes = 0;
  #making: Promise<void> | null = null;

  constructor(options: LogBudgetOptions) {
    this.#options = options;
  }

  /** What lies on the disk already. */
  async count(): Promise<void> {
    for (const bucket of await numbersIn(this.#options.directory)) {
      for (const job of await numbersIn(this.#path(bucket))) {
        this.#bytes += await bytesIn(this.#path(bucket, job));
      }
    }
    this.#makeRoomIfNeeded();
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    this.#makeRoomIfNeeded();
  }

  async wasRemoved(jobId: number): Promise<boolean> {
    return (await this.#readNote(bucketOf(jobId as JobId))).has(jobId);
  }

  /** Resolves when no room is being made. */
  async idle(): Promise<void> {
    await this.#making;
  }

  #makeRoomIfNeeded(): void {
    if (this.#bytes <= this.#options.bytesMax || this.#making !== null) return;
    const { log } = this.#options;
    this.#making = this.#makeRoom()
      .catch((error: unknown) => log.warn({ error: String(error) }, 'cannot remove old output'))
      .finally(() => {
        this.#making = null;
      });
  }

  async #makeRoom(): Promise<void> {
    const goal = this.#options.bytesMax * TARGET_SHARE;
    for (const bucket of await numbersIn(this.#options.directory)) {
      for (const job of await numbersIn(this.#path(bucket))) {
        if (this.#bytes <= goal) return;
        if (this.#options.isDone(Number(job))) await this.#remove(bucket, job);
      }
    }
    const { bytesMax, log } = this.#options;
    const fields = { bytes: this.#bytes, bytesMax };
    if (this.#bytes > bytesMax) log.warn(fields, 'output of unfinished jobs fills the log space');
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
    this.#bytes -= bytes;
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
