// One head per directory. The lock is SQLite's own on an empty file, held by an open transaction:
// the kernel gives it back whenever the process ends, however it ends.

import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreFailure } from '../../ports/store.ts';

export interface DirectoryLock {
  release(): void;
}

/** Fails with `locked`, naming the process that holds the directory. */
export function lockDirectory(directory: string): DirectoryLock {
  const path = join(directory, 'weft.lock');
  // The pid has a file of its own: opening and closing the locked file here would drop the lock,
  // because POSIX locks belong to the process and its file, not to the descriptor (fcntl(2)).
  const pidPath = join(directory, 'weft.pid');
  createPrivate(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    throw isBusy(error) ? held(directory, pidPath) : error;
  }
  try {
    writeFileSync(pidPath, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    release() {
      rmSync(pidPath, { force: true });
      database.close();
    },
  };
}

/** Makes the file with mode 0600 unless it is there; an existing one is not even opened. */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === 5;
}

function held(directory: string, pidPath: string): StoreFailure {
  return new StoreFailure(
    'locked',
    `Another head (${holder(pidPath)}) uses ${directory}. Stop it first, or give this one ` +
      'another directory.',
  );
}

/** For people only: between lock and pid file there is a moment in which the text is older. */
function holder(pidPath: string): string {
  try {
    return `pid ${readFileSync(pidPath, 'utf8').trim()}`;
  } catch (error) {
    return `pid unknown: ${(error as Error).message}`;
  }
}
