// Goal state: what nodes are to be like, how they differ, and what is done about it.

import { z } from 'zod';
import { changedReply, count, instantOrNull, nodeName } from '../../../kernel/api/common.ts';
import { OPERATOR, type RouteShape, USER } from '../../../kernel/api/route-shape.ts';

const difference = z.object({
  goal: z.string(),
  actual: z.string(),
  expected: z.string(),
  canRepair: z.boolean(),
});

const standing = z.object({
  node: z.string(),
  class: z.string(),
  /** Null: not looked at since the head started or its last repair, or not all is known. */
  differences: z.array(difference).nullable(),
  lookedAt: instantOrNull,
  /** What keeps it from being repaired; null: nothing, or nothing is to be done. */
  next: z.string().nullable(),
  /** Repairs in a row so far. */
  attempts: count,
});
export type GoalStandingView = z.infer<typeof standing>;

export const goalsReply = z.object({
  /** Between two looks at a node. */
  everyMs: count,
  /** Whether repairs are planned without being asked for. */
  repairs: z.boolean(),
  /** Where they come from, read when (ms since 1970), and why not again; null: a file in order. */
  source: z
    .object({ url: z.string(), readAt: instantOrNull, problem: z.string().nullable() })
    .nullable(),
  nodes: z.array(standing),
});

export const lookRequest = z.strictObject({
  /** Absent: all nodes that have goals. */
  nodes: z.array(nodeName).max(10_000).optional(),
  /** Repair those that differ, even where repairs are off, were cancelled or given up. */
  repair: z.boolean().optional(),
});

export const goalRoutes = {
  getGoals: {
    summary: 'Nodes that have goals, how they differ, and what keeps them from being repaired.',
    access: USER,
    reply: goalsReply,
  },
  lookAtNodes: {
    summary: 'Look at nodes at once, and, if asked to, repair those that differ from their goals.',
    access: OPERATOR,
    body: lookRequest,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
