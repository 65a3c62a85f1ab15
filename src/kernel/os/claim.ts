// One program per state directory: SQLite's lock on an empty file, held by an open transaction. The
// kernel gives it back whenever the process ends, however it ends, and never to two at once.

import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY, without its extended part. */
const BUSY = 5;

/**
 * SQLite locks in steps, so two that begin at one instant can be in each other's way half-way and
 * both be refused: they step back and try again within this time.
 */
const RETRY_MS = 100;

/** Another living process has it. */
export class ClaimedError extends Error {
  /** `unknown` until the other one has written it. */
  readonly pid: string;

  constructor(what: string, pid: string) {
    super(`${what} already runs, as process ${pid}`);
    this.pid = pid;
  }
}

/**
 * Claims `path` for this process until `release`; the claimant's pid is in the file, for people and
 * tools. Throws a `ClaimedError` while another living process has it.
 */
export function claim(path: string, what: string): { release(): void } {
  // The pid has a file of its own: opening and closing the locked one here would drop the lock,
  // because POSIX locks belong to the process and its file, not to the descriptor (fcntl(2)).
  const lockPath = `${path}.lock`;
  createPrivate(lockPath);
  const database = new DatabaseSync(lockPath, { timeout: RETRY_MS });
  try {
    database.exec('BEGIN EXCLUSIVE');
    writeFileSync(path, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new ClaimedError(what, holderOf(path));
  }
  return {
    release() {
      // Only the pid: who removes the locked file lets the next two lock different ones.
      rmSync(path, { force: true });
      database.close();
    },
  };
}

/** An existing file is not even opened. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === BUSY;
}

/** Between lock and pid file there is a moment in which the pid is of the one before, or none. */
function holderOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
