// Contents sent and fetched for a verb: with its client, and the patience that a person has.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Carrier } from '../../transfer/carrier.ts';
import type { Context } from '../context.ts';
import { withPatience } from '../jobs/retry.ts';

/** A head that restarts is back within seconds; a line that works again may take longer. */
const AWAY_MAX_MS = 120_000;

export function carrierOf(context: Context): Carrier {
  return {
    head: () => context.api(),
    pause: (ms) => sleep(ms),
    patiently: (note, attempt) => withPatience(context, { totalMs: AWAY_MAX_MS, note }, attempt),
  };
}
