// The schema of a submission, field by field the same as `Submission` of the core: the assignment
// at the end fails to compile when the two part.

import { z } from 'zod';
import type { BlobHash } from '../model/blob.ts';
import type { JobId, NodeName } from '../model/ids.ts';
import {
  ARRAY_TASKS_MAX,
  DEPENDENCIES_MAX,
  ENVIRONMENT_MAX,
  LABELS_LENGTH_MAX,
  NAME_LENGTH_MAX,
  NICE_MAX,
  NODES_PER_TASK_MAX,
  NOTIFY_TARGETS_MAX,
  OUTPUT_PATTERNS_MAX,
  PROCESSES_PER_NODE_MAX,
  RETRIES_MAX,
  SCRIPT_BYTES_MAX,
} from '../model/limits.ts';
import { ON_OOM } from '../model/memory-use.ts';
import { TARGET_LENGTH_MAX } from '../model/notification.ts';
import type { JobChange, Submission } from '../model/submission.ts';
import { blobHash, count, countedAmounts, instant, nodeName, plainLine } from './common.ts';
import { itemList, textList, textMap } from './texts.ts';

// Shapes and sizes only: what a value means, the controller checks (core/controller/jobs/spec.ts).
const text = z.string();
const words = text.min(1);
// A NUL ends a C string early: the system would open another file than the one that was checked.
const name = plainLine.min(1);
const path = words
  .max(4095)
  .refine((value) => !value.includes('\0'), { error: 'a path without NUL' });

const absolutePath = path.startsWith('/', { error: 'an absolute path, beginning with /' });

/** What is run. */
export const program = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('argv'), argv: textList(1, 65_536) }),
  z.strictObject({ kind: z.literal('shell'), line: words.max(SCRIPT_BYTES_MAX) }),
  z.strictObject({
    kind: z.literal('script'),
    text: words.max(SCRIPT_BYTES_MAX),
    args: textList(0, 65_536),
  }),
]);

const directory = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('private') }),
  z.strictObject({ kind: z.literal('shared'), path: absolutePath }),
  z.strictObject({ kind: z.literal('auto'), path: absolutePath }),
]);

const files = z.strictObject({
  stdout: path.exactOptional(),
  stderr: path.exactOptional(),
  stdin: path.exactOptional(),
});

/** Files for its private directory: a list of them that was sent, and patterns of what is kept. */
const staging = z.strictObject({
  inputs: blobHash.transform((hash) => hash as BlobHash).optional(),
  outputs: z.array(words).max(OUTPUT_PATTERNS_MAX).optional(),
});

const onNodeLoss = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('requeue') }),
  z.strictObject({ kind: z.literal('wait') }),
  z.strictObject({ kind: z.literal('lease'), leaseMs: z.int().min(1000) }),
]);

const array = z.strictObject({
  indices: words.max(SCRIPT_BYTES_MAX),
  runningMax: z.int().min(1).exactOptional(),
});

const dependency = z.strictObject({
  jobId: z
    .int()
    .min(1)
    .transform((id) => id as JobId),
  condition: z.enum(['ok', 'any', 'fail', 'each']),
});

/** A signal to the processes so long before the time limit. */
const warning = z.strictObject({ leadMs: z.int().min(1), signal: z.int().min(1).max(64) });

const environment = textMap(ENVIRONMENT_MAX);

