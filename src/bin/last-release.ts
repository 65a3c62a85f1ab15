// Which release served a head's store last: what an older one says that cannot read it.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFailure } from '../kernel/ports/store.ts';

const NAME = 'release';
/** What releases are called: nothing else of that file is shown. */
const RELEASE = /^\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[\w.]{1,40})?$/;

/** Written once the head serves. A full disk keeps no head from that. */
export function noteRelease(directory: string, release: string): void {
  if (lastRelease(directory) === release) return;
  const file = join(directory, NAME);
  try {
    writeFileSync(`${file}.new`, `${release}\n`);
    renameSync(`${file}.new`, file);
  } catch {
    // An older name is there, or none.
  }
}

/** Null: no head that says so has served here. */
function lastRelease(directory: string): string | null {
  try {
    const text = readFileSync(join(directory, NAME), 'utf8').trim();
    return RELEASE.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** The same error, with the release to install where a newer one wrote the store. */
export function namingRelease(error: unknown, directory: string): unknown {
  if (!(error instanceof StoreFailure) || error.reason !== 'newer') return error;
  const release = lastRelease(directory);
  if (release === null) return error;
  return new StoreFailure('newer', `${error.message} Weft ${release} wrote it last.`, error);
}
