// Notices as a noun.

import { formatInstant } from '../../../kernel/base/instant.ts';
import { ok } from '../../../kernel/base/result.ts';
import { nameOf, needRole } from '../../../kernel/machine/authority.ts';
import { certainAt } from '../../../kernel/machine/head/clock.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import type { Notice, NoticeCommand } from './notice.ts';

export interface NoticeData {
  readonly notice: Notice | null;
}

export const notices: Noun<'notices', NoticeData> = {
  commands: {
    set_notice: decideSet,
    clear_notice: (step, _, actor) => decideClear(step, actor),
  },
  events: {
    notice_set(state, { notice }) {
      state.notice = notice;
    },
    notice_cleared(state) {
      state.notice = null;
    },
  },
  facts: () => ({ notice: null }),
  save: ({ notice }) => ({ notice }),
  load(state, { notice }) {
    state.notice = notice;
  },
  due(step) {
    const until = step.state.notice?.until ?? null;
    if (until !== null && until <= certainAt(step.state, step.at))
      step.emit({ kind: 'notice_cleared', by: 'system' });
  },
};

/** Whether users are to see it at this instant. */
export function isShown({ from, until }: Pick<Notice, 'from' | 'until'>, at: number): boolean {
  return (from ?? at) <= at && at < (until ?? Infinity);
}

type SetNotice = Extract<NoticeCommand, { kind: 'set_notice' }>;

/** That the text is one plain line, the schema of the API sees to. */
function decideSet(step: Step, { text, from, until }: SetNotice, actor: Actor): Answer {
  const allowed = needRole(actor, 'operator', 'setting a notice');
  if (!allowed.ok) return allowed;
  const what = until === null ? null : wrongEnd(until, from, step.at);
  if (what !== null) return step.refuse('argument.invalid', { what });
  step.emit({ kind: 'notice_set', notice: { text, from, until, by: nameOf(actor), at: step.at } });
  return ok({ kind: 'done' });
}

function decideClear(step: Step, actor: Actor): Answer {
  const allowed = needRole(actor, 'operator', 'clearing the notice');
  if (!allowed.ok) return allowed;
  if (step.state.notice === null) return ok({ kind: 'changed', count: 0 });
  step.emit({ kind: 'notice_cleared', by: nameOf(actor) });
  return ok({ kind: 'changed', count: 1 });
}

function wrongEnd(until: number, from: number | null, now: number): string | null {
  const end = formatInstant(until);
  if (until <= now) return `the notice would end at ${end}, which is over; give a later end`;
  if (from === null || from < until) return null;
  return `the notice would end at ${end}, before it begins; give a later end`;
}
