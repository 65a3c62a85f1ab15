// What a backup says of itself: the file `backup.json` in its folder, written last.

import { z } from 'zod';
import { count, instant } from '../../../kernel/api/common.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';

/** Number of the layout of a backup's folder; a reader refuses a higher one. */
export const BACKUP_FORMAT = 1;

export const backupHeader = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** The release that made it. */
  weft: z.string(),
  cluster: z.string(),
  /** The same for all backups of one head: a digest of its `stamp.key`. */
  head: z.string(),
  /** The head as of this instant, by its clock. */
  madeAt: instant,
  tookMs: count,
  /** Entries of `files.jsonl`, bytes of its files, and those that the last backup did not have. */
  entries: count,
  bytes: count,
  newBytes: count,
  /** SHA-256 of `files.jsonl`. */
  listSha256: z.string(),
  /** Number of the last record. */
  records: count,
  lastJobId: count,
  unfinishedJobs: count,
  /** Where the files of the configuration were that lie in `configuration`, in order. */
  configuration: z.array(z.string()),
  /** What could not be copied and was left out, and why; absent: nothing. */
  leftOut: z.array(z.string()).optional(),
});
export type BackupHeader = z.infer<typeof backupHeader>;

/** Names in a backup's folder. */
export const HEADER_FILE = 'backup.json';
export const LIST_FILE = 'files.jsonl';
export const HEAD_FOLDER = 'head';
export const CONFIGURATION_FOLDER = 'configuration';

/** The error says what is wrong with it, as the end of a sentence. */
export function parseHeader(text: string): Result<BackupHeader, string> {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return err(`is no JSON: ${(error as Error).message}`);
  }
  const format = (read as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > BACKUP_FORMAT) {
    return err(`is of a newer release (format ${format}); take that release to read it`);
  }
  const header = backupHeader.safeParse(read);
  return header.success
    ? ok(header.data)
    : err(`is no header of a backup: ${z.prettifyError(header.error)}`);
}
