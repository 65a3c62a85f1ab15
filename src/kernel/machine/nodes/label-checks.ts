// Labels and expressions that nodes are asked for by: what cannot be read, and what nobody has.

import { type Refusal, refuse } from '../../model/errors.ts';
import { isExpression, meetsLabel, parseLabels } from '../../model/labels.ts';
import { withoutFeatures } from '../../model/node-features.ts';
import type { Node } from './facts.ts';
import { labelsOf } from './view.ts';

/** The first expression that cannot be read, with the column. */
export function unreadableLabel(labels: readonly string[]): Refusal | null {
  for (const label of labels.filter(isExpression)) {
    const parsed = parseLabels(label);
    if (parsed.ok) continue;
    const { column, what } = parsed.error;
    return refuse('label.invalid', { labels: label, column: String(column), what });
  }
  return null;
}

/**
 * The first plain label that none of these nodes has; expressions may be met some day, and what
 * agents lack is told of otherwise.
 */
export function unknownLabel(labels: readonly string[], nodes: Iterable<Node>): Refusal | null {
  const label = withoutFeatures(labels).find((one) => !isExpression(one) && !isOnAny(one, nodes));
  return label === undefined ? null : refuse('label.unknown', { label });
}

function isOnAny(label: string, nodes: Iterable<Node>): boolean {
  for (const node of nodes) if (meetsLabel(labelsOf(node), label)) return true;
  return false;
}
