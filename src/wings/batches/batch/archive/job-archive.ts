// The folder of one job in the archive. It is made aside, gets its manifest last, and is there
// under its name at once or not at all.

import { createReadStream, createWriteStream } from 'node:fs';
import { appendFile, chmod, mkdir, open, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Glob } from '../../../../kernel/files/glob.ts';
import {
  MANIFEST_FILE,
  type Manifest,
  type ManifestEntry,
  META_FOLDER,
  STDERR_FILE,
  STDOUT_FILE,
} from '../../../../kernel/files/manifest.ts';
import { hashFile } from '../files/hash.ts';
import { removeTree } from '../files/remove.ts';
import { storeOutputs } from './store-outputs.ts';

/**
 * Before the name of a job's folder that is being made, and of one that is being replaced: no name
 * of a job begins with a dot.
 */
export const PARTIAL = '.partial-';
export const REPLACED = '.replaced-';

/** What is known of a job when it has ended; the rest of the manifest comes from its files. */
export type JobFacts = Omit<Manifest, 'version' | 'entries' | 'logs' | 'leftOut'>;

export interface Finishing {
  readonly save: string;
  readonly globs: readonly Glob[];
  readonly facts: JobFacts;
  /** The seed's file with both streams under their headings. */
  readonly withOutputText: boolean;
}

export class JobArchive {
  readonly #batchFolder: string;
  readonly #job: string;
  readonly #aside: string;

  private constructor(batchFolder: string, job: string) {
    this.#batchFolder = batchFolder;
    this.#job = job;
    this.#aside = path.join(batchFolder, `${PARTIAL}${job}`);
  }

  /** An empty folder aside; what an earlier attempt left there is gone. */
  static async begin(batchFolder: string, job: string): Promise<JobArchive> {
    const archive = new JobArchive(batchFolder, job);
    await archive.abandon();
    await mkdir(path.join(archive.#aside, META_FOLDER), { recursive: true });
    return archive;
  }

  get stdout(): string {
    return path.join(this.#aside, STDOUT_FILE);
  }

  get stderr(): string {
    return path.join(this.#aside, STDERR_FILE);
  }

  /** Nothing of it is left. */
  abandon(): Promise<void> {
    return removeTree(this.#aside);
  }

  /** Takes the outputs, writes the manifest, and gives the folder its name. */
  async finish({ save, globs, facts, withOutputText }: Finishing): Promise<Manifest> {
    const text = `${this.#job}_output.txt`;
    const hidden = new Map([[META_FOLDER, `${META_FOLDER} is for what the archive itself says`]]);
    if (withOutputText) hidden.set(text, 'what the job has printed has this name');
    const stored = await storeOutputs(save, { into: this.#aside, globs, hidden });
    const entries = [...stored.entries];
    if (withOutputText) {
      await this.#writeOutputText(path.join(this.#aside, text));
      entries.push(await this.#entryOf(text));
    }
    const manifest: Manifest = {
      version: 1,
      ...facts,
      entries,
      logs: [await this.#entryOf(STDOUT_FILE), await this.#entryOf(STDERR_FILE)],
      leftOut: stored.leftOut,
    };
    await writeDurably(
      path.join(this.#aside, MANIFEST_FILE),
      `${JSON.stringify(manifest, null, 1)}\n`,
    );
    await this.#giveName();
    return manifest;
  }

  async #giveName(): Promise<void> {
    const final = path.join(this.#batchFolder, this.#job);
    const replaced = path.join(this.#batchFolder, `${REPLACED}${this.#job}`);
    await removeTree(replaced);
    await rename(final, replaced).catch(ignoreMissing);
    await rename(this.#aside, final);
    await removeTree(replaced);
  }

  async #writeOutputText(file: string): Promise<void> {
    await appendFile(file, 'STDOUT:\n');
    await appendFrom(this.stdout, file);
    await appendFile(file, '\nSTDERR:\n');
    await appendFrom(this.stderr, file);
    await chmod(file, 0o644);
  }

  async #entryOf(name: string): Promise<ManifestEntry> {
    const file = path.join(this.#aside, name);
    const { size, mode, mtimeMs } = await stat(file);
    const sha256 = await hashFile(file);
    return {
      path: name,
      kind: 'file',
      size,
      mode: mode & 0o777,
      sha256,
      modifiedAt: Math.floor(mtimeMs),
    };
  }
}

/**
 * Writes a file whole: a reader sees the old file or the new one, also after a crash of the
 * machine.
 */
export async function writeDurably(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`;
  {
    await using handle = await open(fresh, 'w', 0o644);
    await handle.writeFile(text);
    await handle.sync();
  }
  await rename(fresh, file);
}

/** Streamed: what a job prints may be large. */
function appendFrom(from: string, to: string): Promise<void> {
  return pipeline(createReadStream(from), createWriteStream(to, { flags: 'a' }));
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
