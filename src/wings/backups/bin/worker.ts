// The thread that makes one backup: it blocks on the disk as long as it likes.

import { statfsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { present } from '../../../kernel/base/assert.ts';
import { readBackups } from '../transfer/read-backups.ts';
import { makeBackup } from './make-backup.ts';
import type { BackupOrder, LookOrder, Made, Said } from './order.ts';

const port = present(parentPort, 'the parent of the thread for backups');
function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

const say = (said: Said): void => port.postMessage(said);

// On Linux this is the thread's own: the head goes before it.
setPriority(10);
try {
  const order = workerData as BackupOrder | LookOrder;
  if ('look' in order) say({ kind: 'listed', listed: readBackups(order.look, order.head) });
  else say({ kind: 'made', made: make(order) });
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  say({ kind: 'failed', code: code ?? null, message });
}

function make(order: BackupOrder): Made {
  return makeBackup(order, {
    now: Date.now,
    tell: (progress) => say({ kind: 'progress', progress }),
    free: freeBytes,
  });
}
