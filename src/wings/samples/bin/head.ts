// The wing in the program of a head: samples are in a file of their own below its folder.

import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { IdleGpus } from '../head/idle-gpus.ts';
import { samplesHead } from '../head/part.ts';
import { Samples } from '../head/samples.ts';
import type { Shelf } from '../ports/shelf.ts';
import { sqliteShelf } from '../store/sqlite-shelf.ts';

export function headOf({ options, log, onEnd }: HeadProgram): HeadPart {
  const shelf = shelfIn(path.join(options.directory, 'samples'), log);
  const samples = new Samples(shelf, systemClock, log);
  onEnd(() => samples.close());
  return samplesHead(samples, new IdleGpus(log));
}

/** A file that cannot be read is begun anew: it is not worth a head that does not start. */
function shelfIn(directory: string, log: Log): Shelf {
  try {
    return opened(directory);
  } catch (error) {
    log.warn({ error: String(error), directory }, 'samples are begun anew');
  }
  try {
    rmSync(directory, { recursive: true, force: true });
    return opened(directory);
  } catch (error) {
    log.warn({ error: String(error), directory }, 'samples are kept in memory only');
    return sqliteShelf(':memory:');
  }
}

function opened(directory: string): Shelf {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return sqliteShelf(path.join(directory, 'samples.db'));
}
