// What can be asked about maintenance.

import type { NodeName } from '../../model/ids.ts';
import type { Program, Warning } from '../../model/job.ts';
import type { GoalRepair, MaintenanceProgram, RunningPolicy } from '../../model/maintenance.ts';
import type { WantedReservation } from '../reservations/commands.ts';

export type MaintenanceCommand = PlanMaintenance | CancelMaintenance | NodeOn | CheckNode;

/** Looks at a node by a program of the cluster, at once, beside what runs there. From the head. */
export interface CheckNode {
  readonly kind: 'check_node';
  readonly node: NodeName;
  readonly program: Program;
  readonly walltimeMs: number;
}

/** Takes nodes from all users for a time. */
export interface PlanMaintenance {
  readonly kind: 'plan_maintenance';
  /** Empty: any that meet the labels. */
  readonly nodes: readonly NodeName[];
  /** Labels or expressions that its nodes meet when it is planned; absent: none. */
  readonly labels?: readonly string[];
  /** `now`: as soon as the command is carried out. */
  readonly time: WantedReservation['time'];
  readonly durationMs: number;
  readonly running: RunningPolicy;
  readonly warning: Warning | null;
  readonly program: MaintenanceProgram | null;
  /** Set for a repair of goals; absent: an operator planned the maintenance. */
  readonly goal?: GoalRepair;
  readonly reason: string;
}

/** Puts nodes back into service that a maintenance has, or has left drained. */
export interface NodeOn {
  readonly kind: 'node_on';
  readonly nodes: readonly NodeName[];
}

/** Calls it off, or ends it early: its nodes go back to service. */
export interface CancelMaintenance {
  readonly kind: 'cancel_maintenance';
  readonly id: string;
}
