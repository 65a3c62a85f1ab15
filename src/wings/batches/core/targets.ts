// Whom a cluster notifies when a batch is over.

import { formatTarget } from '../../../kernel/model/notification.ts';
import type { Notice } from './batch.ts';

/** All but programs of the submitter's own, which no head runs. */
export function targetsOf(notices: readonly Notice[]): string[] {
  return notices
    .filter((notice) => notice.kind !== 'command' || !isOwnProgram(notice.command))
    .map((notice) => formatTarget({ kind: notice.kind, to: textOf(notice) }));
}

function textOf(notice: Notice): string {
  if (notice.kind === 'matrix') return notice.user;
  if (notice.kind === 'webhook') return notice.url;
  return notice.kind === 'mail' ? notice.address : notice.command;
}

/** A path; a word alone is the name of a command of the site. */
export function isOwnProgram(command: string): boolean {
  return command.includes('/');
}
