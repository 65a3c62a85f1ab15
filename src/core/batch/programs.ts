// How the programs of a batch are started.

import type { StagedFile } from './batch.ts';

/** `python3 run.py 16`; any other program by its own first line. */
export function programArgv({ as }: Pick<StagedFile, 'as'>, args: readonly string[]): string[] {
  return as.endsWith('.py') ? ['python3', as, ...args] : [`./${as}`, ...args];
}
