// Pauses of nodes that operators ask for.

import { z } from 'zod';
import { count, noBody } from '../../../kernel/api/common.ts';
import { nodeChange } from '../../../kernel/api/nodes.ts';
import type { RouteShape } from '../../../kernel/api/route-shape.ts';

/** Longer than any node takes is refused by its own limit. */
const pauseRequest = z.strictObject({
  durationMs: count,
  requeue: z.boolean().optional(),
});

export const pauseRoutes = {
  pauseNode: {
    ...nodeChange,
    summary: 'Ask a node to stand aside: its tasks are suspended, and nothing starts there.',
    body: pauseRequest,
  },
  unpauseNode: { ...nodeChange, summary: 'End the pause of a node.', body: noBody },
} as const satisfies Readonly<Record<string, RouteShape>>;
