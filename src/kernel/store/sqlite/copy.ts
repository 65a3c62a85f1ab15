// A copy of a store that may be in use, as it was at one instant, looked through before it counts.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BUSY_TIMEOUT_MS } from './bounds.ts';
import { type Connection, openConnection } from './connection.ts';
import { lastSeq } from './journal.ts';
import { createPrivate } from './lock.ts';
import { markAsCopy } from './mark.ts';
import { checkStructure, readAll } from './recovery.ts';

export interface StoreCopy {
  /** Number of its last record. */
  readonly lastSeq: number;
  /** The newest job in it; 0: there is none. */
  readonly lastJobId: number;
  readonly unfinishedJobs: number;
}

/**
 * Copies the store in the folder `from` to the folder `to`, which has none. Blocks its thread while
 * it reads and writes; the store goes on meanwhile, its log grows. Throws where `from` cannot be
 * read, `to` cannot be written, or a record of the copy is not what was written.
 */
export function copyStore(from: string, to: string, copiedAt: string): StoreCopy {
  copyDatabase(join(from, 'weft.db'), join(to, 'weft.db'));
  const copy = openConnection(to);
  try {
    checkStructure(copy, to);
    readAll(copy, to);
    markAsCopy(to, { copiedAt });
    return { lastSeq: lastSeq(copy), ...jobsIn(copy) };
  } finally {
    copy.close();
  }
}

/** Copies a file of SQLite that may be in use, as of one instant. Throws as `copyStore` does. */
export function copyDatabase(from: string, to: string): void {
  // An empty file is taken for none; made here, it is private from the start.
  createPrivate(to);
  const source = new DatabaseSync(from, { timeout: BUSY_TIMEOUT_MS });
  try {
    // One read transaction. SQLite's online backup would begin anew with each commit of the head.
    source.prepare('VACUUM INTO ?').run(to);
  } finally {
    source.close();
  }
}

function jobsIn(copy: Connection): Pick<StoreCopy, 'lastJobId' | 'unfinishedJobs'> {
  const row = copy
    .statement(
      `SELECT coalesce(max(job_id), 0) AS last, count(*) FILTER (WHERE ended_at IS NULL) AS open
       FROM jobs`,
    )
    .get();
  return { lastJobId: Number(row?.['last']), unfinishedJobs: Number(row?.['open']) };
}
