// The table of routes. The server, the OpenAPI document, the client's types and the test that walks
// all routes with the wrong credentials are made from it.

import { z } from 'zod';
import type { Role } from '../core/model/actor.ts';
import * as cluster from './cluster.ts';
import { changedReply, noBody, taskParams } from './common.ts';
import { resultOf } from './failure.ts';
import * as history from './history.ts';
import * as jobs from './jobs.ts';
import * as maintenance from './maintenance.ts';
import * as nodes from './nodes.ts';
import * as partitions from './partitions.ts';
import { methodAndPath, type RouteName } from './paths.ts';
import * as reservations from './reservations.ts';
import * as submissions from './submission.ts';
import * as users from './users.ts';

/** Who may come in at all. `owned`: besides the role, the job must be theirs or they operators. */
export type Access =
  | { readonly kind: 'public' }
  /** Everybody on the unix socket, users elsewhere. */
  | { readonly kind: 'local_or_user' }
  | { readonly kind: 'join_token' }
  | { readonly kind: 'node' }
  | { readonly kind: 'user'; readonly role: Role; readonly owned?: 'job' | 'token' };

export interface RouteShape {
  readonly summary: string;
  readonly access: Access;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Absent: the answer is no JSON, `produces` says what. */
  readonly reply?: z.ZodType;
  readonly produces?: string;
  /** The request changes nothing: no line in the audit log. */
  readonly quiet?: boolean;
}

const PUBLIC = { kind: 'public' } as const satisfies Access;
const USER = { kind: 'user', role: 'user' } as const satisfies Access;
const OPERATOR = { kind: 'user', role: 'operator' } as const satisfies Access;
const ADMIN = { kind: 'user', role: 'admin' } as const satisfies Access;
const JOB_OWNER = { kind: 'user', role: 'user', owned: 'job' } as const satisfies Access;
const TOKEN_OWNER = { kind: 'user', role: 'user', owned: 'token' } as const satisfies Access;

/** What is done to a job or to one of its tasks. */
function action(summary: string) {
  const { taskChoice } = jobs;
  return { summary, access: JOB_OWNER, params: taskParams, body: taskChoice, reply: changedReply };
}

const nodeChange = { access: OPERATOR, params: nodes.nodeParams, reply: changedReply };

