// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { backupRoutes } from '../api/backups.ts';
import type { Backups } from './backups.ts';
import { listBackups, makeBackup, showBackups } from './handlers.ts';
import { measure } from './measure.ts';

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
