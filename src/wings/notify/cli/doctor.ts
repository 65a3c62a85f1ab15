// What the doctor says of notifications: which means the site has set up, and whether they work.

import { plural } from '../../../kernel/base/plural.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Finding } from '../../../kernel/cli/doctor/finding.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { Failure } from '../../../kernel/model/failure.ts';

/** Nothing when the head does not answer: the check of the head says that. */
export async function notifierFindings(context: Context): Promise<Finding[]> {
  try {
    const api = await context.api();
    const { notifiers } = await api.call('listNotifications', { timeoutMs: 3000 });
    const now = Date.now();
    return notifiers.map(({ kind, waiting, toldAt, failure }): Finding => {
      const waits = waiting === 0 ? '' : `; ${plural(waiting, 'message')} waiting`;
      if (failure === null) {
        const last =
          toldAt === null
            ? 'not used since the head started'
            : `last used ${formatInstant(toldAt, now)}`;
        return { state: 'ok', text: `${kind}: ${last}${waits}` };
      }
      const text = `${kind}: failed ${formatInstant(failure.at, now)}: ${failure.why}${waits}`;
      return { state: 'note', text, remedy: REMEDY };
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [];
  }
}

const REMEDY = 'Check the `notify` keys of the configuration; see docs/notifications.md.';
