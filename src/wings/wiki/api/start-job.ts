// The start of a task on nodes that an external scheduler has chosen.

import { z } from 'zod';
import { changedReply, count, nodeName, taskParams } from '../../../kernel/api/common.ts';
import { OPERATOR, type RouteShape } from '../../../kernel/api/route-shape.ts';

const startRequest = z.strictObject({
  index: count.optional(),
  /** One for each part of the task. */
  nodes: z.array(nodeName).min(1).max(10_000),
});

export const startRoutes = {
  startJob: {
    summary:
      'Start a task now on these nodes: for the scheduler of a partition with policy external.',
    access: OPERATOR,
    params: taskParams,
    body: startRequest,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
