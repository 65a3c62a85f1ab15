// The schema of a submission, which `Submission` of the model must fit. Fields that are one option
// each come from the table of options.

import { z } from 'zod';
import type { BlobHash } from '../model/blob.ts';
import type { JobId, NodeName } from '../model/ids.ts';
import { SIGNAL_TO } from '../model/job.ts';
import {
  ARRAY_TASKS_MAX,
  DEPENDENCIES_MAX,
  ENVIRONMENT_MAX,
  GPU_TYPES_MAX,
  GPUS_PER_NODE_MAX,
  LABELS_LENGTH_MAX,
  MPI_RANKS_MAX,
  NODES_PER_TASK_MAX,
  NOTIFY_TARGETS_MAX,
  OUTPUT_PATTERNS_MAX,
  PROCESSES_PER_NODE_MAX,
  SCRIPT_BYTES_MAX,
} from '../model/limits.ts';
import { TARGET_LENGTH_MAX } from '../model/notification.ts';
import type { FieldName, FieldValues } from '../model/options/table.ts';
import type { JobChange, Submission } from '../model/submission.ts';
import { blobHash, count, countedAmounts, instant, nodeName, plainLine } from './common.ts';
import { changeFields, optionFields } from './option-fields.ts';
import { itemList, textList, textMap } from './texts.ts';

// Shapes and sizes only: what a value means, the controller checks (machine/jobs/spec.ts).
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
  /** Files that are there already are gone on with. Absent: begun anew. */
  append: z.literal(true).exactOptional(),
  stdout: path.exactOptional(),
  stderr: path.exactOptional(),
  stdin: path.exactOptional(),
});

/** Files for its private directory: a list of them that was sent, and patterns of what is kept. */
const staging = z.strictObject({
  inputs: blobHash.transform((hash) => hash as BlobHash).optional(),
  outputs: z.array(words).max(OUTPUT_PATTERNS_MAX).optional(),
});

export const onNodeLoss = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('requeue') }),
  z.strictObject({ kind: z.literal('wait') }),
  z.strictObject({ kind: z.literal('lease'), leaseMs: z.int().min(1000) }),
]);

const array = z.strictObject({
  indices: words.max(SCRIPT_BYTES_MAX),
  runningMax: z.int().min(1).exactOptional(),
});

const DELAY_MAX_MS = 366 * 86_400_000;

const dependency = z.strictObject({
  jobId: z
    .int()
    .min(1)
    .transform((id) => id as JobId),
  condition: z.enum(['ok', 'any', 'fail', 'each', 'start']),
  /** With `start`: so long after it. */
  delayMs: z.int().min(0).max(DELAY_MAX_MS).exactOptional(),
});

const environment = textMap(ENVIRONMENT_MAX);

/** A signal to the processes so long before the time limit. */
const warning = z.strictObject({
  leadMs: z.int().min(1),
  signal: z.int().min(1).max(64),
  /** To the program itself alone, or to all that it has started. Absent: to all. */
  to: z.enum(SIGNAL_TO).exactOptional(),
});

/** Schemas of the options whose values have a form of their own. */
const OWN_FORMS = {
  gpuCount: z.union([z.int().min(0).max(GPUS_PER_NODE_MAX), plainLine.min(1).max(64)]),
  gpuTypes: z.array(plainLine.min(1).max(64)).max(GPU_TYPES_MAX),
  counted: countedAmounts,
  labels: z.array(name.max(LABELS_LENGTH_MAX)).max(100),
  nodeNames: z.array(nodeName.transform((name) => name as NodeName)).max(NODES_PER_TASK_MAX),
  walltimeMs: z.int().min(1).nullable(),
  warning,
  array,
  dependencies: z.array(dependency).max(DEPENDENCIES_MAX),
  beginAt: instant.min(0),
  onNodeLoss,
  notify: z.array(name.max(TARGET_LENGTH_MAX)).max(NOTIFY_TARGETS_MAX),
} satisfies { readonly [F in FieldName]?: z.ZodType<FieldValues[F]> };

/** What a client sends to have a job run. */
export const submission = z.strictObject({
  ...optionFields(OWN_FORMS),
  program,
  scriptPath: text.max(4095).optional(),
  environment: environment.optional(),
  directory: directory.optional(),
  files: files.optional(),
  staging: staging.optional(),
  mpi: z
    .strictObject({
      ranksPerNode: z.int().min(1).max(PROCESSES_PER_NODE_MAX).optional(),
      /** All ranks, where nodes do not have as many each. */
      ranks: z.int().min(1).max(MPI_RANKS_MAX).optional(),
    })
    .optional(),
  memoryOtherwiseBytes: count.optional(),
  each: itemList(ARRAY_TASKS_MAX).optional(),
}) satisfies z.ZodType<Submission>;

/** What is absent stays as it is; most of it only while none of the tasks runs. */
export const jobChange = z.strictObject({
  ...changeFields(OWN_FORMS),
  held: z.boolean().exactOptional(),
  /** Null: no limit. */
  runningMax: z.int().min(1).nullable().exactOptional(),
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
