// The table of routes. The server, the OpenAPI document, the client's types and the test that walks
// all routes with the wrong credentials are made from it. Each noun has its own beside its schemas,
// and each wing those of its nouns.

import { z } from 'zod';
import { blobRoutes } from './blobs.ts';
import { clusterRoutes } from './cluster.ts';
import { changedReply, taskParams } from './common.ts';
import { resultOf } from './failure.ts';
import * as feeding from './feeding.ts';
import * as history from './history.ts';
import * as jobs from './jobs.ts';
import { LOG_HEADER_TEXTS } from './log-headers.ts';
import * as logSearch from './log-search.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { nodeRoutes } from './nodes.ts';
import { outputRoutes } from './outputs.ts';
import { partitionRoutes } from './partitions.ts';
import { reservationRoutes } from './reservations.ts';
import { JOB_OWNER, type RouteShape, USER } from './route-shape.ts';
import { scheduleRoutes } from './schedule.ts';
import * as submissions from './submission.ts';
import * as taskMap from './task-map.ts';
import { uiRoutes } from './ui.ts';
import { usageReportRoutes } from './usage-report.ts';
import { userRoutes } from './users.ts';

// The routes of jobs: submitting, looking, waiting, changing; and the history of them.

/** What is done to a job or to one of its tasks. */
function action(summary: string) {
  const { taskChoice } = jobs;
  return { summary, access: JOB_OWNER, params: taskParams, body: taskChoice, reply: changedReply };
}

const jobRoutes = {
  submitJob: {
    summary: 'Submit a job. Header Idempotency-Key: the same key gives the same job.',
    access: USER,
    headers: submissions.submitHeaders,
    body: submissions.submission,
    reply: submissions.submitReply,
  },
  submitJobs: {
    summary: 'Submit up to 1000 jobs, each with its own key and its own result.',
    access: USER,
    body: submissions.bulkRequest,
    reply: z.object({ results: z.array(resultOf(submissions.submitReply)) }),
  },
  rehearseJob: {
    summary: 'Check a submission and tell when and where it would start; nothing is submitted.',
    access: USER,
    body: submissions.submission,
    reply: jobs.explainReply,
    quiet: true,
  },
  listJobs: {
    summary: 'Jobs of all users, newest first, those in memory and those in the history.',
    access: USER,
    query: jobs.listJobsQuery,
    reply: jobs.listJobsReply,
  },
  getJob: {
    summary: 'One job in full; environment and script for its owner only.',
    access: USER,
    params: taskParams,
    reply: jobs.jobDetail as z.ZodType<jobs.JobDetail>,
  },
  listTasks: {
    summary: 'The tasks of a job by index.',
    access: USER,
    params: taskParams,
    query: jobs.listTasksQuery,
    reply: jobs.listTasksReply,
  },
  mapTasks: {
    summary: 'The tasks of a job, a letter for each; with since only what has changed.',
    access: USER,
    params: taskParams,
    query: taskMap.taskMapQuery,
    reply: taskMap.taskMapReply,
  },
  explainJob: {
    summary: 'Why a task is where it is, in words.',
    access: USER,
    params: taskParams,
    reply: jobs.explainReply,
  },
  waitForJob: {
    summary: 'Answers when the job or task is done (or started), or with wait.timeout.',
    access: USER,
    params: taskParams,
    query: jobs.waitQuery,
    reply: jobs.waitReply,
  },
  waitForJobs: {
    summary: 'Wait for up to 1000 jobs and tasks in one request: for all of them, or for any.',
    access: USER,
    body: jobs.waitManyRequest,
    reply: jobs.waitManyReply,
    quiet: true,
  },
  readLogs: {
    summary: 'Captured output of one process, as it is.',
    access: JOB_OWNER,
    params: taskParams,
    query: jobs.logsQuery,
    produces: 'bytes',
    replyHeaders: LOG_HEADER_TEXTS,
  },
  searchLogs: {
    summary: 'Lines of captured output that have a text, from the begin on, a part for one answer.',
    access: JOB_OWNER,
    params: taskParams,
    query: logSearch.searchLogsQuery,
    reply: logSearch.searchLogsReply,
  },
  feedJob: {
    summary:
      'A piece of standard input for a job submitted with stdin "-"; answered when it is read.',
    access: JOB_OWNER,
    params: taskParams,
    body: feeding.feedRequest,
    reply: feeding.feedReply,
    quiet: true,
  },
  cancelJob: action('Cancel a job or a task, pending or running.'),
  holdJob: action('Keep a pending job from starting.'),
  releaseJob: action('Let a held job start.'),
  suspendJob: action('Stop the processes of a job or task; they keep their memory.'),
  resumeJob: action('Let suspended processes go on.'),
  requeueJob: action('End what runs and put it back into the queue.'),
  signalJob: { ...action('Send a signal to the processes.'), body: jobs.signalRequest },
  changeJob: {
    summary: 'Change a job that waits; the same checks as at its submission.',
    access: JOB_OWNER,
    params: taskParams,
    body: submissions.jobChange,
    reply: changedReply,
  },
  retryJob: {
    summary:
      'Run the tasks that did not complete again, or all, as a new job. Header Idempotency-Key.',
    access: JOB_OWNER,
    headers: submissions.submitHeaders,
    params: taskParams,
    body: submissions.retryRequest,
    reply: submissions.submitReply,
  },
  history: {
    summary: 'Accounting records, newest job first.',
    access: USER,
    query: history.historyQuery,
    reply: history.historyReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;

export const ROUTES = {
  ...jobRoutes,
  ...usageReportRoutes,
  ...blobRoutes,
  ...outputRoutes,
  ...partitionRoutes,
  ...nodeRoutes,
  ...maintenanceRoutes,
  ...reservationRoutes,
  ...userRoutes,
  ...scheduleRoutes,
  ...uiRoutes,
  ...clusterRoutes,
} as const satisfies Readonly<Record<string, RouteShape>>;

type KernelRoutes = typeof ROUTES;

/** All routes, for the types alone: wings add theirs in their files `api/paths.ts`. */
export interface RouteTable extends KernelRoutes {}

type RouteName = keyof RouteTable;
type Input<S> = S extends z.ZodType ? z.input<S> : undefined;
type Output<S> = S extends z.ZodType ? z.output<S> : undefined;
type RouteSchema<N extends RouteName, K extends string> = RouteTable[N] extends {
  readonly [P in K]: infer S;
}
  ? S
  : undefined;

/** What the handler of a route gets: checked and converted. */
export interface Request<N extends RouteName> {
  readonly params: Output<RouteSchema<N, 'params'>>;
  readonly query: Output<RouteSchema<N, 'query'>>;
  readonly body: Output<RouteSchema<N, 'body'>>;
}
/** The routes at which a connection becomes another protocol's. */
export type UpgradeName = {
  [N in RouteName]: RouteTable[N] extends { readonly produces: 'upgrade' } ? N : never;
}[RouteName];
/** What a client may send as the body of a route; it is only read. */
export type Body<N extends RouteName> = ReadOnly<Input<RouteSchema<N, 'body'>>>;
/** What a route answers. */
export type ReplyOf<N extends RouteName> = Output<RouteSchema<N, 'reply'>>;

/** A schema's arrays and objects can be changed; what is sent need not be. */
type ReadOnly<T> = T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T;
