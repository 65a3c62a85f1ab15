// The files that jobs need: looked at when a job is submitted, and named for as long as the head
// knows the job, so that they stay. Derived from the jobs: a head that starts again names the same.

import { err, ok, type Result } from '../../base/result.ts';
import type { References } from '../../files/blobs/references.ts';
import type { FileEntry } from '../../files/entry.ts';
import { type FileSet, hashesOf, parseFileSet } from '../../files/file-set.ts';
import type { BlobHash } from '../../model/blob.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { JobId } from '../../model/ids.ts';
import { FILE_SET_BYTES_MAX } from '../../model/limits.ts';
import type { Log } from '../../ports/log.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { Engine } from '../engine.ts';
import type { Committed } from '../engine-options.ts';

/** Files named in a refusal. */
const SHOWN_MAX = 3;
/** Contents looked at in one turn: a millisecond or two. */
const LOOKS_PER_TURN = 100;

export interface JobFilesOptions {
  readonly blobs: Pick<BlobStore, 'mayRead' | 'open' | 'sizeOf'>;
  readonly names: References;
  readonly log: Log;
}

/** A list of files of one user, and the jobs that name it. */
interface Named {
  readonly inputs: BlobHash;
  readonly owner: string;
  readonly jobs: Set<JobId>;
  /** Those of them that are not done. */
  readonly live: Set<JobId>;
  /** True when its contents are named, or the list is gone; null after a failure: tried again. */
  filled: Promise<boolean> | null;
  /** All of its contents are named. */
  isWhole: boolean;
}

export class JobFiles {
  readonly #options: JobFilesOptions;
  readonly #named = new Map<string, Named>();
  readonly #byJob = new Map<JobId, string>();
  #filled: Promise<void> = Promise.resolve();

  constructor(options: JobFilesOptions) {
    this.#options = options;
  }

