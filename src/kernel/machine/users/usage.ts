// Fair share in the journal: the rules by which usage is counted, and whose is no longer kept.

import type { BillingWeights } from '../../model/scheduling.ts';
import { waitingOwners } from '../jobs/apply.ts';
import type { Step } from '../step.ts';

/** Usage has to come out alike when the journal is read again, so the journal knows the rules. */
export function decideUsageRules(step: Step): void {
  const { halfLifeMs, weights } = step.settings.scheduling.fairShare;
  const { rules } = step.state.usage;
  if (halfLifeMs !== rules.halfLifeMs) step.emit({ kind: 'half_life_changed', halfLifeMs });
  if (!isSame(weights, rules.weights)) step.emit({ kind: 'billing_changed', weights });
}

/**
 * Usage of users that were removed, or have not come for long, would be kept for ever. Who waits or
 * has a place in the config keeps its account: that would only come back.
 */
export function forgetFaded(step: Step): void {
  const { state, settings, at } = step;
  const faded = state.usage.faded(at);
  if (faded.length === 0) return;
  const { users, groups } = settings.scheduling.fairShare;
  const named = new Set<string>([
    ...Object.keys(users),
    ...Object.values(groups).flatMap((group) => group.users),
  ]);
  const waiting = waitingOwners(state);
  const gone = faded.filter((user) => !named.has(user) && !waiting.has(user));
  if (gone.length > 0) step.emit({ kind: 'usage_forgotten', users: gone });
}

function isSame(a: BillingWeights, b: BillingWeights): boolean {
  if (a.cpu !== b.cpu || a.memory !== b.memory || a.gpu !== b.gpu) return false;
  const [types, others] = [a.gpus ?? {}, b.gpus ?? {}];
  const names = Object.keys({ ...types, ...others });
  return names.every((name) => types[name] === others[name]);
}
