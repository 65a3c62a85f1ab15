// Namespaces of batches beside the state directory's own folders, as a folder
// SAVE/NAMESPACE/BATCH/JOB:
// for those who looked for results there before. Links only; without one its results are where they
// are.

import { lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../../ports/log.ts';

export interface ShownIn {
  readonly folder: string;
  /** Names there that are for something else, whether or not it is there. */
  readonly taken: readonly string[];
}

export class ShownFolders {
  readonly #where: ShownIn;
  readonly #batches: string;
  readonly #log: Log;

  /** `batches`: the folder that has those of namespaces. */
  constructor(where: ShownIn, batches: string, log: Log) {
    this.#where = where;
    this.#batches = batches;
    this.#log = log;
  }

  /** The same again is no matter. */
  show(namespace: string): void {
    const link = this.#link(namespace);
    try {
      const found = this.#found(link);
      if (found === this.#target(namespace)) return;
      if (found === null && !this.#where.taken.includes(namespace)) {
        symlinkSync(this.#target(namespace), link);
        return;
      }
      this.#log.warn({ link, results: this.#at(namespace) }, 'something else has its name');
    } catch (error) {
      this.#log.warn({ link, results: this.#at(namespace), error }, 'results cannot be shown here');
    }
  }

  /** Nothing of it is there any more. */
  hide(namespace: string): void {
    const link = this.#link(namespace);
    try {
      if (this.#found(link) === this.#target(namespace)) rmSync(link);
    } catch (error) {
      this.#log.warn({ link, error }, 'a link to results that are gone cannot be removed');
    }
  }

  #link(namespace: string): string {
    return path.join(this.#where.folder, namespace);
  }

  #at(namespace: string): string {
    return path.join(this.#batches, namespace);
  }

  /** Relative, so that the whole can be moved. */
  #target(namespace: string): string {
    return path.relative(this.#where.folder, this.#at(namespace));
  }

  /** Returns null when nothing is there; '': no link. */
  #found(link: string): string | null {
    const status = lstatSync(link, { throwIfNoEntry: false });
    if (status === undefined) return null;
    return status.isSymbolicLink() ? readlinkSync(link) : '';
  }
}