export const ROUTES = {
  submitJob: {
    summary: 'Submit a job. Header Idempotency-Key: the same key gives the same job.',
    access: USER,
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
    reply: jobs.jobDetail,
  },
  listTasks: {
    summary: 'The tasks of a job by index.',
    access: USER,
    params: taskParams,
    query: jobs.listTasksQuery,
    reply: jobs.listTasksReply,
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
  readLogs: {
    summary: 'Captured output of one process, as it is.',
    access: JOB_OWNER,
    params: taskParams,
    query: jobs.logsQuery,
    produces: 'application/octet-stream',
  },
  cancelJob: action('Cancel a job or a task, pending or running.'),
  holdJob: action('Keep a pending job from starting.'),
  releaseJob: action('Let a held job start.'),
  suspendJob: action('Stop the processes of a job or task; they keep their memory.'),
  resumeJob: action('Let suspended processes go on.'),
  requeueJob: action('End what runs and put it back into the queue.'),
  signalJob: { ...action('Send a signal to the processes.'), body: jobs.signalRequest },
  listPartitions: {
    summary: 'All partitions, with their nodes, limits and load.',
    access: USER,
    reply: partitions.listPartitionsReply,
  },
  getPartition: {
    summary: 'One partition.',
    access: USER,
    params: partitions.partitionParams,
    reply: partitions.partitionReply,
  },
  changePartition: {
    summary: 'Set what holds over the config until it is reset.',
    access: OPERATOR,
    params: partitions.partitionParams,
    body: partitions.partitionChange,
    reply: changedReply,
  },
  resetPartition: {
    summary: 'Go back to what the config says of a partition.',
    access: OPERATOR,
    params: partitions.partitionParams,
    body: noBody,
    reply: changedReply,
  },
  listQos: {
    summary: 'All qualities of service.',
    access: USER,
    reply: partitions.listQosReply,
  },
  reloadConfig: {
    summary: 'Read the configuration again; a wrong one changes nothing.',
    access: ADMIN,
    body: noBody,
    reply: partitions.reloadReply,
  },
  history: {
    summary: 'Accounting records, newest job first.',
    access: USER,
    query: history.historyQuery,
    reply: history.historyReply,
  },
  listNodes: { summary: 'All nodes.', access: USER, reply: nodes.listNodesReply },
  getNode: { summary: 'One node.', access: USER, params: nodes.nodeParams, reply: nodes.nodeView },
  createNode: {
    summary: 'Admit a node with declared resources; shows its secret once.',
    access: ADMIN,
    body: nodes.createNodeRequest,
    reply: nodes.admittedReply,
  },
  removeNode: {
    summary: 'Remove a node; its secret stops working.',
    access: ADMIN,
    params: nodes.nodeParams,
    reply: changedReply,
  },
  drainNode: { ...nodeChange, summary: 'Give a node no new work.', body: nodes.drainRequest },
  undrainNode: { ...nodeChange, summary: 'Give a node work again.', body: noBody },
  labelNode: { ...nodeChange, summary: 'Add and remove labels.', body: nodes.labelRequest },
  declareNodeLost: {
    ...nodeChange,
    summary: 'Vouch that nothing runs on a silent node any more: its tasks go on elsewhere.',
    body: noBody,
  },
  join: {
    summary: 'Exchange a join token for a secret of the node.',
    access: { kind: 'join_token' },
    body: nodes.joinRequest,
    reply: nodes.admittedReply,
  },
  agent: {
    summary: 'The WebSocket of an agent. Authorization: Node NAME:SECRET.',
    access: { kind: 'node' },
    produces: 'application/octet-stream',
  },
  planMaintenance: {
    summary: 'Take nodes from all users for a time; with a program, for admins.',
    access: OPERATOR,
    body: maintenance.planMaintenanceRequest,
    reply: maintenance.maintenanceView,
  },
  listMaintenance: {
    summary: 'Maintenance that is planned or under way; all=true for what is over too.',
    access: USER,
    query: maintenance.listMaintenanceQuery,
    reply: maintenance.listMaintenanceReply,
  },
  getMaintenance: {
    summary: 'One maintenance.',
    access: USER,
    params: maintenance.maintenanceParams,
    reply: maintenance.maintenanceView,
  },
  cancelMaintenance: {
    summary: 'Call maintenance off, or end it early.',
    access: OPERATOR,
    params: maintenance.maintenanceParams,
    body: noBody,
    reply: changedReply,
  },
  listReservations: {
    summary: 'What is set aside: reservations and maintenance.',
    access: USER,
    reply: reservations.listReservationsReply,
  },
  createReservation: {
    summary: 'Set shares of nodes aside for a time: operators, or users for themselves.',
    access: USER,
    body: reservations.createReservationRequest,
    reply: reservations.reservationView,
  },
  getReservation: {
    summary: 'One reservation, by id or name.',
    access: USER,
    params: reservations.reservationParams,
    reply: reservations.reservationView,
  },
  changeReservation: {
    summary: 'Change a reservation: whoever made it, or an operator.',
    access: USER,
    params: reservations.reservationParams,
    body: reservations.changeReservationRequest,
    reply: reservations.reservationView,
  },
  cancelReservation: {
    summary: 'Give back at once what is set aside.',
    access: USER,
    params: reservations.reservationParams,
    reply: changedReply,
  },
  listUsers: { summary: 'Users with a role.', access: OPERATOR, reply: users.listUsersReply },
  listUsage: {
    summary: 'What users have used lately, and their fair share.',
    access: USER,
    reply: users.listUsageReply,
  },
  createUser: {
    summary: 'Give a user a role; refused when the user has one.',
    access: ADMIN,
    params: users.userParams,
    body: users.setUserRequest,
    reply: users.setUserReply,
  },
  modifyUser: {
    summary: "Change a user's role or groups.",
    access: ADMIN,
    params: users.userParams,
    body: users.setUserRequest,
    reply: users.setUserReply,
  },
  removeUser: {
    summary: 'Remove a user with all tokens.',
    access: ADMIN,
    params: users.userParams,
    reply: changedReply,
  },
  listTokens: {
    summary: 'Your tokens; all=true for everybody’s, admins only.',
    access: USER,
    query: users.listTokensQuery,
    reply: users.listTokensReply,
  },
  createToken: {
    summary: 'Make a bearer token; shows it once.',
    access: USER,
    body: users.createTokenRequest,
    reply: users.createTokenReply,
  },
  revokeToken: {
    summary: 'Revoke a token.',
    access: TOKEN_OWNER,
    params: users.tokenParams,
    reply: changedReply,
  },
  createJoinToken: {
    summary: 'Make a token that lets nodes join; shows it once.',
    access: ADMIN,
    body: users.createJoinTokenRequest,
    reply: users.createJoinTokenReply,
  },
  beginLocalLogin: {
    summary: 'Unix socket only: get the name of a directory to make.',
    access: PUBLIC,
    body: noBody,
    reply: users.beginLoginReply,
    quiet: true,
  },
  finishLocalLogin: {
    summary: 'Unix socket only: the owner of that directory is who you are.',
    access: PUBLIC,
    body: users.finishLoginRequest,
    reply: users.finishLoginReply,
  },
  whoami: { summary: 'Who the head takes you for.', access: USER, reply: users.whoamiReply },
  info: { summary: 'The cluster and its head.', access: USER, reply: cluster.infoReply },
  events: {
    summary: 'What happens, as server-sent events; resume with Last-Event-ID.',
    access: USER,
    query: cluster.eventsQuery,
    produces: 'text/event-stream',
  },
  metrics: {
    summary: 'Figures for Prometheus.',
    access: { kind: 'local_or_user' },
    produces: 'text/plain',
  },
  health: { summary: 'The head is alive.', access: PUBLIC, reply: cluster.healthReply },
  readiness: {
    summary: 'The head accepts work: 200, else 503.',
    access: PUBLIC,
    reply: cluster.healthReply,
  },
  openapi: {
    summary: 'This table as OpenAPI 3.1.',
    access: PUBLIC,
    reply: z.record(z.string(), z.unknown()),
  },
} as const satisfies Record<RouteName, RouteShape>;

/** One route with everything known of it, under one type whatever its schemas. */
export interface Route extends RouteShape {
  readonly name: RouteName;
  readonly method: string;
  readonly path: string;
}

/** All routes, in the order of the table. */
export const ROUTE_LIST: readonly Route[] = (Object.keys(ROUTES) as RouteName[]).map((name) => {
  const shape: RouteShape = ROUTES[name];
  return { ...shape, name, ...methodAndPath(name) };
});

type Table = typeof ROUTES;
type Input<S> = S extends z.ZodType ? z.input<S> : undefined;
type Output<S> = S extends z.ZodType ? z.output<S> : undefined;
type Part<N extends RouteName, K extends string> = Table[N] extends { readonly [P in K]: infer S }
  ? S
  : undefined;

/** What the handler of a route gets: checked and converted. */
export interface Request<N extends RouteName> {
  readonly params: Output<Part<N, 'params'>>;
  readonly query: Output<Part<N, 'query'>>;
  readonly body: Output<Part<N, 'body'>>;
}
/** What a client may send as the body of a route. */
export type Body<N extends RouteName> = Input<Part<N, 'body'>>;
/** What a route answers. */
export type ReplyOf<N extends RouteName> = Output<Part<N, 'reply'>>;