  /** Names what the jobs of a head that starts need, beside what it does, and follows it. */
  attach(engine: Pick<Engine, 'state' | 'onCommitted'>): void {
    for (const { id, owner, spec, outcome } of engine.state.jobs.values()) {
      if (spec.staging?.inputs === undefined) continue;
      this.#add(id, owner, spec.staging.inputs);
      if (outcome !== null) this.#markDone(id);
    }
    this.#filled = this.#fillAll([...this.#named]);
    engine.onCommitted((committed) => this.#follow(committed));
  }

  /**
   * Resolves when all is named that was there at the start. Fails while the list of a job that is
   * not done cannot be read: what it names would look as if nothing needed it.
   */
  async filled(): Promise<void> {
    await this.#filled;
    for (const [key, named] of [...this.#named]) {
      if (named.live.size === 0 || (await this.#fill(key, named))) continue;
      if (named.live.size > 0) throw unread(key);
    }
  }

  /** What names the files of the job, once they are named; null: it needs none. */
  async namingOf(jobId: JobId): Promise<string | null> {
    const key = this.#byJob.get(jobId);
    const named = key === undefined ? undefined : this.#named.get(key);
    if (key === undefined || named === undefined) return null;
    if (!(await this.#fill(key, named))) throw unread(key);
    return key;
  }

  /** Whether this user has jobs that are done and could be run again with their files. */
  hasIdle(user: string): boolean {
    return this.#idleOf(user).length > 0;
  }

  #idleOf(user: string): Named[] {
    return [...this.#named.values()].filter(({ owner, live }) => owner === user && live.size === 0);
  }

  /**
   * Room is short for a user: what only jobs of theirs name that are done is named no more. It goes
   * when it is the oldest; until then they can be run again.
   */
  relinquish(user: string): boolean {
    const idle = this.#idleOf(user);
    for (const { jobs } of idle) for (const jobId of [...jobs]) this.#remove(jobId);
    return idle.length > 0;
  }

  /** Whether a job of this user may name the list: it and all its contents are there and theirs. */
  async check(user: string, inputs: BlobHash): Promise<Result<null, Refusal>> {
    // What a job of the same user that is not done names has been looked at, and stays.
    const named = this.#named.get(keyOf(inputs, user));
    if (named?.isWhole === true && named.live.size > 0) return ok(null);
    const { blobs } = this.#options;
    const reader = { user, by: null };
    if (!blobs.mayRead(reader, inputs)) return err(lacking(1, ['the list of them']));
    const read = await this.#read(inputs);
    if (!read.ok) return read;
    const missing: string[] = [];
    let looks = 0;
    for (const [hash, entry] of hashesOf(read.value)) {
      looks += 1;
      if (looks % LOOKS_PER_TURN === 0) await new Promise(setImmediate);
      const size = blobs.mayRead(reader, hash) ? blobs.sizeOf(hash) : null;
      if (size === null) missing.push(JSON.stringify(entry.path));
      else if (size !== entry.size) return err(wrongSize(entry, size));
    }
    return missing.length === 0 ? ok(null) : err(lacking(missing.length, missing));
  }

  #follow({ events }: Committed): void {
    for (const event of events) {
      if (event.kind === 'job_submitted') {
        const { jobId, owner, spec } = event;
        const inputs = spec.staging?.inputs;
        if (inputs === undefined) continue;
        const [key, named] = this.#add(jobId, owner, inputs);
        void this.#fill(key, named);
      } else if (event.kind === 'job_done') {
        this.#markDone(event.jobId);
      } else if (event.kind === 'jobs_retired') {
        for (const jobId of event.jobIds) this.#remove(jobId);
      }
    }
  }

  #add(jobId: JobId, owner: string, inputs: BlobHash): [string, Named] {
    const key = keyOf(inputs, owner);
    const fresh = { inputs, owner, jobs: new Set<JobId>(), live: new Set<JobId>(), ...NOT_FILLED };
    const named = this.#named.get(key) ?? fresh;
    named.jobs.add(jobId);
    named.live.add(jobId);
    this.#named.set(key, named);
    this.#byJob.set(jobId, key);
    return [key, named];
  }

  #markDone(jobId: JobId): void {
    const key = this.#byJob.get(jobId);
    if (key !== undefined) this.#named.get(key)?.live.delete(jobId);
  }

  #remove(jobId: JobId): void {
    const key = this.#byJob.get(jobId);
    const named = key === undefined ? undefined : this.#named.get(key);
    if (key === undefined || named === undefined) return;
    this.#byJob.delete(jobId);
    named.jobs.delete(jobId);
    named.live.delete(jobId);
    if (named.jobs.size > 0) return;
    this.#named.delete(key);
    this.#options.names.remove(key);
  }

  async #fillAll(all: readonly [string, Named][]): Promise<void> {
    // One after the other: a head that starts has other things to do.
    for (const [key, named] of all) await this.#fill(key, named);
  }

  /** False: its list cannot be read now, as when too many files are open. */
  #fill(key: string, named: Named): Promise<boolean> {
    named.filled ??= this.#nameAll(key, named).catch((error: unknown) => {
      named.filled = null;
      this.#options.log.error({ files: key, error: String(error) }, 'files of jobs cannot be read');
      return false;
    });
    return named.filled;
  }

  async #nameAll(key: string, named: Named): Promise<true> {
    const { names, log } = this.#options;
    const { inputs, owner } = named;
    // The list itself before it is read: it must not go meanwhile.
    names.set(key, owner, [inputs]);
    const read = await this.#read(inputs);
    if (!read.ok) log.warn({ files: key, ...read.error.details }, 'the files of jobs are gone');
    // The last of its jobs may have gone meanwhile.
    else if (this.#named.get(key) === named) {
      names.set(key, owner, [inputs, ...hashesOf(read.value).keys()]);
      named.isWhole = true;
    }
    return true;
  }

  async #read(inputs: BlobHash): Promise<Result<FileSet, Refusal>> {
    const opened = await this.#options.blobs.open(inputs);
    if (!opened.ok) return opened;
    const { value: list } = opened;
    try {
      const what = `the list of files ${inputs} has ${list.size} bytes, more than a list may have`;
      if (list.size > FILE_SET_BYTES_MAX) return err(refuse('argument.invalid', { what }));
      const read = parseFileSet((await list.readAll()).toString());
      return read.ok ? read : err(refuse('argument.invalid', { what: read.error }));
    } finally {
      await list.close();
    }
  }
}

const NOT_FILLED = { filled: null, isWhole: false };

function keyOf(inputs: BlobHash, owner: string): string {
  return `files ${inputs} of ${owner}`;
}

function unread(key: string): Error {
  return new Error(`the list of ${key} cannot be read; the head's log says why`);
}

function lacking(count: number, missing: readonly string[]): Refusal {
  const shown = missing.slice(0, SHOWN_MAX);
  if (missing.length > SHOWN_MAX) shown.push('…');
  const details = { count: String(count), files: shown.join(', ') };
  return refuse('files.lacking', details, 'Send them, then submit again.');
}

function wrongSize({ path, size }: FileEntry, actual: number): Refusal {
  const what = `${JSON.stringify(path)} is listed with ${size} bytes, its content has ${actual}`;
  return refuse('argument.invalid', { what });
}