/** What a client sends to have a job run. */
export const submission = z.strictObject({
  program,
  name: name.max(NAME_LENGTH_MAX).optional(),
  environment: environment.optional(),
  directory: directory.optional(),
  files: files.optional(),
  staging: staging.optional(),
  nodeCount: z.int().min(1).max(NODES_PER_TASK_MAX).optional(),
  processesPerNode: z.int().min(1).max(PROCESSES_PER_NODE_MAX).optional(),
  mpi: z
    .strictObject({ ranksPerNode: z.int().min(1).max(PROCESSES_PER_NODE_MAX).optional() })
    .optional(),
  cpuCount: count.optional(),
  memoryBytes: count.optional(),
  memoryOtherwiseBytes: count.optional(),
  gpuCount: count.optional(),
  counted: countedAmounts.optional(),
  exclusive: z.boolean().optional(),
  labels: z.array(name.max(LABELS_LENGTH_MAX)).max(100).optional(),
  nodeNames: z
    .array(nodeName.transform((name) => name as NodeName))
    .max(NODES_PER_TASK_MAX)
    .optional(),
  walltimeMs: z.int().min(1).nullable().optional(),
  warning: warning.optional(),
  array: array.optional(),
  each: itemList(ARRAY_TASKS_MAX).optional(),
  dependencies: z.array(dependency).max(DEPENDENCIES_MAX).optional(),
  beginAt: instant.min(0).optional(),
  nice: z.int().min(-NICE_MAX).max(NICE_MAX).optional(),
  held: z.boolean().optional(),
  onNodeLoss: onNodeLoss.optional(),
  onOom: z.enum(ON_OOM).optional(),
  requeue: z.boolean().optional(),
  retriesMax: z.int().min(0).max(RETRIES_MAX).optional(),
  partition: name.max(64).optional(),
  reservation: name.max(64).optional(),
  qos: name.max(64).optional(),
  notify: z.array(name.max(TARGET_LENGTH_MAX)).max(NOTIFY_TARGETS_MAX).optional(),
  umask: z.int().min(0).max(0o777).optional(),
}) satisfies z.ZodType<Submission>;

/** What is absent stays as it is; the last nine only while none of the tasks runs. */
export const jobChange = z.strictObject({
  nice: z.int().min(-NICE_MAX).max(NICE_MAX).exactOptional(),
  beginAt: instant.min(0).exactOptional(),
  held: z.boolean().exactOptional(),
  /** Null: no limit. */
  runningMax: z.int().min(1).nullable().exactOptional(),
  name: name.max(NAME_LENGTH_MAX).exactOptional(),
  walltimeMs: z.int().min(1).nullable().exactOptional(),
  warning: warning.nullable().exactOptional(),
  partition: name.max(64).exactOptional(),
  qos: name.max(64).exactOptional(),
  nodeCount: z.int().min(1).max(NODES_PER_TASK_MAX).exactOptional(),
  cpuCount: count.exactOptional(),
  memoryBytes: count.exactOptional(),
  gpuCount: count.exactOptional(),
}) satisfies z.ZodType<JobChange>;

/** `dependencies`: what the new job waits for; absent: those of the old one, which are met. */
export const retryRequest = z
  .strictObject({
    dependencies: z.array(dependency).max(DEPENDENCIES_MAX).exactOptional(),
    /** The tasks that completed, too. */
    all: z.boolean().exactOptional(),
    /** These of an array alone: `3,9-12`; as much as a task in the path. */
    indices: words.max(SCRIPT_BYTES_MAX).exactOptional(),
    /** The list of files that they get instead of the job's, as in `staging` of a submission. */
    inputs: blobHash.transform((hash) => hash as BlobHash).exactOptional(),
  })
  .optional();

/** Submission key: same owner and key, same job. Header `Idempotency-Key`. */
export const submissionKey = z.string().min(1).max(200);

export const submitHeaders = z.object({
  'Idempotency-Key': submissionKey.optional().meta({
    description: 'The same owner and key give the same job, however often the request is sent.',
  }),
});

export const submitReply = z.object({
  jobId: z.int(),
  taskCount: count,
  /** Where it will run, as far as that is decided: a shared path, or null for a private one. */
  directory: z.string().nullable(),
  /** True: the key was known, this is the job it made then. */
  again: z.boolean(),
});
export type SubmitReply = z.infer<typeof submitReply>;

/** Up to this many submissions in one request. */
const BULK_MAX = 1000;

/** A submission that is checked by itself, so that a wrong one does not touch the others. */
export const uncheckedSubmission = z.unknown();

const bulkEntry = z.strictObject({
  key: submissionKey.optional(),
  submission: uncheckedSubmission,
});

export const bulkRequest = z.strictObject({
  jobs: z.array(bulkEntry).min(1).max(BULK_MAX),
});
export type BulkRequest = {
  jobs: { key?: string | undefined; submission: Submission }[];
};
