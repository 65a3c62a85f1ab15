// Pools of workers: started, shown, scaled and stopped. Their calls go over WebSockets.

import { z } from 'zod';
import {
  changedReply,
  count,
  instant,
  instantOrNull,
  resources,
} from '../../../kernel/api/common.ts';
import {
  POOL_CALLER,
  POOL_OWNER,
  type RouteShape,
  USER,
  WORKER,
} from '../../../kernel/api/route-shape.ts';
import { submission, submitHeaders } from '../../../kernel/api/submission.ts';
import { ENGINES, isImageName } from '../../../kernel/model/container-engine.ts';
import { OUTCOMES, TASK_STATES } from '../../../kernel/model/job.ts';
import { POOL_IDLE_MS_MAX, POOL_WORKERS_MAX } from '../../../kernel/model/limits.ts';
import {
  INTERPRETER_FORM,
  isInterpreter,
  isPoolName,
  POOL_NAME_FORM,
  WORKER_FIELDS,
  type WorkerRequest,
} from '../model/pool.ts';

const poolName = z.string().refine(isPoolName, { error: `a pool's name: ${POOL_NAME_FORM}` });

/** `42`, or the name of a pool of whoever asks. */
const poolParams = z.strictObject({
  id: z.string().refine((text) => /^\d{1,15}$/.test(text) || isPoolName(text), {
    error: "a pool's number or name",
  }),
});

const workers = z.int().max(POOL_WORKERS_MAX);
const most = workers.min(1);
const least = workers.min(0);
const idleMs = z.int().min(0).max(POOL_IDLE_MS_MAX);

/** An image of one of the engines, by the name that it has there or at a registry. */
const image = z.strictObject({
  kind: z.enum(ENGINES),
  name: z.string().refine(isImageName, { error: "an image's name, as debian:12" }),
});

/** What runs functions of Python programs. */
const python = z.string().refine(isInterpreter, { error: `an interpreter: ${INTERPRETER_FORM}` });

const ofWorkers = Object.fromEntries(WORKER_FIELDS.map((field) => [field, true])) as {
  [F in keyof WorkerRequest]-?: true;
};

const IDLE_MS_DEFAULT = 60_000;

/** What each worker gets is said as of a job: cpus, memory, time limit and so on. */
export const startPoolRequest = submission.pick(ofWorkers).extend({
  /** By it programs of the same user find the pool while it lives. */
  name: poolName.optional(),
  /** Workers that stay, also when there is nothing to do. */
  min: least.default(0),
  max: most,
  /** A worker beyond `min` leaves after so long without work. */
  idleMs: idleMs.default(IDLE_MS_DEFAULT),
  /** When the process of a worker that runs calls is replaced; 0: never. */
  recycle: z
    .strictObject({
      /** After so many calls. */
      calls: count.default(0),
      /** After a call that leaves more than so much memory in use. */
      bytes: count.default(0),
    })
    .optional(),
  /** Workers run in a container of it, which has Node. Absent: on the node itself. */
  image: image.optional(),
  /** Functions are those of Python programs, run by this interpreter. Absent: of Node programs. */
  python: python.optional(),
  /** The pool is for the program that starts it, and ends when that is gone for good. */
  temporary: z.boolean().default(false),
});

/** What is absent stays as it is. */
export const scalePoolRequest = z.strictObject({
  min: least.optional(),
  max: most.optional(),
  idleMs: idleMs.optional(),
});

export const startPoolReply = z.object({
  jobId: z.int(),
  name: z.string().nullable(),
  /** True: the key was known, this is the pool it made then. */
  again: z.boolean(),
});

