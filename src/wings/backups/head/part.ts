// What the wing adds to a head.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler, HandlersOf } from '../../../kernel/head/http/call.ts';
import { type Scrape, value } from '../../../kernel/head/http/scrape.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { hasRole, type UserActor } from '../../../kernel/model/actor.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { backupRoutes } from '../api/backups.ts';
import { isBucket } from '../core/place.ts';
import type { Backups } from './backups.ts';

/** Backups: begun by operators, looked at by everybody. */
const makeBackup: Handler<'makeBackup'> = ({ backups }, { body: { to }, actor }) => {
  const why = whyNotThere(backups, to, actor);
  return why === null ? backups.start(to) : err(why);
};

const showBackups: Handler<'showBackups'> = ({ backups }) => ok(backups.view());

const listBackups: Handler<'listBackups'> = ({ backups }, { query, actor }) => {
  const why = whyNotThere(backups, query.in, actor);
  return why === null ? backups.list(query.in) : err(why);
};

/** A backup has the head's keys: who could send one to a bucket of theirs would be an admin. */
function whyNotThere(
  backups: Pick<Backups, 'view'>,
  place: string | undefined,
  actor: UserActor,
): Refusal | null {
  if (place === undefined || !isBucket(place) || place === backups.view().to) return null;
  if (hasRole(actor, 'admin')) return null;
  const { name: user, role: actual } = actor;
  const action = 'a bucket that is not backup.to';
  return refuse('auth.role_needed', { action, role: 'admin', user, actual });
}

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly backups: Backups;
  }
}

const handlers: HandlersOf<typeof backupRoutes> = { makeBackup, showBackups, listBackups };

export function backupsHead(backups: Backups): HeadPart {
  return {
    handlers,
    begin: () => ({ tick: () => backups.tick() }),
    openListeners: () => ({ services: { backups } }),
    measure,
  };
}

/** Figures of backups for Prometheus: an alert on the first one is worth waking for. */
function measure({ backups }: Services, scrape: Scrape): void {
  const { last, failure } = backups.view();
  if (last !== null) {
    const help = 'When the last backup was begun, in seconds since 1970.';
    value(scrape, 'weft_backup_last_timestamp_seconds', help, last.madeAt / 1000);
    value(scrape, 'weft_backup_last_bytes', 'Bytes of the last backup.', last.bytes);
  }
  const failed = failure === null ? 0 : 1;
  value(scrape, 'weft_backup_failed', 'Whether the last attempt to make a backup failed.', failed);
}
