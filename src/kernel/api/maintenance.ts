// Maintenance as the API shows it, and what operators plan.

import { z } from 'zod';
import type { NodeName, UserName } from '../model/ids.ts';
import { NODES_PER_TASK_MAX } from '../model/limits.ts';
import { MAINTENANCE_PHASES, RUNNING_POLICIES } from '../model/maintenance.ts';
import {
  changedReply,
  count,
  instant,
  instantOrNull,
  needs,
  noBody,
  nodeName,
  plainLine,
  queryFlag,
  userName,
} from './common.ts';
import { OPERATOR, type RouteShape, USER } from './route-shape.ts';
import { program } from './submission.ts';

export const maintenanceParams = z.strictObject({ id: z.string().min(1).max(20) });

const time = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('now') }),
  z.strictObject({ kind: z.literal('fixed'), from: instant }),
  /** The earliest that lies between the two. */
  z.strictObject({ kind: z.literal('flexible'), notBefore: instant, until: instant }),
]);

const warning = z.strictObject({ leadMs: count, signal: count });

export const planMaintenanceRequest = z.strictObject({
  /** Absent or empty: all that meet the labels. */
  nodes: z
    .array(nodeName.transform((name) => name as NodeName))
    .max(NODES_PER_TASK_MAX)
    .optional(),
  /** Labels or expressions that its nodes meet when it is planned. */
  labels: needs.optional(),
  time,
  durationMs: count,
  /** What becomes of tasks that still run at its start. */
  running: z.enum(RUNNING_POLICIES),
  warning: warning.nullable().optional(),
  /** Run once on each node in that time. For admins. */
  program: z
    .strictObject({
      program,
      /** Login name that it runs under; absent = the agent's own. */
      account: userName.transform((name) => name as UserName).optional(),
      /** The program restarts the node, and is done when the node is back. */
      restarts: z.boolean().optional(),
    })
    .nullable()
    .optional(),
  reason: plainLine.trim().min(1).max(1000),
});

export const nodeOnRequest = z.strictObject({
  nodes: z
    .array(nodeName.transform((name) => name as NodeName))
    .min(1)
    .max(NODES_PER_TASK_MAX),
});

export const listMaintenanceQuery = z.strictObject({
  /** Those that are over too. */
  all: queryFlag.optional(),
});

const nodeWork = z.object({
  node: z.string(),
  state: z.enum(['waiting', 'running', 'restarting', 'done', 'failed', 'skipped']),
  /** The job that runs the program. */
  jobId: z.int().nullable(),
  /** Why it failed or was skipped. */
  why: z.string().nullable(),
  /**
   * Whether the site of the node has stopped it, and given it back; `asked`: it may have stopped
   * it; null: it has not, or no site has it.
   */
  stop: z.enum(['asked', 'stopped', 'returned']).nullable(),
});

export const maintenanceView = z.object({
  id: z.string(),
  phase: z.enum(MAINTENANCE_PHASES),
  from: instant,
  until: instant,
  running: z.enum(RUNNING_POLICIES),
  warning: warning.nullable(),
  /** In one line. */
  program: z.string().nullable(),
  /** That program's; null = the agent's own. */
  account: z.string().nullable(),
  restarts: z.boolean(),
  /** Planned by itself, as goals are not met; null: somebody planned it. */
  goal: z.object({ class: z.string(), attempt: z.int() }).nullable(),
  reason: z.string(),
  createdBy: z.string(),
  createdAt: instant,
  endedAt: instantOrNull,
  /** What came of it, once it is over. */
  detail: z.string().nullable(),
  nodes: z.array(nodeWork),
});
export type MaintenanceView = z.infer<typeof maintenanceView>;

export const listMaintenanceReply = z.object({ maintenance: z.array(maintenanceView) });

export const maintenanceRoutes = {
  planMaintenance: {
    summary:
      'Plan maintenance: take nodes out of service for a time. A program needs the role admin.',
    access: OPERATOR,
    body: planMaintenanceRequest,
    reply: maintenanceView,
  },
  nodeOn: {
    summary:
      'Put nodes back into service that a maintenance has, or has left drained; all that are named, or none.',
    access: OPERATOR,
    body: nodeOnRequest,
    reply: changedReply,
  },
  listMaintenance: {
    summary: 'Maintenance that is planned or under way; all=true for what is over too.',
    access: USER,
    query: listMaintenanceQuery,
    reply: listMaintenanceReply,
  },
  getMaintenance: {
    summary: 'One maintenance.',
    access: USER,
    params: maintenanceParams,
    reply: maintenanceView,
  },
  cancelMaintenance: {
    summary: 'Cancel a maintenance, or end it early.',
    access: OPERATOR,
    params: maintenanceParams,
    body: noBody,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
