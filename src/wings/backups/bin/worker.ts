// The thread that makes one backup: it blocks on the disk as long as it likes.

import { statfsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { present } from '../../../kernel/base/assert.ts';
import { SENT_FOLDER } from '../../../kernel/cli/daemons/local-paths.ts';
import { parseBucket } from '../core/place.ts';
import { Bucket } from '../transfer/bucket.ts';
import { readBucketKeys } from '../transfer/bucket-keys.ts';
import { bucketBackups } from '../transfer/from-bucket.ts';
import { readBackups, type WholeBackup } from '../transfer/read-backups.ts';
import { makeBackup } from './make-backup.ts';
import type { BackupOrder, LookOrder, Made, Said } from './order.ts';
import { sendBackup } from './send-backup.ts';

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
  if ('look' in order) say({ kind: 'listed', listed: await listed(order) });
  else say({ kind: 'made', made: await made(order) });
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  say({ kind: 'failed', code: code ?? null, message });
}

async function listed({ look, head, keysFile }: LookOrder): Promise<readonly WholeBackup[]> {
  const bucket = bucketAt(look, keysFile);
  return bucket === null ? readBackups(look, head) : bucketBackups(bucket, look, head);
}

async function made(order: BackupOrder): Promise<Made> {
  const { to, from, keep, keysFile } = order;
  // Before anything is copied: without keys all of it would be in vain.
  const bucket = bucketAt(to, keysFile);
  if (bucket === null) return make(order);
  const staged = make({ ...order, to: join(dirname(from), SENT_FOLDER), keep: 1 });
  const tell = (entries: number, bytes: number): void =>
    say({ kind: 'progress', progress: { entries, bytes } });
  const left = await sendBackup(staged, bucket, { keep, tell });
  const { name, header } = staged;
  return { name, header, folder: `${to}/${header.head}/${name}`, left };
}

function bucketAt(place: string, keysFile: string | null): Bucket | null {
  const at = parseBucket(place);
  return at === null ? null : new Bucket(at, readBucketKeys(process.env, keysFile));
}

function make(order: BackupOrder): Made {
  return makeBackup(order, {
    now: Date.now,
    tell: (progress) => say({ kind: 'progress', progress }),
    free: freeBytes,
  });
}
