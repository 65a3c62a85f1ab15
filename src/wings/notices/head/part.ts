// What the wing adds to a head.

import { ok } from '../../../kernel/base/result.ts';
import type { Handler, HandlersOf } from '../../../kernel/head/http/call.ts';
import { changed } from '../../../kernel/head/http/handlers/job-actions.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { noticeEvents } from '../api/events.ts';
import type { noticeRoutes } from '../api/notices.ts';
import type { NoticeEvent } from '../machine/notice.ts';
import { isShown } from '../machine/notices.ts';

/** The notice: shown to all users, set and cleared by operators. */
const setNotice: Handler<'setNotice'> = async ({ engine }, { body, actor }) => {
  const { text, from = null, until = null } = body;
  return changed(await engine.execute({ kind: 'set_notice', text, from, until }, actor));
};

const getNotice: Handler<'getNotice'> = ({ engine }) => {
  const { notice } = engine.state;
  if (notice === null) return ok({ notice });
  return ok({ notice: { ...notice, shown: isShown(notice, engine.now()) } });
};

const clearNotice: Handler<'clearNotice'> = async ({ engine }, { actor }) =>
  changed(await engine.execute({ kind: 'clear_notice' }, actor));

const events: EventsPart<NoticeEvent> = { kinds: noticeEvents };

const handlers: HandlersOf<typeof noticeRoutes> = { setNotice, getNotice, clearNotice };

export const head: HeadPart = { handlers, events };
