// Maintenance: a time in which nodes are taken from all users, what becomes of the tasks that still
// run there, and a program that may be run on each node meanwhile.

import type { JobId, NodeName, UserName } from './ids.ts';
import type { Program, Warning } from './job.ts';

export const RUNNING_POLICIES = ['wait', 'requeue', 'suspend', 'kill'] as const;

/** What becomes of a task that still runs when the time begins. */
export type RunningPolicy = (typeof RUNNING_POLICIES)[number];

/** What is run on each node once no user's task goes on there. */
export interface MaintenanceProgram {
  readonly program: Program;
  /** Login name that it runs under; null = the agent's own. */
  readonly account: UserName | null;
  /** The program restarts the node: done when the node is back with another boot. */
  readonly restarts: boolean;
}

/** What makes a maintenance the repair of a node that does not meet its goals. */
export interface GoalRepair {
  /** The class of nodes that the goals are for. */
  readonly class: string;
  /** 1, 2, … of those in a row. */
  readonly attempt: number;
}

export const MAINTENANCE_PHASES = [
  'planned',
  'warned',
  'draining',
  'active',
  'restoring',
  'done',
  'failed',
  'cancelled',
] as const;

/**
 * `draining`: the time has begun, but users' tasks go on. `restoring`: it is over but for programs
 * that are being ended.
 */
export type MaintenancePhase = (typeof MAINTENANCE_PHASES)[number];

/** How far the work on one node is. */
export type NodeWork =
  /** For its program to start; without a program for the end of the time. */
  | { readonly kind: 'waiting' }
  /** `bootId`: of the node at the program's start. */
  | { readonly kind: 'running'; readonly jobId: JobId; readonly bootId: string }
  /** The program is over, the node has still to come back. */
  | { readonly kind: 'restarting'; readonly jobId: JobId; readonly bootId: string }
  /** Null when there was no program. */
  | { readonly kind: 'done'; readonly jobId: JobId | null }
  /** The node is kept out. */
  | { readonly kind: 'failed'; readonly why: string }
  /** Nothing was done to the node, or it was called off: it goes back to service. */
  | { readonly kind: 'skipped'; readonly why: string };

/**
 * What the site of a node has done with it. `asked`: its gateway may have been told to stop it, and
 * has said nothing of it yet, so that the node may be stopped. `never`: it was not, for all that
 * its gateway says.
 */
export type NodeStop = 'asked' | 'stopped' | 'returned' | 'never';

export interface Maintenance {
  /** `m1`, `m2`, …: also the id of its reservation. */
  readonly id: string;
  readonly nodes: readonly NodeName[];
  /** The planned time, ms since 1970; [from, until). A late start makes it no longer. */
  readonly from: number;
  readonly until: number;
  readonly running: RunningPolicy;
  readonly warning: Warning | null;
  readonly program: MaintenanceProgram | null;
  /** Absent: somebody planned it. */
  readonly goal?: GoalRepair;
  readonly reason: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly phase: MaintenancePhase;
  readonly cancelledBy: string | null;
  readonly works: Readonly<Record<NodeName, NodeWork>>;
  /** Nodes that sites were to stop; others are not in it. */
  readonly stops?: Readonly<Record<NodeName, NodeStop>>;
  /** Nodes that somebody has taken back before its end, and who. */
  readonly takenBack?: Readonly<Record<NodeName, string>>;
  readonly endedAt: number | null;
  /** Once it is over: what came of it, in words. */
  readonly detail: string | null;
}

/** The owner of what the cluster itself runs. */
export const SYSTEM_USER = 'system' as UserName;

const OVER: ReadonlySet<MaintenancePhase> = new Set(['done', 'failed', 'cancelled']);

/** Neither over nor cancelled. */
export function isAlive({ phase }: Pick<Maintenance, 'phase'>): boolean {
  return !OVER.has(phase);
}

/** True from its begin to its end: its nodes may come and go. */
export function isUnderWay({ phase }: Pick<Maintenance, 'phase'>): boolean {
  return phase === 'draining' || phase === 'active' || phase === 'restoring';
}

/** True while the maintenance's work on the node is not over. */
export function worksOn({ works }: Pick<Maintenance, 'works'>, node: NodeName): boolean {
  const kind = works[node]?.kind;
  return kind === 'waiting' || kind === 'running' || kind === 'restarting';
}

/** The node is still taken from the users by it. */
export function takesNode(one: Pick<Maintenance, 'works' | 'stops'>, node: NodeName): boolean {
  return worksOn(one, node) || mayBeStopped(one, node);
}

/** True when the site may keep the node stopped for the maintenance. */
export function mayBeStopped({ stops }: Pick<Maintenance, 'stops'>, node: NodeName): boolean {
  return stops?.[node] === 'asked' || stops?.[node] === 'stopped';
}
