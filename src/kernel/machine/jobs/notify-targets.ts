// Who a submission wants to be told: readable, allowed by the site, and not too many.

import { didYouMean } from '../../base/nearest-word.ts';
import { plural } from '../../base/plural.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { NOTIFY_TARGETS_MAX } from '../../model/limits.ts';
import {
  formatTarget,
  hostOf,
  matchesPattern,
  type NotifyRules,
  parseTarget,
  shownTarget,
  type Target,
} from '../../model/notification.ts';

/** The wishes without doubles. `rules` absent: the site tells nobody. */
export function completeTargets(
  texts: readonly string[],
  rules: NotifyRules | undefined,
): Result<readonly string[], Refusal> {
  const targets = new Set<string>();
  for (const text of texts) {
    const target = parseTarget(text);
    if (!target.ok) return err(refuse('argument.invalid', { what: target.error }));
    const refused = refusedTarget(target.value, rules);
    if (refused !== null) return err(refused);
    targets.add(formatTarget(target.value));
  }
  if (targets.size <= NOTIFY_TARGETS_MAX) return ok([...targets]);
  const what = `at most ${plural(NOTIFY_TARGETS_MAX, 'target')} can be told of one job`;
  return err(refuse('argument.invalid', { what }));
}

/** Why this target cannot be told; null: it can. */
export function refusedTarget(target: Target, rules: NotifyRules | undefined): Refusal | null {
  const { kind, to } = target;
  const allowed = rules?.[kind] ?? null;
  if (allowed === null) return refuse('notification.not_set_up', { kind });
  if (kind === 'command') return refusedCommand(to, allowed);
  const subject = kind === 'webhook' ? hostOf(target) : to;
  if (allowed.some((pattern) => matchesPattern(subject, pattern))) return null;
  const details = { target: shownTarget(formatTarget(target)), allowed: allowed.join(', ') };
  return refuse('notification.target_refused', details);
}

function refusedCommand(name: string, names: readonly string[]): Refusal | null {
  if (names.includes(name)) return null;
  const hint = didYouMean(name, names).trim();
  return refuse(
    'notification.command_unknown',
    { name, names: names.join(', ') },
    hint || undefined,
  );
}
