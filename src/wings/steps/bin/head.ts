// The wing in the program of a head: steps that are over are in a file of their own below its
// folder.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { stepsHead } from '../head/part.ts';
import type { StepShelf } from '../ports/shelf.ts';
import { sqliteShelf } from '../store/sqlite-shelf.ts';

export function headOf({ options, log, onEnd }: HeadProgram): HeadPart {
  const shelf = shelfIn(path.join(options.directory, 'steps'), log);
  onEnd(() => shelf.close());
  return stepsHead(shelf, log);
}

/** A file that cannot be read is left as it is, for whoever can: no head fails to start for it. */
function shelfIn(directory: string, log: Log): StepShelf {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return sqliteShelf(path.join(directory, 'steps.db'));
  } catch (error) {
    log.warn({ error: String(error), directory }, 'steps that end are kept in memory only');
    return sqliteShelf(':memory:');
  }
}
