// What comes up while a written batch is read: what is wrong with it, and the files that it names.

import type { Problem, ProblemPath } from './problem.ts';

/** A file that has to be there; whoever has a file system looks. */
export interface FileUse {
  /** Relative to the folder of the batch file. */
  readonly path: string;
  readonly at: ProblemPath;
  /** `program`: a file that can be run. */
  readonly must: 'file' | 'program' | 'file or folder';
}

export class Findings {
  readonly problems: Problem[] = [];
  readonly uses: FileUse[] = [];
  readonly #seen = new Set<string>();

  /** Nothing when `what` is null, and once when a sweep says it again and again. */
  problem(at: ProblemPath, what: string | null, of: 'key' | 'value' = 'value'): void {
    if (what === null || !this.#isNew(`problem ${JSON.stringify([at, what])}`)) return;
    this.problems.push(of === 'key' ? { at, what, isKey: true } : { at, what });
  }

  use(use: FileUse): void {
    if (this.#isNew(`use ${JSON.stringify([use.at, use.path])}`)) this.uses.push(use);
  }

  #isNew(key: string): boolean {
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }
}
