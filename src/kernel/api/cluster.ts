// The cluster as a whole: what it is, how it is, and what happens in it.

import { z } from 'zod';
import { count, instant, queryFlag, queryList, queryNumber, resources } from './common.ts';
import { jobView } from './jobs.ts';
import { UNUSABLE } from './nodes.ts';
import { PUBLIC, type RouteShape, USER } from './route-shape.ts';
import { onNodeLoss } from './submission.ts';

/** Counted resources of the whole cluster. Absent: an older head. */
const clusterResources = z
  .array(z.object({ name: z.string(), total: count, used: count }))
  .optional();

/** Which there are, the wings of a head say. */
export const eventKind = z.string();

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
  resources: clusterResources,
  /** Times at which the head was told to go on without accepted records that were missing. */
  losses: z.array(
    z.object({
      at: instant,
      /** What happened from here until then is lost; absent: nobody knows since when. */
      since: instant.optional(),
      /** The last record that was there, and the last that should have been; null: not known. */
      lastSeq: count,
      promisedSeq: count.nullable(),
      /** Jobs with these ids are lost; `jobIdTo` below `jobIdFrom`: none was lost whole. */
      jobIdFrom: count,
      jobIdTo: count,
    }),
  ),
  /** Words while the head's full disk keeps it from writing, or from all but ends; else null. */
  obstacle: z.string().nullable().optional(),
  /** Words while the head lacks records that its nodes know of, and starts nothing; else null. */
  behind: z.string().nullable().optional(),
  /** When the head found that its store is a copy, and which ids it skipped; null: never. */
  copied: z
    .object({ at: instant, jobIdFrom: count, nextJobId: count })
    .readonly()
    .nullable()
    .optional(),
  /** When the head's clock was set, the last times; `byMs` below 0: back. Absent: an older head. */
  clockSteps: z.array(z.object({ at: instant, byMs: z.number() })).optional(),
  /** What becomes of tasks on silent nodes if neither job nor node says; null: it is found out. */
  onNodeLoss: onNodeLoss.nullable().optional(),
  /** What whoever asks may hold at once in the whole cluster; what is not named has no cap. */
  ownCaps: z.record(z.string(), count).optional(),
  /**
   * What the configuration names and the cluster does not have, in words. Absent: an older head.
   */
  settingsNotes: z.array(z.string()).exactOptional(),
  /** What tasks left behind and the head keeps. */
  archive: z.object({
    bytes: count,
    bytesMax: count,
    /** What is removed next, and when; earlier when room is short. Null: nothing is kept. */
    next: z.object({ jobId: count, bytes: count, goesAt: instant }).nullable(),
  }),
  head: z.object({
    hostname: z.string(),
    /** SHA-256 of its certificate, hex; null when it listens on no port. */
    fingerprint: z.string().nullable(),
    /** When that ends; absent from older heads. */
    certificateUntil: instant.nullable().exactOptional(),
    /** `host:port`, best first. */
    addresses: z.array(z.string()),
    pid: count,
    user: z.string(),
    nodeVersion: z.string(),
    startedAt: instant,
    cpuCount: count,
    memoryBytes: count,
    memoryFreeBytes: count,
    load1: z.number(),
    /** Resident memory of the head's process. */
    residentBytes: count,
    /** Sequence number of the last record. */
    seq: count,
    /** The head's clock, for comparing. */
    now: instant,
  }),
});
export type InfoReply = z.infer<typeof infoReply>;

/** Means over one step of time. */
const loadPoint = z.object({
  /** Begin of the step, and its length. */
  at: instant,
  ms: count,
  cpus: z.number().meta({ description: 'Cpus in use.' }),
  cpusTotal: z.number().meta({ description: 'Cpus of all nodes.' }),
  waiting: z.number().meta({ description: 'Tasks that wait for a start.' }),
});
export type LoadPoint = z.infer<typeof loadPoint>;

/** Steps without a point are times at which no head looked. */
export const loadReply = z.object({
  points: z.array(loadPoint),
  /** The head's clock, for comparing. */
  now: instant,
});
export type LoadReply = z.infer<typeof loadReply>;

/** What of jobs is listed: the first few only, of whatever number there is. */
export const overviewReply = z.object({
  /** Jobs in memory by state; all that are not done are there. */
  jobs: z.record(z.string(), count),
  /** Tasks that wait for a start. */
  queueLength: count,
  total: resources,
  free: resources,
  gpusUnusable: count.exactOptional().meta({ description: UNUSABLE }),
  resources: clusterResources,
  /** How many jobs ended in which way within the last day. */
  ended: z.record(z.string(), count),
  /** Jobs that run, those that were started last first. */
  running: z.array(jobView),
  /** Jobs that wait for the scheduler with nothing running, in the order it considers them. */
  waiting: z.array(jobView),
  /** Jobs that have a notice: of the first thousands of tasks that were looked at. */
  stuck: z.array(jobView),
  /** Jobs in memory that neither completed nor were cancelled, the newest end first. */
  failed: z.array(jobView),
});
export type OverviewReply = z.infer<typeof overviewReply>;

export const eventsQuery = z.strictObject({
  /** Records after this one; the header `Last-Event-ID` wins. Default: from now on. */
  after: queryNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  /** Only events about these jobs. */
  job: queryList(z.coerce.number().int().min(1)).optional(),
  /** Only events of these kinds. */
  kind: queryList(eventKind).optional(),
  /** Events about jobs with kind and job alone, and those alike that come together as one. */
  brief: queryFlag.optional(),
});

/** What a reader that was cut off sends, as EventSource of a browser does by itself. */
export const eventsHeaders = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .meta({ description: 'The id of the last event that was read: the stream goes on after it.' }),
});

/** One event. Besides these fields it has those of its kind. */
export const eventView = z.looseObject({
  kind: z.string().meta({ description: 'An EventKind; a newer head may send others.' }),
  jobId: z.int().optional().meta({ description: 'The job that it is about, if it is about one.' }),
  count: z.int().optional().meta({ description: 'With `brief`: so many are told as this one.' }),
});

/** The data of one server-sent event; its id is `seq`. Only what the reader may see is in it. */
export const recordView = z.object({ seq: z.int(), at: instant, events: z.array(eventView) });
export type RecordView = z.infer<typeof recordView>;

export const healthReply = z.object({ status: z.enum(['ok', 'starting', 'stopping']) });

export const clusterRoutes = {
  info: { summary: 'The cluster and its head.', access: USER, reply: infoReply },
  overview: {
    summary:
      'The cluster at a glance: what is in use, and the first of what runs, waits and failed.',
    access: USER,
    reply: overviewReply,
  },
  loadHistory: {
    summary: 'Cpus in use and tasks that waited over the last day, the oldest first.',
    access: USER,
    reply: loadReply,
  },
  events: {
    summary: 'What happens, as server-sent events; resume with Last-Event-ID.',
    access: USER,
    headers: eventsHeaders,
    query: eventsQuery,
    produces: 'events',
  },
  metrics: {
    summary: 'Figures for Prometheus.',
    access: { kind: 'local_or_user' },
    produces: 'text',
  },
  health: { summary: 'The head is alive.', access: PUBLIC, reply: healthReply },
  readiness: {
    summary: 'The head accepts work: 200, else 503.',
    access: PUBLIC,
    reply: healthReply,
  },
  openapi: {
    summary: 'This table as OpenAPI 3.1.',
    access: PUBLIC,
    reply: z.record(z.string(), z.unknown()),
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
