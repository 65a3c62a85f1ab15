// Batches: jobs submitted together under one name, and how they stand.

import { z } from 'zod';
import {
  changedReply,
  count,
  exitStatus,
  instant,
  instantOrNull,
  keptAmounts,
  queryFlag,
  queryNumber,
} from '../../../kernel/api/common.ts';
import { deliveryView } from '../../../kernel/api/delivery.ts';
import { type RouteShape, USER } from '../../../kernel/api/route-shape.ts';
import { submission, submitHeaders } from '../../../kernel/api/submission.ts';
import { batchNameProblem, jobNameProblem, nameProblem } from '../../../kernel/files/names.ts';
import { formatBatch, parseBatch } from '../../../kernel/model/batch.ts';
import { OUTCOMES, TASK_STATES } from '../../../kernel/model/job.ts';
import { BATCH_BYTES_MAX, BATCH_JOBS_MAX, BATCH_PARTS_MAX } from '../../../kernel/model/limits.ts';

function named(problem: (name: string) => string | null) {
  return z.string().check((context) => {
    const wrong = problem(context.value);
    if (wrong === null) return;
    context.issues.push({ code: 'custom', input: context.value, message: wrong });
  });
}

const versioned = z.string().regex(/^[^/@]{1,250}(@[1-9]\d{0,8})?$/, {
  error: 'the name of a batch, as sweep_01 or sweep_01@2',
});

/** Without a version the newest is meant. */
export const batchParams = z.strictObject({
  namespace: z.string().min(1).max(250),
  name: versioned,
});

/** `NAMESPACE/NAME`, or with `@2` behind. */
const title = z.string().transform((text, context) => {
  const read = parseBatch(text);
  if (read.ok) return read.value;
  context.issues.push({ code: 'custom', input: text, message: read.error });
  return z.NEVER;
});

/** Checked by itself: a part has up to 100,000 items, and records are slow to check one by one. */
const item = (z.any() as unknown as z.ZodType<Record<string, string>>)
  .meta({ type: 'object', additionalProperties: { type: 'string' } })
  .check((context) => {
    const { value } = context;
    const wrong = itemProblem(value) ?? jobNameProblem(value['name'] ?? '');
    if (wrong !== null) context.issues.push({ code: 'custom', input: value, message: wrong });
  });

function itemProblem(value: unknown): string | null {
  const expected = 'expected an object of texts, with the name of the job';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return expected;
  for (const text of Object.values(value)) if (typeof text !== 'string') return expected;
  return Object.hasOwn(value, '') ? 'a field needs a name' : null;
}

const part = z.strictObject({
  /** A task for each item; its field `name` is the name of the job. */
  submission: submission.extend({ each: z.array(item).min(1).max(BATCH_JOBS_MAX) }),
  /** Which jobs of the batch they are, from 0, in the order of the items. */
  numbers: z.array(count).min(1).max(BATCH_JOBS_MAX),
  /** Which jobs of the batch, by number, have to complete before all of these. */
  after: z.array(count).max(BATCH_JOBS_MAX).optional(),
  /** What stands for all that goes into each: `resume` compares it. */
  prints: z.array(z.string().min(1).max(64)).min(1).max(BATCH_JOBS_MAX),
});

export const submitBatchRequest = z.strictObject({
  namespace: named(nameProblem),
  name: named(batchNameProblem),
  origin: z.enum(['weft', 'distribute']).default('weft'),
  /** Batches that have to be complete before. */
  after: z.array(title).max(100).default([]),
  /** What becomes of one that has this name. */
  mode: z.enum(['new', 'resume', 'new_version']).default('new'),
  /** Stands for the solver that is built, with all that it is made of; null: none is. */
  build: z
    .string()
    .regex(/^[0-9a-f]{16,64}$/)
    .nullable()
    .default(null),
  /** How long a node may take for that; absent: as long as the cluster lets it. */
  buildMs: z
    .int()
    .min(1000)
    .max(30 * 86_400_000)
    .optional(),
  /** Together they have every job once. */
  parts: z.array(part).min(1).max(BATCH_PARTS_MAX),
});

const submitted = {
  /** `alice/sweep_01`, or with `@2` behind. */
  title: z.string(),
  namespace: z.string(),
  name: z.string(),
  version: z.int(),
};

export const submitBatchReply = z.object({
  ...submitted,
  /** How many of its jobs run now. */
  jobCount: count,
  /** True: the key was known, this is the batch it made then. */
  again: z.boolean(),
});

