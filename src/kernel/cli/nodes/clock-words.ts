// Whether a node's clock is worth a remark.

import type { NodeView } from '../../api/nodes.ts';
import { formatSpan } from '../output/words.ts';

/** Below this, times of different machines can be compared by eye. */
const OFFSET_MAX_MS = 2000;

/** `5s ahead of the head's`; empty while it is right, or not known. */
export function clockWords({ clockOffsetMs }: Pick<NodeView, 'clockOffsetMs'>): string {
  const offset = clockOffsetMs ?? 0;
  if (Math.abs(offset) <= OFFSET_MAX_MS) return '';
  return `${formatSpan(Math.abs(offset))} ${offset > 0 ? 'ahead of' : 'behind'} the head's`;
}
