// Backups of the head: made now or by a schedule, and what is there.

import { z } from 'zod';
import { count, instant, instantOrNull, plainLine } from '../../../kernel/api/common.ts';
import { OPERATOR, type RouteShape, USER } from '../../../kernel/api/route-shape.ts';
import { isPlace, PLACE_WORDS } from '../core/place.ts';
import { backupHeader } from './backup-header.ts';

/** A folder on the head's machine by its absolute path, or a place in a bucket. */
const folder = plainLine.max(4000).refine(isPlace, { error: PLACE_WORDS });

export const backupView = backupHeader
  .omit({ format: true, listSha256: true })
  .extend({ name: z.string(), folder: z.string() });
export type BackupView = z.infer<typeof backupView>;

export const backupsReply = z.object({
  /** Where the configuration has them (`backup.to`), how often, and how many stay. */
  to: z.string().nullable(),
  everyMs: count.nullable(),
  keep: count,
  nextAt: instantOrNull,
  /** The one that is being made. */
  running: z
    .object({ name: z.string(), folder: z.string(), since: instant, entries: count, bytes: count })
    .nullable(),
  /** The last that was made in `to`, as far as this head knows. */
  last: backupView.nullable(),
  /** Why the last attempt there failed; null: it did not. */
  failure: z.object({ at: instant, folder: z.string(), why: z.string() }).nullable(),
  /** How the last attempt of this head ended, in whichever folder. */
  recent: z
    .object({
      name: z.string(),
      folder: z.string(),
      made: backupView.nullable(),
      why: z.string().nullable(),
    })
    .nullable(),
});
export type BackupsReply = z.infer<typeof backupsReply>;

export const backupRoutes = {
  makeBackup: {
    summary: 'Begin a backup of the head; `showBackups` tells when it is done.',
    access: OPERATOR,
    body: z.strictObject({ to: folder.optional() }),
    reply: z.object({ name: z.string(), folder: z.string() }),
  },
  showBackups: {
    summary:
      'How the head is backed up: the schedule, the last backup, and the one that is being made.',
    access: USER,
    reply: backupsReply,
  },
  listBackups: {
    summary: 'The whole backups in a folder, the oldest first.',
    access: OPERATOR,
    query: z.strictObject({ in: folder.optional() }),
    /** Null when none was named, and none is configured. */
    reply: z.object({ folder: z.string().nullable(), backups: z.array(backupView) }),
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
