// What the doctor says of backups: whether there are any, how old the last is, and why one failed.

import type { Context } from '../../../kernel/cli/context.ts';
import type { Finding } from '../../../kernel/cli/doctor/finding.ts';
import { formatInstant, formatSpan } from '../../../kernel/cli/output/words.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import type { BackupsReply } from '../api/backups.ts';

/** Nothing when the head does not answer: the check of the head says that. */
export async function backupFindings(context: Context): Promise<Finding[]> {
  try {
    const api = await context.api();
    return findings(await api.call('showBackups', { timeoutMs: 3000 }), Date.now());
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [];
  }
}

export function findings({ to, last, failure, everyMs }: BackupsReply, now: number): Finding[] {
  const made = lastOf({ to, last }, now);
  if (failure !== null) {
    const text = `backups: failed ${formatInstant(failure.at, now)} in ${failure.folder}: ${failure.why}${made}`;
    return [
      { state: 'bad', text, remedy: 'Mend the cause, and run `weft backup`; see docs/backup.md.' },
    ];
  }
  if (to === null) {
    const remedy = 'Set backup.to to a folder on another disk; see docs/backup.md.';
    return [{ state: 'note', text: `backups: none are made by themselves${made}`, remedy }];
  }
  return [{ state: 'ok', text: `backups: in ${to} every ${formatSpan(everyMs ?? 0)}${made}` }];
}

/** Words on the newest in the folder of the configuration: the head knows of no others. */
function lastOf({ to, last }: Pick<BackupsReply, 'to' | 'last'>, now: number): string {
  if (to === null) return '';
  return last === null
    ? '; none is there yet'
    : `; the last was made ${formatInstant(last.madeAt, now)}`;
}
