// The thread that makes one backup: it blocks on the disk as long as it likes.

import { statfsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { present } from '../../../kernel/base/assert.ts';
import { makeBackup } from './make-backup.ts';
import type { BackupOrder, Said } from './order.ts';

const port = present(parentPort, 'the parent of the thread for backups');
const freeBytes = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};
const say = (said: Said): void => port.postMessage(said);

// On Linux this is the thread's own: the head goes before it.
setPriority(10);
try {
  const made = makeBackup(workerData as BackupOrder, {
    now: Date.now,
    tell: (progress) => say({ kind: 'progress', progress }),
    free: freeBytes,
  });
  say({ kind: 'made', made });
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  say({ kind: 'failed', code: code ?? null, message });
}
