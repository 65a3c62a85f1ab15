// Which release served a head's store last: an older one leaves the store alone, and says so.

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

/**
 * Thrown before anything of the store is opened. An older release can read many records of a newer
 * one, and takes no notice of what it does not know in them.
 */
export function refuseOlder(directory: string, own: string): void {
  const last = lastRelease(directory);
  if (last === null || !isOlder(own, last)) return;
  throw new StoreFailure(
    'newer',
    `${directory} was last served by Weft ${last}, and this is ${own}, which would read some of its ` +
      `records wrongly; nothing was changed. Install ${last} again, or restore a backup made before.`,
  );
}

/** By their numbers; of the same numbers, one with a word behind them comes first. */
function isOlder(left: string, right: string): boolean {
  const [a, b] = [left, right].map((release) => {
    const [numbers = '', ...words] = release.split('-');
    return { numbers, word: words.join('-') };
  });
  if (a === undefined || b === undefined) return false;
  const byNumbers = a.numbers.localeCompare(b.numbers, 'en', { numeric: true });
  if (byNumbers !== 0) return byNumbers < 0;
  if (a.word === '' || b.word === '') return a.word !== '' && b.word === '';
  return a.word.localeCompare(b.word, 'en', { numeric: true }) < 0;
}

/** The same error, with the release to install where a newer one wrote the store. */
export function namingRelease(error: unknown, directory: string): unknown {
  if (!(error instanceof StoreFailure) || error.reason !== 'newer') return error;
  const release = lastRelease(directory);
  if (release === null || error.message.includes(`Weft ${release}`)) return error;
  return new StoreFailure('newer', `${error.message} Weft ${release} wrote it last.`, error);
}
