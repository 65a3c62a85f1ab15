// Contents sent and fetched for a verb: with its client, the patience that a person has, and a line
// that says how far it is.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress, TransferContext } from '../../transfer/transfer-context.ts';
import type { Context } from '../context.ts';
import { TransferProgress } from '../progress/transfer.ts';
import { withPatience } from './patience.ts';

/** A head that restarts is back within seconds; a line that works again may take longer. */
const AWAY_MAX_MS = 120_000;

/** `isQuiet`: how far it is, is not told. */
export function transferOf(context: Context, { isQuiet = false } = {}): TransferContext {
  return {
    access: {
      head: () => context.api(),
      pause: (ms) => sleep(ms),
      patiently: (note, attempt) => withPatience(context, { totalMs: AWAY_MAX_MS, note }, attempt),
    },
    note: (line) => context.note(line),
    progress: (errand) => (isQuiet ? UNSEEN : new TransferProgress(context, errand)),
  };
}

const UNSEEN: Progress = {
  start: () => undefined,
  moved: () => undefined,
  stop: () => undefined,
};
