// Jobs and tasks as the API shows them, and the requests about them.

import { z } from 'zod';
import { JOB_ORDERS, OUTCOME_FILTERS, OUTCOMES, SIGNAL_TO, TASK_STATES } from '../model/job.ts';
import { JOB_SOURCES } from '../model/job-source.ts';
import {
  askedResources,
  count,
  exitStatus,
  instant,
  instantOrNull,
  keptAmounts,
  queryFlag,
  queryNumber,
  taskId,
} from './common.ts';
import { deliveryView } from './delivery.ts';
import { shownFields } from './option-fields.ts';
import { startGuess } from './start-guess.ts';

/** How a job or task ended; null until then. */
export const outcomeView = z.object({
  kind: z.enum(OUTCOMES),
  /** Exit of the process that decided it. */
  exit: exitStatus.nullable(),
  process: z.object({ node: z.string(), rank: count }).nullable(),
  detail: z.string().nullable(),
});

/** Why a task is pending, in one word and in words. */
const reasonView = z.object({ kind: z.string(), words: z.string() });

const usageView = z.object({ userUs: count, systemUs: count, memoryPeakBytes: count });

const requestView = z.object({
  nodeCount: count,
  processesPerNode: count,
  perNode: askedResources,
  exclusive: z.boolean(),
  labels: z.array(z.string()),
  nodeNames: z.array(z.string()),
  ofCluster: z
    .record(z.string(), count)
    .exactOptional()
    .meta({ description: 'Counted resources of the whole cluster, held once. Absent: none.' }),
});

/** A job in a list: what every user may see of every job. Never environment or script. */
export const jobView = z.object({
  id: z.int(),
  source: z.enum(JOB_SOURCES),
  /** The job's name at its site: `hpc/4711`; null for a job that is at no site. */
  siteJob: z.string().nullable(),
  name: z.string(),
  owner: z.string(),
  partition: z.string(),
  /** State of the job: that of its most advanced task while any is not done. */
  state: z.enum(TASK_STATES),
  outcome: outcomeView.nullable(),
  /** Why its first pending task waits; null when none does. */
  reason: reasonView.nullable(),
  /** One sentence when its tasks' nodes cannot be reached: since when, and what will happen. */
  notice: z.string().nullable(),
  /** Points, while it waits for the scheduler; null otherwise. */
  priority: z.number().nullable(),
  taskCount: count,
  taskCounts: z.record(z.string(), count),
  /** How many tasks that are done ended in which way. */
  outcomeCounts: z.record(z.string(), count),
  /** Index set of an array, `0-99`; null for a plain job. */
  array: z.string().nullable(),
  submittedAt: instant,
  /** When the first epoch of the first task was started. */
  startedAt: instantOrNull,
  /** Start of a plain job's current or last epoch, null while none runs; of arrays `startedAt`. */
  runStartedAt: instantOrNull,
  endedAt: instantOrNull,
  /** Nodes of the running tasks, at most a hundred; of a plain job that is done, where it ran. */
  nodes: z.array(z.string()),
  /** The job ran at a site that recorded no place, and nobody saw it: `nodes` says nothing. */
  nodesUnknown: z.literal(true).exactOptional(),
  exit: exitStatus.nullable(),
  command: z.string(),
  /** Shared directory; null = private. */
  directory: z.string().nullable(),
  request: requestView,
  walltimeMs: z.int().nullable(),
  held: z.boolean(),
  /** Absent: the usual one. */
  qos: z.string().exactOptional(),
  /** Limit of the array's tasks at once. Absent: none. */
  runningMax: z.int().nullable().exactOptional(),
  /** Dependencies that are waited for still. Absent: none. */
  openDependencies: z.array(z.object({ jobId: z.int(), condition: z.string() })).exactOptional(),
});
export type JobView = z.infer<typeof jobView>;

/**
 * Jobs that are not done, as columns with an entry for each: of a hundred thousand of them the
 * views take seconds. Names mean what they mean in a view.
 */
const jobColumns = z.object({
  id: z.array(z.int()),
  name: z.array(z.string()),
  owner: z.array(z.string()),
  partition: z.array(z.string()),
  state: z.array(z.enum(TASK_STATES)),
  /** The kind alone. */
  reason: z.array(z.string().nullable()),
  held: z.array(z.boolean()),
  array: z.array(z.string().nullable()),
  runningMax: z.array(z.int().nullable()),
  /** Null for a plain job. */
  taskCounts: z.array(z.record(z.string(), count).nullable()),
  startedAt: z.array(instantOrNull),
  runStartedAt: z.array(instantOrNull),
  nodes: z.array(z.array(z.string())),
  nodeCount: z.array(count),
  walltimeMs: z.array(z.int().nullable()),
});
export type JobColumns = z.infer<typeof jobColumns>;

