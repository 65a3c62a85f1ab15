// What jobs used, added up from the accounting records.

import { z } from 'zod';
import { USAGE_KEYS } from '../model/usage-keys.ts';
import { count, instant, queryNumber } from './common.ts';
import { type RouteShape, USER } from './route-shape.ts';

/** Rows of time in one answer. */
const STEPS_MAX = 1000;
const INSTANT_MAX = 8.64e15;

export const usageReportQuery = z
  .strictObject({
    by: z.enum(USAGE_KEYS).optional(),
    owner: z.string().optional(),
    partition: z.string().optional(),
    /** Ended at or after, and before; ms since 1970. Default: 30 days ago, and no end. */
    from: queryNumber(0, INSTANT_MAX).optional(),
    until: queryNumber(0, INSTANT_MAX).optional(),
    /** One row for so many ms of it, counted from `from`; with `from` and `until`. */
    stepMs: queryNumber(60_000, INSTANT_MAX).optional(),
  })
  .refine(
    ({ from, until, stepMs }) =>
      stepMs === undefined ||
      (from !== undefined && until !== undefined && (until - from) / stepMs <= STEPS_MAX),
    { error: `stepMs with from and until, so that there are at most ${STEPS_MAX} steps` },
  );

const usageReportRow = z.object({
  /** User, group, partition, outcome or type of gpus; empty: a group of nobody, or no type. */
  key: z.string(),
  /** Where its step begins; without steps, `from`. */
  from: instant,
  /** Starts that ended in it, and those that ended their task; each counts where it ended. */
  starts: count,
  tasks: count,
  /** Cpus asked for, or of whole nodes all, times the hours that they were held. */
  cpuHours: z.number(),
  /** GiB asked for, or of whole nodes all, times the hours that they were held. */
  gibHours: z.number(),
  /** Gpus times the hours they were held; shares of gpus count whole. Absent: an older head. */
  gpuHours: z.number().optional(),
  /** Cpu time that the processes used. */
  usedCpuHours: z.number(),
});
export type UsageReportRow = z.infer<typeof usageReportRow>;

/** By step, then by key. */
export const usageReportReply = z.object({
  from: instant,
  /** Without one in the query: now, though what has ended later by a clock ahead counts. */
  until: instant,
  rows: z.array(usageReportRow),
});

export const usageReportRoutes = {
  reportUsage: {
    summary: 'What jobs used, added up by user, group, partition or outcome, and by time.',
    access: USER,
    query: usageReportQuery,
    reply: usageReportReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
