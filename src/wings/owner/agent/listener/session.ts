// What a helper in a user's session tells of its display.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import { isWhole } from '../../../../kernel/base/whole.ts';
import { type Refusal, refuse } from '../../../../kernel/model/errors.ts';
import type { SessionReport } from '../session-reports.ts';

/** Names of displays in X, of this machine or of another one. */
const DISPLAY = /^[\w.-]{0,64}:\d{1,5}$/;
/** A year; a longer one is no idle time. */
const IDLE_MS_MAX = 366 * 86_400_000;
const WHY_LENGTH_MAX = 200;

export function readReport(
  body: Readonly<Record<string, unknown>>,
  user: string,
): Result<SessionReport, Refusal> {
  const { display, idleMs, why } = body;
  if (typeof display === 'string' && DISPLAY.test(display)) {
    if (isWhole(idleMs, 0, IDLE_MS_MAX)) {
      return ok({ display, user, seen: { idleMs: idleMs as number } });
    }
    if (typeof why === 'string' && why.length <= WHY_LENGTH_MAX) {
      return ok({ display, user, seen: { why: why.replaceAll(/\p{Cc}/gu, ' ') } });
    }
  }
  const what = 'a display such as :0, and idleMs in ms or why in words are expected';
  return err(refuse('request.malformed', { what }));
}