/** One job in full. What is the owner's alone is null for others. */
export const jobDetail = jobView.extend({
  /** The program; for others than the owner the text of a script is left out (`''`). */
  program: z.unknown(),
  /** Owner only: the file that its script was read from; empty: none. Absent: nobody has said. */
  scriptPath: z.string().exactOptional(),
  /** Owner only, and only while the job is in memory: it is not kept in the history. */
  environment: z.record(z.string(), z.string()).nullable(),
  files: z.object({
    stdout: z.string().exactOptional(),
    stderr: z.string().exactOptional(),
    stdin: z.string().exactOptional(),
    append: z.literal(true).exactOptional(),
  }),
  /** Files of a job in a directory of its own: the list of those brought, patterns of the kept. */
  staging: z
    .object({ inputs: z.string().nullable(), outputs: z.array(z.string()).nullable() })
    .nullable(),
  dependencies: z.array(
    z.object({ jobId: z.int(), condition: z.string(), delayMs: count.exactOptional() }),
  ),
  waitsFor: z.array(z.int()),
  beginAt: instantOrNull,
  qos: z.string(),
  onNodeLoss: z.object({ kind: z.string(), leaseMs: z.int().exactOptional() }),
  /** The job whose failed tasks it runs again. */
  retryOf: z.int().nullable(),
  /** Jobs that ran failed tasks of this one again, the first one first, while in memory. */
  retries: z.array(z.int()).exactOptional(),
  /** A signal so long before the time limit. */
  warning: z
    .object({ leadMs: count, signal: z.int(), to: z.enum(SIGNAL_TO).exactOptional() })
    .nullable(),
  /** The job's tasks have items that are kept: the points of a sweep. */
  hasItems: z.boolean().exactOptional(),
  /** Ranks of a job with `mpi`. */
  ranksPerNode: count.nullable(),
  /** All of them, where the last nodes have one less. */
  ranks: count.exactOptional(),
  runningMax: z.int().nullable(),
  ...shownFields(),
  /** Owner only: whom it notifies when it is done, or has. */
  notifications: z.array(deliveryView).nullable(),
  cancelledBy: z.string().nullable(),
  usage: usageView,
  /**
   * What its running tasks have in memory, added up, and the most that one of them has had on a
   * node. Null: none runs, or nobody counts it.
   */
  memoryNow: z.object({ bytes: count, peakBytes: count }).nullable().exactOptional(),
  /** Owner and operators only: what its tasks left and the head keeps. Null: nothing. */
  outputs: keptAmounts.nullable(),
});
/** Wings add fields in their files `api/paths.ts`, and the schemas of these in `api/part.ts`. */
export interface JobDetail extends z.infer<typeof jobDetail> {}

/** What stands for `{}` and `{field}` in the command of a task. */
export const itemView = z.union([z.string(), z.record(z.string(), z.string())]);

const taskView = z.object({
  /** `42` or `42[7]`. */
  id: z.string(),
  jobId: z.int(),
  index: z.int().nullable(),
  /** Owner and operators only: its item; missing where it has none, or none is kept. */
  item: itemView.exactOptional(),
  state: z.enum(TASK_STATES),
  /** Starts so far. */
  epoch: count,
  outcome: outcomeView.nullable(),
  reason: reasonView.nullable(),
  /** Unreachable nodes: since when, and what will happen next. */
  notice: z.string().nullable(),
  nodes: z.array(z.string()),
  startedAt: instantOrNull,
  endedAt: instantOrNull,
  exit: exitStatus.nullable(),
  usage: usageView.nullable(),
});
export type TaskView = z.infer<typeof taskView>;

/** `active`: everything that is not done. `all`: no filter. */
export const listJobsQuery = z.strictObject({
  state: z.enum([...TASK_STATES, 'active', 'all']).optional(),
  owner: z.string().optional(),
  name: z.string().optional(),
  /** `failure`: every one but `completed` and `cancelled`. */
  outcome: z.enum(OUTCOME_FILTERS).optional(),
  /** `grid`: submitted here; `local`: by a site's own user; `maintenance`: a cluster's program. */
  source: z.enum(JOB_SOURCES).optional(),
  /** The job that stands for this one of a site: `hpc/4711`. */
  siteJob: z.string().max(1000).optional(),
  /**
   * Words, all of which stand somewhere in id, name, owner, state, partition, command, or, while it
   * runs, the nodes of a job. So many jobs are looked at for one answer that a page may have none,
   * and a `next`.
   */
  search: z.string().max(200).optional(),
  /** `priority`: only jobs that wait for the scheduler, in the order it considers them; a page. */
  sort: z.enum(JOB_ORDERS).optional(),
  limit: queryNumber(1, 1000).optional(),
  /** Only jobs with a smaller id: the `next` of the page before. */
  before: queryNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  /** Jobs that are not done, as `columns` of the reply and not as `jobs`. */
  columns: queryFlag.optional(),
});
/** Newest first. `next`: the `before` of the next page; null when this is the last. */
export const listJobsReply = z.object({
  jobs: z.array(jobView),
  next: z.int().nullable(),
  /** By priority there are no pages: others come after these. */
  more: z.boolean().optional(),
  columns: jobColumns.exactOptional(),
  /**
   * Whether the head knows an `owner` of no such job, by a role or a token. Told to operators, and
   * of oneself.
   */
  ownerIsKnown: z.boolean().exactOptional(),
});
export type ListJobsReply = z.infer<typeof listJobsReply>;

