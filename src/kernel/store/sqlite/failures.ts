// From errors of SQLite and the file system to `StoreFailure`: what happened, where, what to do.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFailure } from '../../ports/store.ts';
import { PROBE_BYTES } from './bounds.ts';

export type Reason = StoreFailure['reason'];

// Primary result codes, https://www.sqlite.org/rescode.html
const BY_RESULT_CODE: Readonly<Record<number, Reason>> = {
  5: 'locked',
  6: 'locked',
  8: 'read_only',
  11: 'corrupt',
  13: 'full',
  26: 'foreign',
};

const BY_ERRNO: Readonly<Record<string, Reason>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'read_only',
  EACCES: 'read_only',
  EPERM: 'read_only',
};

const ADVICE: Readonly<Record<Reason, string>> = {
  full: 'No space is left on this file system or in the quota; the head continues when some is free.',
  read_only:
    'It cannot be written; check its owner, its mode and the mount options of its file system.',
  corrupt:
    'The data is damaged. Keep the file, check the disk, and restore a copy ' +
    '(to save what is readable: sqlite3 weft.db .recover).',
  lost: 'Records are missing.',
  foreign: 'It is not a Weft store; move it away, or give the head another directory.',
  locked: 'Another program holds a write transaction on it; end that program and try again.',
  newer: 'A newer release wrote it.',
  io: 'Reading or writing failed; check the disk and the kernel log.',
};

/** Names the reason; the directory is tried with a small file where the error alone is vague. */
export function toStoreFailure(error: unknown, directory: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (!isFromOutside(error)) {
    return new StoreFailure('io', `Store ${directory}: a bug in this program: ${text}.`, error);
  }
  const reason = reasonOf(error) ?? tryWriting(directory) ?? 'io';
  return new StoreFailure(reason, `Store ${directory}: ${text}. ${ADVICE[reason]}`, error);
}

/** SQLite's errors have a result code, those of system calls an errno. */
function isFromOutside(error: unknown): boolean {
  return error instanceof Error && ('errcode' in error || 'errno' in error);
}

function reasonOf(error: unknown): Reason | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  // Only the low byte is the primary code; the rest says in which system call it happened.
  if (typeof errcode === 'number') return BY_RESULT_CODE[errcode & 0xff];
  return typeof code === 'string' ? BY_ERRNO[code] : undefined;
}

// SQLite says "cannot open" or "disk I/O error" for a full or read-only file system when it is the
// shared-memory file that cannot be made; `errno` is lost by then, so it is asked for once more.
function tryWriting(directory: string): Reason | undefined {
  const path = join(directory, `weft.try-${process.pid}`);
  try {
    try {
      writeFileSync(path, new Uint8Array(PROBE_BYTES), { mode: 0o600 });
    } finally {
      rmSync(path, { force: true });
    }
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