export const poolView = z.object({
  /** The pool's number, which is that of its job. */
  id: z.int(),
  name: z.string().nullable(),
  owner: z.string(),
  state: z.enum(TASK_STATES),
  /** Null when it lives. */
  outcome: z.enum(OUTCOMES).nullable(),
  min: count,
  max: count,
  idleMs: count,
  /** The pool ends when the program that started it is gone for good. */
  temporary: z.boolean(),
  /** How many workers it asks for at present. */
  target: count,
  /** Workers that have a place, by state. */
  workers: z.partialRecord(z.enum(TASK_STATES), count),
  /** Why it has fewer workers than it asks for; null: it has as many. */
  reason: z.object({ kind: z.string(), words: z.string() }).nullable(),
  /** What its calls are at, since the head started; null: it takes none any more. */
  calls: z
    .object({
      /** Programs that are connected or may come back, and workers that have said hello. */
      clients: count,
      workers: count,
      waiting: count,
      /** At workers. */
      running: count,
      done: count,
      /** Those of them that gave no value and were not cancelled. */
      failed: count,
    })
    .nullable(),
  /** Workers that were lost, and may have left calls undone. */
  losses: count,
  /** Image of its workers' containers; null: they run on the node itself. */
  image: image.nullable(),
  /** The interpreter that runs functions of Python programs; null: they are of Node programs. */
  python: z.string().nullable(),
  /** What each worker has. */
  perWorker: resources,
  partition: z.string(),
  submittedAt: instant,
  endedAt: instantOrNull,
});
export type PoolView = z.infer<typeof poolView>;

const runningCall = z.object({
  client: z.string(),
  call: count,
  attempt: count,
  forMs: z.number(),
});

/** Speed in the last minute; null: no call has ended in it. */
const speed = z
  .object({
    perSecond: z.number(),
    /** Half of the calls took no longer, from their arrival at the head to their end. */
    p50Ms: z.number(),
    p99Ms: z.number(),
  })
  .nullable();

export const callsView = z.object({
  waiting: count,
  running: count,
  done: count,
  /** Those of them that gave no value and were not cancelled. */
  failed: count,
  speed,
  clients: z.array(
    z.object({
      /** The beginning of its id. */
      session: z.string(),
      /** What it says of itself. */
      label: z.string(),
      isAway: z.boolean(),
      waiting: count,
      open: count,
      done: count,
      failed: count,
      speed,
    }),
  ),
  workers: z.array(
    z.object({
      name: z.string(),
      state: z.enum(['idle', 'busy', 'away', 'leaving', 'suspended']),
      calls: count,
      done: count,
      /** Those of them whose function threw. */
      failed: count,
      /** The call that runs there for more than a moment. */
      running: runningCall.nullable(),
    }),
  ),
});
export type CallsView = z.infer<typeof callsView>;

export const poolRoutes = {
  startPool: {
    summary: 'Start a pool of workers. Header Idempotency-Key: the same key gives the same pool.',
    access: USER,
    headers: submitHeaders,
    body: startPoolRequest,
    reply: startPoolReply,
  },
  listPools: {
    summary: 'Pools of all users that live, newest first.',
    access: USER,
    reply: z.object({ pools: z.array(poolView) }),
  },
  getPool: {
    summary: 'How a pool stands.',
    access: USER,
    params: poolParams,
    reply: poolView,
  },
  scalePool: {
    summary: 'Change how many workers a pool may have, and how long they wait for work.',
    access: POOL_OWNER,
    params: poolParams,
    body: scalePoolRequest,
    reply: poolView,
  },
  stopPool: {
    summary: 'Stop a pool: its workers end, and open calls are settled.',
    access: POOL_OWNER,
    params: poolParams,
    reply: changedReply,
  },
  poolCalls: {
    summary: 'What the programs and workers of a pool are doing.',
    access: POOL_OWNER,
    params: poolParams,
    reply: callsView,
  },
  openCalls: {
    summary: 'WebSocket of a program that calls functions on the pool.',
    access: POOL_CALLER,
    params: poolParams,
    produces: 'upgrade',
  },
  openWork: {
    summary: 'WebSocket of a worker of the pool, for calls.',
    access: WORKER,
    params: poolParams,
    produces: 'upgrade',
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
