// The files of a batch on their way to the head: each is read once, however many jobs name it.

import { createHash } from 'node:crypto';
import path from 'node:path';
import type { FileEntry } from '../../../kernel/files/entry.ts';
import { readAll } from '../../../kernel/transfer/inputs/read-all.ts';
import type { LocalFile } from '../../../kernel/transfer/local-file.ts';
import type { TransferContext } from '../../../kernel/transfer/transfer-context.ts';
import type { BatchReading } from '../batch/read/read-batch.ts';
import type { Contents } from '../core/parts.ts';

export class BatchFiles implements Contents {
  readonly #reading: BatchReading;
  /** By their paths as the batch file has them: each job asks for its own. */
  readonly #looks: ReadonlyMap<string, BatchReading['files'][number]>;
  /** By their whole paths. */
  readonly #files: ReadonlyMap<string, LocalFile>;

  private constructor(reading: BatchReading, files: ReadonlyMap<string, LocalFile>) {
    this.#reading = reading;
    this.#looks = new Map(reading.files.map((look) => [look.path, look]));
    this.#files = files;
  }

  /** Reads all of them. Throws one failure with all that is wrong. */
  static async read(transfer: TransferContext, reading: BatchReading): Promise<BatchFiles> {
    const bytes = reading.files.reduce((sum, file) => sum + file.bytes, 0);
    const files = await readAll(transfer, { sources: sourcesOf(reading), bytes });
    return new BatchFiles(reading, files);
  }

  get all(): readonly LocalFile[] {
    return [...this.#files.values()];
  }

  entries(file: string, at: string): readonly FileEntry[] {
    const { folder } = this.#reading;
    const look = this.#looks.get(file);
    if (look === undefined) throw new Error(`${file} was not looked at`);
    const full = path.resolve(folder, file);
    if (!look.isFolder) return [this.#fileEntry(full, at)];
    const top: FileEntry = { path: at, kind: 'folder', size: 0, mode: look.mode };
    const inside = look.inside.map(({ path: below, kind, stats, target }): FileEntry => {
      const place = `${at}/${below}`;
      if (kind === 'file') return this.#fileEntry(path.join(full, below), place);
      const mode = stats.mode & 0o777;
      if (kind !== 'link') return { path: place, kind: 'folder', size: 0, mode };
      return { path: place, kind, size: 0, mode, target: target ?? '' };
    });
    return [top, ...inside];
  }

  digest(text: string): string {
    return createHash('sha256').update(text).digest('hex');
  }

  #fileEntry(full: string, at: string): FileEntry {
    const file = this.#files.get(full);
    if (file === undefined) throw new Error(`${full} was not read`);
    return { path: at, kind: 'file', size: file.size, mode: file.mode, sha256: file.hash };
  }
}

function* sourcesOf({ files, folder }: BatchReading): Generator<readonly [string, string]> {
  for (const { path: file, isFolder, inside } of files) {
    const full = path.resolve(folder, file);
    if (!isFolder) yield [full, full];
    for (const { path: below, kind } of inside) {
      const one = path.join(full, below);
      if (kind === 'file') yield [one, one];
    }
  }
}
