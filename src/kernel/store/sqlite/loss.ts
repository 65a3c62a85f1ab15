// Records that were promised and are not there: how that is noticed, and in which words it is said.

import { constants, copyFileSync, existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Given, type Loss, StoreFailure } from '../../ports/store.ts';
import type { Connection } from './connection.ts';
import type { Mark, Noted } from './mark.ts';

/**
 * Null: everything up to the mark is there. More than that is no fault: the mark of the newest
 * record may not have been written yet.
 */
export function lossIn(connection: Connection, lastSeq: number, mark: Noted): Loss | null {
  if (mark === null) return null;
  if (mark === 'unreadable' || 'copiedAt' in mark) {
    return { lastSeq, promisedSeq: null, given: null };
  }
  const isThere = mark.seq <= lastSeq && !isAnother(connection, mark);
  return isThere ? null : { lastSeq, promisedSeq: mark.seq, given: mark.given };
}

/** A record in its place that was written in another life of the store, as by a copy put back. */
function isAnother(connection: Connection, { seq, crc }: Mark): boolean {
  const row = connection.statement('SELECT crc FROM journal WHERE seq = ?').get(seq);
  return row !== undefined && Number(row['crc']) !== crc;
}

const HOW_ON =
  'Restore a newer copy if there is one. To go on without the missing records, start once with ' +
  '--accept-loss; no id is given twice.';

/** What is missing, in words, and what to do. */
export function lost(
  connection: Connection,
  directory: string,
  { loss, mark }: { readonly loss: Loss; readonly mark: Noted },
): StoreFailure {
  if (mark !== null && mark !== 'unreadable' && 'copiedAt' in mark) {
    return new StoreFailure('lost', copyWords(directory, loss, mark.copiedAt));
  }
  const what = whatIsMissing(connection, directory, loss);
  return new StoreFailure('lost', `${what}${keepLog(directory, loss)}. ${HOW_ON}`);
}

function copyWords(directory: string, { lastSeq }: Loss, copiedAt: string): string {
  return (
    `${join(directory, 'weft.db')} is a backup of ${copiedAt}, and ends at record ${lastSeq}: what was ` +
    'accepted later is not in it. Make sure that the head it was made of does not run any more. ' +
    'To go on from the backup, start once with --accept-loss; no id is given twice.'
  );
}

function whatIsMissing(connection: Connection, directory: string, loss: Loss): string {
  const { lastSeq, promisedSeq, given } = loss;
  const path = join(directory, 'weft.db');
  const mark = join(directory, 'weft.mark');
  if (promisedSeq === null) {
    return `${mark} is damaged; it is not known whether the last records of ${path} are missing`;
  }
  if (promisedSeq <= lastSeq) {
    return `${mark} does not belong to ${path}: record ${promisedSeq} differs`;
  }
  const count = promisedSeq - lastSeq;
  const missing = count === 1 ? 'the last record is' : `the last ${count} records are`;
  const jobs = jobsWords(connection, given);
  return (
    `${path} ends at record ${lastSeq}, but ${promisedSeq} were accepted: ${missing} missing${jobs}. ` +
    'The file weft.db-wal beside it was damaged or removed, or the store is an older copy'
  );
}

/** The history has a row of every job from its submission on. */
function jobsWords(connection: Connection, given: Given | null): string {
  if (given === null) return '';
  const row = connection.statement('SELECT coalesce(max(job_id), 0) AS last FROM jobs').get();
  const first = Number(row?.['last']) + 1;
  const last = given.nextJobId - 1;
  if (last < first) return ', with changes of jobs, but no whole job';
  return last === first ? `, with job ${first}` : `, with jobs ${first} to ${last}`;
}

/** Called before a new file is made: null where nothing says that there was one. */
export function vanished(directory: string, traces: readonly string[]): StoreFailure | null {
  if (existsSync(join(directory, 'weft.db'))) return null;
  const found = ['weft.mark', 'weft.db-wal', ...traces].find((one) =>
    existsSync(join(directory, one)),
  );
  if (found === undefined) return null;
  return new StoreFailure(
    'lost',
    `${join(directory, 'weft.db')} is missing, and ${found} beside it says that this head had a store: ` +
      'all jobs, nodes, users and tokens are lost. Restore the file from a copy. To begin ' +
      'with an empty store, start once with --accept-loss; no id is given twice as far as can be told.',
  );
}

/** SQLite drops the log at the next close, and what a person could still read from it. */
function keepLog(directory: string, { promisedSeq }: Loss): string {
  const log = join(directory, 'weft.db-wal');
  const kept = `${log}.lost-${promisedSeq ?? 'unknown'}`;
  if (existsSync(kept)) return `; it is kept as ${kept}`;
  if (!existsSync(log) || statSync(log).size === 0) return '';
  try {
    copyFileSync(log, kept, constants.COPYFILE_EXCL);
    return `; it is kept as ${kept}`;
  } catch (error) {
    rmSync(kept, { force: true });
    return `; it could not be kept (${(error as Error).message})`;
  }
}
