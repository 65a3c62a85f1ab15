// The notice: shown to all users, set and cleared by operators.

import { ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { changed } from '../../../kernel/head/http/handlers/job-actions.ts';
import { isShown } from '../machine/notices.ts';

export const setNotice: Handler<'setNotice'> = async ({ engine }, { body, actor }) => {
  const { text, from = null, until = null } = body;
  return changed(await engine.execute({ kind: 'set_notice', text, from, until }, actor));
};

export const getNotice: Handler<'getNotice'> = ({ engine }) => {
  const { notice } = engine.state;
  if (notice === null) return ok({ notice });
  return ok({ notice: { ...notice, shown: isShown(notice, engine.now()) } });
};

export const clearNotice: Handler<'clearNotice'> = async ({ engine }, { actor }) =>
  changed(await engine.execute({ kind: 'clear_notice' }, actor));
