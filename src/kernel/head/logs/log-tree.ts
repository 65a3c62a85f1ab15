// The directories of captured output, for what makes room there: buckets, the jobs in each, the
// bytes of each job, and the note of those whose output was removed.

import { opendir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { IntervalSet } from '../../base/interval-set.ts';
import { absent } from '../disk/disk-errors.ts';

/** In each bucket: the ids of the jobs whose output was removed, as `1-17,20`. */
const NOTE = 'removed';

export class LogTree {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Oldest first. */
  buckets(): Promise<number[]> {
    return numbersIn(this.#directory);
  }

  /** The jobs that have output there, oldest first. */
  jobs(bucket: number): Promise<number[]> {
    return numbersIn(this.#path(bucket));
  }

  async bytesOf(bucket: number, job: number): Promise<number> {
    let bytes = 0;
    for (const name of await this.files(bucket, job)) {
      const file = await stat(this.#path(bucket, job, name)).catch(absent(null));
      bytes += file?.size ?? 0;
    }
    return bytes;
  }

  /** Names of the job's files. */
  async files(bucket: number, job: number): Promise<string[]> {
    const names: string[] = [];
    const entries = await opendir(this.#path(bucket, job)).catch(absent(null));
    if (entries === null) return names;
    for await (const { name } of entries) names.push(name);
    return names;
  }

  /** The note first: output that is gone must never look like a program that said nothing. */
  async remove(bucket: number, job: number): Promise<void> {
    const removed = await this.removed(bucket);
    removed.add(job);
    await writeFile(this.#path(bucket, NOTE), removed.toString(), { mode: 0o600 });
    await rm(this.#path(bucket, job), { recursive: true });
  }

  async removed(bucket: number): Promise<IntervalSet> {
    const text = await readFile(this.#path(bucket, NOTE), 'utf8').catch(absent(''));
    const ranges = text.split(',').filter((part) => part !== '');
    return IntervalSet.of(
      ranges.map((part) => {
        const [from = 0, to = from] = part.split('-').map(Number);
        return [from, to] as const;
      }),
    );
  }

  #path(...parts: readonly (string | number)[]): string {
    return path.join(this.#directory, ...parts.map(String));
  }
}

/** Names that are numbers, smallest first. */
async function numbersIn(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(absent<string[]>([]));
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}
