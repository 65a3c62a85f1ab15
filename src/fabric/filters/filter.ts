// Filters and annotations: what a scheduler from outside sees of nodes and jobs is what the site
// wants it to see. Rules apply in their order; each sees the labels that those before it have added.

import type { FilterRule } from '../../core/model/filter-rule.ts';
import { meetsLabel } from '../../core/model/labels.ts';

/** What rules make of one node or job. */
export interface Filtered {
  /** The rule that hides it; null: it is shown. */
  readonly hiddenBy: string | null;
  readonly added: readonly string[];
  readonly queue: string | null;
  /** All rules that were for it. */
  readonly matched: readonly string[];
}

export function filtered(
  rules: readonly FilterRule[],
  over: FilterRule['over'],
  labels: Iterable<string>,
): Filtered {
  const all = new Set(labels);
  const added: string[] = [];
  const matched: string[] = [];
  let queue: string | null = null;
  for (const rule of rules) {
    if (rule.over !== over || !rule.when.every((label) => meetsLabel(all, label))) continue;
    matched.push(rule.name);
    if (rule.hide) return { hiddenBy: rule.name, added, queue, matched };
    for (const label of rule.add) {
      if (!all.has(label)) added.push(label);
      all.add(label);
    }
    queue = rule.queue ?? queue;
  }
  return { hiddenBy: null, added, queue, matched };
}
