// The cluster as a whole: what it is, how it is, and what happens in it.

import { z } from 'zod';
import { count, instant, queryNumber, resources } from './common.ts';

export const infoReply = z.object({
  clusterName: z.string(),
  version: z.string(),
  protocol: z.int(),
  multiUser: z.boolean(),
  /** Jobs in memory by state. */
  jobs: z.record(z.string(), count),
  /** Tasks that wait for a start. */
  queueLength: count,
  nodes: z.record(z.string(), count),
  total: resources,
  free: resources,
  head: z.object({
    hostname: z.string(),
    pid: count,
    user: z.string(),
    nodeVersion: z.string(),
    startedAt: instant,
    cpuCount: count,
    memoryBytes: count,
    memoryFreeBytes: count,
    load1: z.number(),
    /** Of the head's process. */
    residentBytes: count,
    /** Sequence number of the last record. */
    seq: count,
    /** Its clock, for comparing. */
    now: instant,
  }),
});
export type InfoReply = z.infer<typeof infoReply>;

export const eventsQuery = z.strictObject({
  /** Records after this one; the header `Last-Event-ID` wins. Default: from now on. */
  after: queryNumber(0, Number.MAX_SAFE_INTEGER).optional(),
});

/** The data of one server-sent event; its id is `seq`. Only what the reader may see is in it. */
const recordView = z.object({
  seq: z.int(),
  at: instant,
  events: z.array(z.looseObject({ kind: z.string() })),
});
export type RecordView = z.infer<typeof recordView>;

export const healthReply = z.object({ status: z.enum(['ok', 'starting', 'stopping']) });
