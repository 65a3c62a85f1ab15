// Jobs that a user gave to a site itself: our books on them may end without them. What the site
// runs runs; it ends for us only if somebody wants it to end.

import type { EndOrder } from '../model/orders.ts';
import { type Epoch, isLaunched, type Now } from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import { endOfNothing } from './finished.ts';

/**
 * What heads say of an end that somebody asked for: its owner, an operator, or a rule that they
 * set.
 */
const WISHES: ReadonlySet<string> = new Set(['cancel', 'requeue']);

/**
 * True when the epoch is not ours to end: we only know that a head does not count it, or not this
 * part.
 */
export function isLetGo(epoch: Epoch, { why }: Pick<EndOrder, 'why'>): boolean {
  if (epoch.order.foreign === undefined || WISHES.has(why)) return false;
  return isLaunched(epoch) && epoch.run.ending === null;
}

/**
 * Lets an epoch go, as if it had never been here. That says nothing of the job, which its site goes
 * on to list.
 */
export function letGo(epoch: Epoch, why: string, now: Now): RunnerEvent[] {
  const { epochId } = epoch.order;
  const detail = `its gateway let go of it, and its site goes on with it: ${why}`;
  const report = endOfNothing(epochId, { at: now.at, cause: 'never_started', detail });
  return [
    { kind: 'let_go', epochId },
    { kind: 'epoch_ended', epochId, report },
  ];
}
