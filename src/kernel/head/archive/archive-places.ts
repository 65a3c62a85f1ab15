// Where the archive lies below the head's state directory:
//   jobs/ID/…           what the task of a plain job left, and _weft/manifest.json
//   jobs/ID/INDEX/…     the same of each task of an array
//   batches/NAMESPACE/NAME[@V]/JOB/…   of each job of a batch; the task's jobs/ID/INDEX is a link
// to it
//   parts/log           what nodes have stored of tasks that are not done
//   empty               the output of all tasks that have printed nothing
//   aside/N/…           a folder that is being made
//   trash/N             one that is on its way out

import { renameSync } from 'node:fs';
import path from 'node:path';
import { META_FOLDER } from '../../files/manifest.ts';
import { type BatchName, type BatchOrigin, formatBatch } from '../../model/batch.ts';
import type { ShownFolders } from './shown-folders.ts';

/** Which task: `index` as the state counts, 0 for a plain job. */
export interface Shelf {
  readonly jobId: number;
  readonly index: number;
  readonly isArray: boolean;
  /** The job of a batch that it is; absent: none, or it was looked for by its number. */
  readonly batch?: BatchShelf;
}

export interface BatchShelf extends BatchName {
  readonly job: string;
  readonly origin: BatchOrigin;
  /** Tells the batch from another one of that name. */
  readonly begunAt: number;
}

export class ArchivePlaces {
  readonly root: string;
  /** Shows namespaces elsewhere too; null: nowhere. */
  readonly shown: Pick<ShownFolders, 'show' | 'hide'> | null;
  #made = 0;

  constructor(root: string, shown: Pick<ShownFolders, 'show' | 'hide'> | null = null) {
    this.root = root;
    this.shown = shown;
  }

  get jobs(): string {
    return path.join(this.root, 'jobs');
  }

  get batches(): string {
    return batchesIn(this.root);
  }

  /** The folders of all jobs of a batch. */
  batch(batch: BatchName): string {
    return path.join(this.batches, formatBatch(batch));
  }

  /** Where the files of a task are: `task` is a link to it where that is another place. */
  home(shelf: Shelf): string {
    const { batch } = shelf;
    return batch === undefined ? this.task(shelf) : path.join(this.batch(batch), batch.job);
  }

  get parts(): string {
    return path.join(this.root, 'parts');
  }

  get empty(): string {
    return path.join(this.root, 'empty');
  }

  get asides(): string {
    return path.join(this.root, 'aside');
  }

  get trash(): string {
    return path.join(this.root, 'trash');
  }

  job(jobId: number): string {
    return path.join(this.jobs, String(jobId));
  }

  task({ jobId, index, isArray }: Shelf): string {
    return isArray ? path.join(this.job(jobId), String(index)) : this.job(jobId);
  }

  get partsLog(): string {
    return path.join(this.parts, 'log');
  }

  /** A folder that nobody else uses. */
  aside(): string {
    this.#made += 1;
    return path.join(this.asides, String(this.#made));
  }

  /** Moves a folder out of everybody's sight at once, and says where it is now. */
  discard(folder: string): string {
    this.#made += 1;
    const to = path.join(this.trash, String(this.#made));
    renameSync(folder, to);
    return to;
  }
}

export function manifestIn(folder: string): string {
  return path.join(folder, META_FOLDER, 'manifest.json');
}

/** A long manifest without its entries: a list of many tasks is read from these. */
export function summaryIn(folder: string): string {
  return path.join(folder, META_FOLDER, 'summary.json');
}

/** Where an archive has the folders of namespaces. */
export function batchesIn(root: string): string {
  return path.join(root, 'batches');
}
