// Backups in words, for the commands and the doctor.

import { plural } from '../../../kernel/base/plural.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import type { BackupHeader } from '../api/backup-header.ts';

type Amounts = Pick<BackupHeader, 'entries' | 'bytes' | 'newBytes'>;

/** `1,203 files and folders, 4.2G (12M of it new)`. */
export function amountWords({ entries, bytes, newBytes }: Amounts): string {
  const fresh = newBytes < bytes ? ` (${formatSize(newBytes)} of it new)` : '';
  return `${plural(entries, 'file or folder', 'files and folders')}, ${formatSize(bytes)}${fresh}`;
}

type Jobs = Pick<BackupHeader, 'lastJobId' | 'unfinishedJobs'>;

/** `jobs up to 582, 12 of them not ended`. */
export function jobWords({ lastJobId, unfinishedJobs }: Jobs): string {
  if (lastJobId === 0) return 'no job';
  const open = unfinishedJobs === 0 ? 'all ended' : `${unfinishedJobs} of them not ended`;
  return `jobs up to ${lastJobId}, ${open}`;
}
