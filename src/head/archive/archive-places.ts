// Where the archive lies below the head's state directory:
//   jobs/ID/…           what the task of a plain job left, and _weft/manifest.json
//   jobs/ID/INDEX/…     the same of each task of an array
//   parts/EPOCH.RANK    what a node has stored of a task that is not done
//   aside/N/…           a folder that is being made
//   trash/N             one that is on its way out

import { renameSync } from 'node:fs';
import path from 'node:path';
import { META_FOLDER } from '../../core/batch/manifest.ts';

/** Which task: `index` as the state counts, 0 for a plain job. */
export interface Shelf {
  readonly jobId: number;
  readonly index: number;
  readonly isArray: boolean;
}

export class ArchivePlaces {
  readonly root: string;
  #made = 0;

  constructor(root: string) {
    this.root = root;
  }

  get jobs(): string {
    return path.join(this.root, 'jobs');
  }

  get parts(): string {
    return path.join(this.root, 'parts');
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

  part(epochId: string, nodeRank: number): string {
    return path.join(this.parts, `${epochId}.${nodeRank}`);
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

/** The manifest without its entries: a list of many tasks is read from these. */
export function summaryIn(folder: string): string {
  return path.join(folder, META_FOLDER, 'summary.json');
}
