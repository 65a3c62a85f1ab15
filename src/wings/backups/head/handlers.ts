// Backups: begun by operators, looked at by everybody.

import { ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';

export const makeBackup: Handler<'makeBackup'> = ({ backups }, { body }) => backups.start(body.to);

export const showBackups: Handler<'showBackups'> = ({ backups }) => ok(backups.view());

export const listBackups: Handler<'listBackups'> = ({ backups }, { query }) =>
  backups.list(query.in);
