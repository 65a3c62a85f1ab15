// Steps: programs inside of a running task. Their input and output go over connections of their
// own.

import { z } from 'zod';
import { count, instant, plainLine, queryNumber } from '../../../kernel/api/common.ts';
import {
  JOB_OWNER,
  JOB_RUNNER,
  NODE,
  type RouteShape,
  USER,
} from '../../../kernel/api/route-shape.ts';
import { LINGER_MS_MAX, LINGER_MS_MIN, PROCESSES_MAX, STEPS_PAGE_MAX } from '../core/limits.ts';
import { stepView } from './step-view.ts';

const text = z.string().refine((value) => !value.includes('\0'), { error: 'text without a NUL' });
const taskParams = z.strictObject({ id: z.string() });

/** Cpus that it is given, on all its nodes together; absent: all of its task there. */
const stepCpus = z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional();

export const startStepRequest = z.strictObject({
  argv: z.array(text).min(1).max(10_000),
  /** Only there; absent: the first node of the task, or all. */
  node: z.string().max(254).optional(),
  /** Processes: of the step, or with `perNode` on each node. */
  count: z.int().min(1).max(PROCESSES_MAX).default(1),
  perNode: z.boolean().default(false),
  /** Laid over what the task has. */
  environment: z.record(z.string().min(1).max(1000), text).default({}),
  /** Shown in place of the command. */
  title: plainLine.trim().min(1).max(200).optional(),
  /** The processes find each other by PMI, as MPICH's do: whoever started the step answers them. */
  pmi: z.boolean().default(false),
  /** Each process to cpus of its own, to those of its task in one part of memory, or to none. */
  bind: z.enum(['none', 'core', 'numa']).default('none'),
  /** How long it goes on when the line to whoever started it is lost; absent: a minute. */
  lingerMs: z.int().min(LINGER_MS_MIN).max(LINGER_MS_MAX).optional(),
  cpuCount: stepCpus,
  /** Absent: that of the task. */
  directory: text.max(4000).optional(),
  /** The program has a terminal of this size, 0: of none that is said; one process only. */
  terminal: z
    .strictObject({ rows: z.int().min(0).max(65_535), columns: z.int().min(0).max(65_535) })
    .optional(),
});

const placed = z.object({ rank: count, node: z.string() });

export const startStepReply = z.object({
  /** `42.0` or `42[7].0`. */
  id: z.string(),
  /** The start of the task that it is in; absent: an older head does not say. */
  epochId: z.string().optional(),
  processes: z.array(placed),
});
export type StartStepReply = z.infer<typeof startStepReply>;

const stepsQuery = z.strictObject({
  /** The steps of these jobs alone: from one id to another. */
  from: queryNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  to: queryNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  /** `next` of the page before. */
  after: z.string().max(100).optional(),
  limit: queryNumber(1, STEPS_PAGE_MAX).optional(),
});

const exits = z
  .array(
    z.union([
      z.strictObject({ code: z.int().min(0).max(255) }),
      z.strictObject({ signal: z.int().min(1).max(64) }),
    ]),
  )
  .max(PROCESSES_MAX);

export const claimCpusRequest = z.strictObject({
  /** The node of each process, by rank. */
  nodes: z.array(z.string().max(254)).min(1).max(PROCESSES_MAX),
  bind: z.enum(['core', 'numa']),
});

/** Processes that the job's own program starts, and that are told for its history. */
export const noteStepRequest = z.strictObject({
  /** What is shown of the command. */
  title: plainLine.trim().min(1).max(200),
  /** The node of each process, by rank. */
  nodes: z.array(z.string().max(254)).min(1).max(PROCESSES_MAX),
  /** How each ended, by rank. Absent: all run. */
  exits: exits.optional(),
  /** How long ago all began; absent: now. */
  ranMs: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  cpuCount: stepCpus,
});

const signalStepRequest = z.strictObject({
  /** Number, 1 to 64; absent: hung up, and five seconds later killed. */
  signal: z.int().min(1).max(64).optional(),
});

export const stepRoutes = {
  startStep: {
    summary: 'Start a program inside of a running task. For the owner of the job and for admins.',
    access: JOB_RUNNER,
    params: taskParams,
    body: startStepRequest,
    reply: startStepReply,
  },
  claimCpus: {
    summary: 'Say which cpus processes that a running task starts itself are to be bound to.',
    access: JOB_RUNNER,
    params: taskParams,
    body: claimCpusRequest,
    /** Cpus of each process, as Linux writes them. */
    reply: z.object({ cpus: z.array(z.string()) }),
  },
  noteStep: {
    summary: 'Tell of processes that a running task has started itself: a step of its history.',
    access: JOB_RUNNER,
    params: taskParams,
    body: noteStepRequest,
    reply: z.object({ id: z.string() }),
  },
  endStep: {
    summary: 'Tell how the processes of such a step ended, by rank.',
    access: JOB_RUNNER,
    params: z.strictObject({ id: z.string(), step: z.string() }),
    body: z.strictObject({ exits }),
    /** Processes that were taken for running until now. */
    reply: z.object({ count }),
  },
  listSteps: {
    summary: 'The newest steps of a job or task, also of one that is over; the oldest first.',
    access: JOB_OWNER,
    params: taskParams,
    reply: z.object({ steps: z.array(stepView), at: instant }),
  },
  listAllSteps: {
    summary: 'Steps of your jobs, by job, task and number; operators see those of all users.',
    access: USER,
    query: stepsQuery,
    reply: z.object({
      steps: z.array(stepView),
      /** The id after which the next page begins; null: this was the last. */
      next: z.string().nullable(),
      at: instant,
    }),
  },
  signalStep: {
    summary: 'Send a signal to the processes of a step, or end it.',
    access: JOB_OWNER,
    params: z.strictObject({ id: z.string(), step: z.string() }),
    body: signalStepRequest,
    /** Processes that the signal is for. */
    reply: z.object({ count }),
  },
  openStep: {
    summary:
      'The stream of one process of a step, for the owner of the job and for admins. Upgrade: weft-step.',
    access: JOB_RUNNER,
    params: z.strictObject({ id: z.string(), step: z.string(), rank: z.string() }),
    produces: 'upgrade',
  },
  serveStep: {
    summary: 'The same stream, for the node that the process is on. Upgrade: weft-step.',
    access: NODE,
    params: z.strictObject({ step: z.string(), rank: z.string() }),
    produces: 'upgrade',
    isMany: true,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
