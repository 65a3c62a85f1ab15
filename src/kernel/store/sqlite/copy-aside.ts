// A copy of a store to look at, made without changing anything where the store lies, whether a head
// uses it or not.

import { accessSync, constants, copyFileSync, existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { formatSize } from '../../base/size.ts';
import { BUSY_TIMEOUT_MS } from './bounds.ts';
import { createPrivate } from './lock.ts';
import { SCHEMA_VERSION } from './schema.ts';

const FILE = 'weft.db';
const MARK_FILE = 'weft.mark';

/** Kept free beside the copy: the disk may be the machine's memory. */
const FREE_BYTES_MIN = 67_108_864;

export class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

export interface Layouts {
  /** Layout of the tables in the store, and the one of this release. */
  readonly layout: number;
  readonly ownLayout: number;
}

/** Throws where the store cannot be read, and `NoRoom`. */
export function copyAside(from: string, to: string): Layouts {
  const path = join(from, FILE);
  accessSync(path, constants.R_OK);
  checkRoom(from, to);
  const copy = join(to, FILE);
  createPrivate(copy);
  // Its index of the log is there while a head has it, or after one was killed: then it is read
  // through that.
  if (existsSync(`${path}-shm`)) {
    within(path, (source) => source.prepare('VACUUM INTO ?').run(copy));
  } else {
    copyFileSync(path, copy);
    for (const beside of [`${FILE}-wal`, MARK_FILE]) {
      if (existsSync(join(from, beside))) copyFileSync(join(from, beside), join(to, beside));
    }
  }
  const layout = within(copy, (read) => read.prepare('PRAGMA user_version').get());
  return { layout: Number(layout?.['user_version'] ?? 0), ownLayout: SCHEMA_VERSION };
}

function within<T>(path: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function checkRoom(from: string, to: string): void {
  const files = [join(from, FILE), join(from, `${FILE}-wal`)].filter((file) => existsSync(file));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const { bavail, bsize } = statfsSync(to);
  const free = Math.max(0, bavail * bsize - FREE_BYTES_MIN);
  if (bytes <= free) return;
  throw new NoRoom(
    `a copy of it to look at needs ${formatSize(bytes)}, and ${to} has room for ${formatSize(free)}; ` +
      'name another folder with TMPDIR',
  );
}