export const batchView = z.object({
  ...submitted,
  owner: z.string(),
  origin: z.enum(['weft', 'distribute']),
  state: z.enum(['pending', 'running', 'done']),
  /** `completed`: all of its jobs are. */
  outcome: z.enum(OUTCOMES).nullable(),
  jobCount: count,
  /** Jobs that are not over, by state. */
  open: z.partialRecord(z.enum(TASK_STATES), count),
  /** Jobs that are over, by outcome. */
  ended: z.partialRecord(z.enum(OUTCOMES), count),
  after: z.array(z.string()),
  /** Nodes where the solver could not be built, and the task and start whose output says why. */
  failedBuilds: z.array(z.object({ node: z.string(), id: z.string(), epoch: count })),
  /** The arrays that run it. */
  jobIds: z.array(z.int()),
  createdAt: instant,
  endedAt: instantOrNull,
});
export type BatchView = z.infer<typeof batchView>;

const batchDetail = batchView.extend({
  /** Nodes that have the solver's build, as far as they have told. */
  readyBuilds: z.array(z.string()),
  /** Owner and operators only: what its jobs left and the head keeps. Null: nothing. */
  outputs: keptAmounts.nullable(),
  /** Owner only: whom it notifies when it is done, or has. */
  notifications: z.array(deliveryView).nullable(),
});
export type BatchDetail = z.infer<typeof batchDetail>;

const listBatchesReply = z.object({ batches: z.array(batchView) });

const batchJobView = z.object({
  name: z.string(),
  number: count,
  /** The task that runs it: `42[7]`. */
  id: z.string(),
  state: z.enum(TASK_STATES),
  outcome: z.enum(OUTCOMES).nullable(),
  /** In words: why it waits, or how it ended. */
  detail: z.string().nullable(),
  /** Starts so far. */
  epoch: count,
  nodes: z.array(z.string()),
  startedAt: instantOrNull,
  endedAt: instantOrNull,
  exit: exitStatus.nullable(),
});
export type BatchJobView = z.infer<typeof batchJobView>;

const listBatchJobsReply = z.object({
  jobs: z.array(batchJobView),
  /** For `after` of the next page; null: this was the last. */
  next: z.int().nullable(),
});

const listBuildLogsReply = z.object({
  logs: z.array(
    z.object({ node: z.string(), size: count, modifiedAt: instant, sha256: z.string() }),
  ),
});

const listBatchJobsQuery = z.strictObject({
  after: queryNumber(0, BATCH_JOBS_MAX).optional(),
  limit: queryNumber(1, 1000).optional(),
  /** Only the job of this name. */
  name: z.string().optional(),
});

/** The title, as in paths and on the command line, with its parts. */
export function batchTitleOf(one: Parameters<typeof formatBatch>[0]) {
  const { namespace, name, version } = one;
  return { title: formatBatch(one), namespace, name, version };
}

/** With the title of the version that it was. */
const actionReply = changedReply.extend({ title: z.string() });

function action(summary: string) {
  return { summary, access: USER, params: batchParams, reply: actionReply };
}

export const batchRoutes = {
  submitBatch: {
    summary: 'Submit a batch, all of its jobs or none. Header Idempotency-Key.',
    access: USER,
    headers: submitHeaders,
    body: submitBatchRequest,
    bodyBytesMax: BATCH_BYTES_MAX,
    reply: submitBatchReply,
  },
  listBatches: {
    summary: 'Batches of all users, newest first.',
    access: USER,
    reply: listBatchesReply,
  },
  getBatch: {
    summary: 'How a batch stands.',
    access: USER,
    params: batchParams,
    reply: batchDetail,
  },
  listBatchJobs: {
    summary: 'The jobs of a batch, in the order of its file.',
    access: USER,
    params: batchParams,
    query: listBatchJobsQuery,
    reply: listBatchJobsReply,
  },
  listBuildLogs: {
    summary: 'What its builds have printed, by node; contents as of blobs. Owner and operators.',
    access: USER,
    params: batchParams,
    reply: listBuildLogsReply,
  },
  cancelBatch: action('Cancel what waits and runs of a batch: its owner, or an operator.'),
  retryBatch: {
    ...action('Run again what did not complete of a batch: its owner.'),
    reply: submitBatchReply,
  },
  rebuildBatch: action(
    'Build the solver anew, also where it has failed: its owner, or an operator.',
  ),
  removeBatch: {
    ...action('Forget a batch that is over, and remove its files: its owner, or an operator.'),
    /** `keep`: its files stay in the archive. */
    query: z.strictObject({ keep: queryFlag.optional() }),
    reply: actionReply.extend({
      /** What has gone with it. */
      removed: keptAmounts.omit({ leftOut: true, more: true }),
    }),
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
