// How a build and the jobs of a batch are started, and what they find in their work directory.

import type { StagedFile } from './batch.ts';

/** In the work directory: what is given. */
export const INPUT_FOLDER = 'input';
/** The seed's copy of the files that all jobs have. */
export const INITIAL_FOLDER = 'initial_files';

/** `python3 run.py 16`; any other program by its own first line. */
export function programArgv({ as }: Pick<StagedFile, 'as'>, args: readonly string[]): string[] {
  return as.endsWith('.py') ? ['python3', as, ...args] : [`./${as}`, ...args];
}

/** The folder behind the mount of this number, beside `input`. */
export function bindFolder(at: number): string {
  return `_bind_path_${at}`;
}
