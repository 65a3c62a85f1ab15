// Samples: what nodes and tasks use over time.

import { z } from 'zod';
import { count, instant, nodeName, queryNumber } from '../../../kernel/api/common.ts';
import { type RouteShape, USER } from '../../../kernel/api/route-shape.ts';
import { SLOWED_BY } from '../../../kernel/model/gpu.ts';

/** Ms since 1970. */
const instantInQuery = queryNumber(0, Number.MAX_SAFE_INTEGER);

/** At equal steps; null: nobody looked then. */
const points = z.array(count.nullable()).readonly();
const curve = z.object({ mean: points, peak: points });

const ownerUse = z.object({
  owner: z.string(),
  /** Starts of tasks, on each of their nodes. */
  tasks: count,
  looks: count,
  /** Sums over all looks: in thousandths of a cpu, and bytes. */
  cpuMilliAsked: z.number(),
  cpuMilliUsed: z.number(),
  memoryBytesAsked: z.number(),
  memoryBytesUsed: z.number(),
  /** In thousandths of a gpu. */
  gpuMilliAsked: z.number(),
  gpuMilliUsed: z.number(),
});
export type OwnerUseView = z.infer<typeof ownerUse>;

/** One figure of one node's part of a task; `asked` 0: nothing was. */
const usedFigure = z.object({
  asked: count,
  mean: count,
  peak: count,
  /**
   * The curve of the only part, at equal steps; null: nobody looked then. Empty where there are
   * several.
   */
  curve: z.array(count.nullable()).readonly(),
});

export const usedView = z.object({
  /** Parts of tasks on nodes that were looked at. */
  parts: count,
  /** Where the curves begin. */
  from: instant,
  stepMs: count,
  /** In thousandths of a cpu. */
  cpuMilli: usedFigure,
  memoryBytes: usedFigure,
  /** In thousandths of a gpu; null: it has none. */
  gpuMilli: usedFigure.nullable(),
  /** From and to disks, of all parts together. */
  readBytes: count,
  writtenBytes: count,
});
export type UsedView = z.infer<typeof usedView>;

const cardUse = z.object({
  /** Name, type and state are those of the node. */
  label: z.string(),
  type: z.string(),
  state: z.string(),
  /** What keeps it from being given, in words; null: nothing. */
  why: z.string().nullable(),
  /** Tasks that have it now, with their epoch, and their users. */
  tasks: z.array(z.string()),
  users: z.array(z.string()),
  /** What it draws and how warm it is now; null: its tool does not say. */
  watts: z.number().nullable(),
  celsius: z.number().nullable(),
  /** What keeps it slow now; null: nothing does, or its tool does not say. */
  slowedBy: z.enum(SLOWED_BY).nullable(),
  /** Tasks that were seen with it since `from`, the latest first, as far as an answer has room. */
  past: z.array(
    z.object({
      task: z.string(),
      user: z.string(),
      /** When it was seen first and last. */
      from: instant,
      until: instant,
    }),
  ),
  /** Percent of its time, or of its memory. */
  percents: points,
});
export type CardUseView = z.infer<typeof cardUse>;

export const sampleRoutes = {
  nodeSamples: {
    summary: "What was used of a node's machine over time; the further back, the longer the steps.",
    access: USER,
    params: z.strictObject({ name: nodeName }),
    /** Absent: an hour ago. */
    query: z.strictObject({ from: instantInQuery.optional() }),
    reply: z.object({
      from: instant,
      stepMs: count,
      cpu: curve,
      memory: curve,
      /** Bytes a second, of all disks and over all networks. */
      flow: z.object({ read: curve, written: curve, received: curve, sent: curve }),
      /** By their numbers on the node. */
      gpus: z
        .array(
          z.object({
            number: count,
            busyPercent: curve,
            memoryBytes: curve,
            /** Means, as the following. */
            watts: points,
            celsius: points,
            /** Percent of looks at which heat, power or hardware kept it slow. */
            slowedPercent: points,
            /** Errors of its memory that it had corrected since its driver was loaded. */
            correctedErrors: points,
          }),
        )
        .readonly(),
    }),
  },
  gpuMap: {
    summary:
      'How much all gpus of all nodes worked over time, or how full they were, and who has them.',
    access: USER,
    /** Absent: an hour ago; `busy`. */
    query: z.strictObject({
      from: instantInQuery.optional(),
      figure: z.enum(['busy', 'memory']).optional(),
    }),
    reply: z.object({
      from: instant,
      stepMs: count,
      /** False: there are more cards than an answer has. */
      isWhole: z.boolean(),
      nodes: z.array(z.object({ name: z.string(), cards: z.array(cardUse) })),
    }),
  },
  usedByOwners: {
    summary: "What users' tasks used of what they asked for; operators see those of all users.",
    access: USER,
    /** Absent: a week ago. */
    query: z.strictObject({ since: instantInQuery.optional() }),
    reply: z.object({ owners: z.array(ownerUse) }),
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
