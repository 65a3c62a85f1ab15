// Nodes over time: what ran there, what runs, and what is to run by today's plan.

import { z } from 'zod';
import { TASK_STATES } from '../model/job.ts';
import { count, instant, instantOrNull, nodeName, queryNumber } from './common.ts';
import { type RouteShape, USER } from './route-shape.ts';
import { startGuess } from './start-guess.ts';

const scheduleQuery = z.strictObject({
  /** What ended before is left out. Default: an hour ago. */
  from: queryNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  /** Bars of what is over, at most; those that ended last. */
  limit: queryNumber(0, 10_000).optional(),
  /** Only what ran, runs and is planned on this node. */
  node: nodeName.optional(),
});

const scheduleBar = z.object({
  kind: z.enum(['past', 'running', 'planned']),
  /** `42` or `42[7]`. */
  id: z.string(),
  jobId: count,
  /** Empty where nobody knows it any more. */
  name: z.string(),
  owner: z.string(),
  nodes: z.array(z.string()),
  /** Cpus that it has on each of them. Absent: it has whole nodes, or nobody knows any more. */
  cpuCount: count.exactOptional(),
  from: instant,
  /** When it ended, or will at the latest. Null: it has no time limit. */
  until: instantOrNull,
  /** A state, or how it ended. */
  word: z.union([z.enum(TASK_STATES), z.string()]),
  /** The planned start is a guess, as a site decides it. Absent: none does, or it has started. */
  guess: startGuess.optional(),
});
export type ScheduleBar = z.infer<typeof scheduleBar>;

const scheduleReply = z.object({
  at: instant,
  bars: z.array(scheduleBar),
  /** False: more tasks wait than a plan looks at. */
  isWhole: z.boolean(),
  /** False: more has ended since `from` than `limit`. */
  isPastWhole: z.boolean(),
  /** False: more runs than one answer tells. */
  isRunningWhole: z.boolean(),
});

export const scheduleRoutes = {
  schedule: {
    summary: 'What ran, runs and is planned to run on which nodes, as bars over time.',
    access: USER,
    query: scheduleQuery,
    reply: scheduleReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
