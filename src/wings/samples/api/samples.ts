// Samples: what nodes and tasks use over time.

import { z } from 'zod';
import { count, instant, nodeName, queryNumber } from '../../../kernel/api/common.ts';
import { type RouteShape, USER } from '../../../kernel/api/route-shape.ts';

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
      /** By their numbers on the node. */
      gpus: z.array(z.object({ number: count, busyPercent: curve, memoryBytes: curve })).readonly(),
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
