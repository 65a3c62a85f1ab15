// The accounting records: one per job, one per ended epoch of a task, also of jobs long gone.

import { z } from 'zod';
import { OUTCOME_FILTERS } from '../model/job.ts';
import { count, instant, instantOrNull, queryFlag, queryNumber, taskId } from './common.ts';
import { itemView, outcomeView } from './jobs.ts';

export const historyQuery = z.strictObject({
  owner: z.string().optional(),
  state: z.string().optional(),
  /** `failure`: every one but `completed` and `cancelled`. */
  outcome: z.enum(OUTCOME_FILTERS).optional(),
  name: z.string().optional(),
  jobId: queryNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  /** Submitted at or after, and before; ms since 1970. */
  from: queryNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  until: queryNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  before: queryNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  limit: queryNumber(1, 1000).optional(),
  /** Also the ended epochs of the tasks of the jobs shown; 10,000 on a page. */
  tasks: queryFlag.optional(),
  /** `nextTask` of the page before: the rest of its last job, then the jobs below; with `tasks`. */
  afterTask: z
    .string()
    .regex(/^\d{1,15}\.-?\d{1,15}\.\d{1,15}$/)
    .optional(),
});

const historyJob = z.object({
  id: z.int(),
  name: z.string(),
  owner: z.string(),
  partition: z.string(),
  command: z.string(),
  /** Like that of a job; `lost`: the head went on without its records, and without the job. */
  state: z.string(),
  outcome: outcomeView.nullable(),
  taskCount: count,
  /** How many tasks of an array that is done ended in which way; missing for all other jobs. */
  outcomeCounts: z.record(z.string(), count).optional(),
  submittedAt: instant,
  startedAt: instantOrNull,
  /** Start of a plain job's current or last epoch; for an array the same as `startedAt`. */
  runStartedAt: instantOrNull,
  endedAt: instantOrNull,
  /** Where a plain job that is done ran last, at most a hundred; missing for all other jobs. */
  nodes: z.array(z.string()).exactOptional(),
  nodeCount: count,
  cpuCount: count,
  memoryBytes: count,
  /** Null: without a limit. */
  walltimeMs: count.nullable(),
});
export type HistoryJob = z.infer<typeof historyJob>;

const historyTask = z.object({
  /** `42`, or `42[7]` of an array. */
  id: taskId,
  jobId: z.int(),
  /** Null for a plain job's only task. */
  index: z.int().nullable(),
  /** Owner and operators only: its item; missing where it has none, or none is kept. */
  item: itemView.exactOptional(),
  epoch: count,
  /** False: another epoch followed. */
  final: z.boolean(),
  outcome: outcomeView,
  nodes: z.array(z.string()),
  startedAt: instantOrNull,
  endedAt: instant,
  userUs: count,
  systemUs: count,
  memoryPeakBytes: count,
  /** Gpus that it held, on all its nodes together; missing where that was not recorded. */
  gpuCount: count.exactOptional(),
  /** Cpus and memory that it held on all its nodes; missing: what its job asks for, on each. */
  heldCpus: count.exactOptional(),
  heldMemoryBytes: count.exactOptional(),
});
export type HistoryTask = z.infer<typeof historyTask>;

export const historyReply = z.object({
  jobs: z.array(historyJob),
  tasks: z.array(historyTask),
  next: z.int().nullable(),
  /** Set when the tasks of the last job shown go on: ask for them with `afterTask`. */
  nextTask: z.string().nullable(),
});
export type HistoryReply = z.infer<typeof historyReply>;