export const listTasksQuery = z.strictObject({
  limit: queryNumber(1, 1000).optional(),
  /** Only tasks with a greater index: the `next` of the page before. */
  after: queryNumber(-1, Number.MAX_SAFE_INTEGER).optional(),
  /** Only tasks that ended, neither completed nor cancelled. A page may be short, and go on. */
  failed: queryFlag.optional(),
  /** `begun`: of what waits the indices alone, in `waiting`. `active`: and none that is done. */
  only: z.enum(['begun', 'active']).optional(),
});
export const listTasksReply = z.object({
  tasks: z.array(taskView),
  next: z.int().nullable(),
  /** With `only`: index set of the tasks that wait, from `after` to `next`; empty: none. */
  waiting: z.string().exactOptional(),
});
export type ListTasksReply = z.infer<typeof listTasksReply>;

/** The sum that decides who goes first; parts in points. */
const priorityView = z.object({
  /** Tier of partition and QoS together: counts before all points. */
  tier: z.number(),
  sum: z.number(),
  age: z.number(),
  size: z.number(),
  fairShare: z.number(),
  partition: z.number(),
  qos: z.number(),
  nice: z.number(),
});
export type PriorityView = z.infer<typeof priorityView>;

export const explainReply = z.object({
  state: z.enum(TASK_STATES),
  reason: reasonView.nullable(),
  /** By today's plan; null when it does not wait for resources, or nobody can know. */
  startsAt: instantOrNull,
  /** Where, by today's plan. */
  startNodes: z.array(z.string()),
  /** The planned start is a guess, as a site decides it. Absent: no site does. */
  guess: startGuess.optional(),
  /** What asked for instead would start now, `3 nodes instead of 4`, the least change first. */
  smaller: z.array(z.string()),
  priority: priorityView.nullable(),
  /** Lines for people: why it waits, or where it runs, or how it ended; what it can expect. */
  words: z.string(),
});
export type ExplainReply = z.infer<typeof explainReply>;

const WAIT_MS_MAX = 3_600_000;

export const waitQuery = z.strictObject({
  /** Answered with `wait.timeout` after this long; one hour at most. */
  timeoutMs: queryNumber(0, WAIT_MS_MAX).optional(),
  until: z.enum(['done', 'started']).optional(),
});
/** Sent only when what was waited for is a durable fact. `task` is there when an index was. */
export const waitReply = z.object({ job: jobView, task: taskView.nullable() });
export type WaitReply = z.infer<typeof waitReply>;

/** Up to this many jobs and tasks in one wait. */
const WAIT_MAX = 1000;

export const waitManyRequest = z.strictObject({
  /** `42` or `42[7]`. */
  jobs: z.array(taskId).min(1).max(WAIT_MAX),
  /** Answered when all are as wanted (the default), or when any is. */
  mode: z.enum(['all', 'any']).optional(),
  until: z.enum(['done', 'started']).optional(),
  timeoutMs: z.int().min(0).max(WAIT_MS_MAX).optional(),
});
/** In the order of the request. With `any` some may not be as wanted yet: `met` is false. */
export const waitManyReply = z.object({
  jobs: z.array(waitReply.extend({ id: z.string(), met: z.boolean() })),
});

/** The index of one task of an array; absent: all tasks, or the one that the path names. */
export const taskChoice = z.strictObject({ index: count.optional() }).optional();

export const signalRequest = z.strictObject({
  index: count.optional(),
  /** Number, 1 to 64. */
  signal: z.int().min(1).max(64),
  /** To its program itself alone, or to all that it has started. Absent: to all. */
  to: z.enum(SIGNAL_TO).exactOptional(),
});

export const logsQuery = z.strictObject({
  index: queryNumber(0, 999_999_999).optional(),
  /** Default: the last start. */
  epoch: queryNumber(1, 1_000_000).optional(),
  stream: z.enum(['stdout', 'stderr']).optional(),
  nodeRank: queryNumber(0, 100_000).optional(),
  rank: queryNumber(0, 100_000).optional(),
  offset: queryNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  limit: queryNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  /**
   * true: keep sending until the task is done and all of its output has arrived; false: what is
   * there now. Default: what is there now, and of a task that is done the rest of its output as
   * well.
   */
  follow: queryFlag.optional(),
});
