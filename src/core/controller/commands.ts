// Everything that can be asked of the controller. Imperative; may be refused. The actor comes from
// the authentication, beside the command, never inside it.

import type { Role } from '../model/actor.ts';
import type { JobId, NodeName, TaskPlace, UserName } from '../model/ids.ts';
import type { OutcomeKind } from '../model/job.ts';
import type { MaintenanceProgram, RunningPolicy, Warning } from '../model/maintenance.ts';
import type {
  Recurrence,
  Reservation,
  ReservationRequest,
  ReservedTime,
} from '../model/reservation.ts';
import type { Resources } from '../model/resources.ts';
import type { PartitionChange } from '../model/scheduling.ts';
import type { Submission } from '../model/submission.ts';

export type Command =
  | SubmitJob
  | CancelTask
  | SignalTask
  | HoldJob
  | ReleaseJob
  | SuspendTask
  | ResumeTask
  | RequeueTask
  | DrainNode
  | UndrainNode
  | LabelNode
  | DeclareNodeLost
  | RemoveNode
  | EnrollNode
  | SetUser
  | RemoveUser
  | CreateToken
  | RevokeToken
  | ChangePartition
  | ResetPartition
  | PlanMaintenance
  | CancelMaintenance
  | CreateReservation
  | ChangeReservation
  | CancelReservation
  | ExtendReservation;

export interface SubmitJob {
  readonly kind: 'submit_job';
  readonly submission: Submission;
  /** Same owner + same key = same job, however often it is sent. */
  readonly key: string | null;
  /** Outcomes of dependencies that have left memory, looked up in the history by the shell. */
  readonly retired: Readonly<Record<number, OutcomeKind>>;
}

/** A whole job (`index` null) or one task of an array. */
export interface CancelTask {
  readonly kind: 'cancel_task';
  readonly place: TaskPlace;
}
export interface SignalTask {
  readonly kind: 'signal_task';
  readonly place: TaskPlace;
  readonly signal: number;
}
export interface HoldJob {
  readonly kind: 'hold_job';
  readonly jobId: JobId;
}
export interface ReleaseJob {
  readonly kind: 'release_job';
  readonly jobId: JobId;
}
export interface SuspendTask {
  readonly kind: 'suspend_task';
  readonly place: TaskPlace;
}
export interface ResumeTask {
  readonly kind: 'resume_task';
  readonly place: TaskPlace;
}
/** Ends what runs and puts it back to the queue as the next epoch. */
export interface RequeueTask {
  readonly kind: 'requeue_task';
  readonly place: TaskPlace;
}
export interface DrainNode {
  readonly kind: 'drain_node';
  readonly node: NodeName;
  readonly reason: string;
}
export interface UndrainNode {
  readonly kind: 'undrain_node';
  readonly node: NodeName;
}
export interface LabelNode {
  readonly kind: 'label_node';
  readonly node: NodeName;
  readonly add: readonly string[];
  readonly remove: readonly string[];
}
/** The operator vouches that nothing runs there any more. */
export interface DeclareNodeLost {
  readonly kind: 'declare_node_lost';
  readonly node: NodeName;
}
export interface RemoveNode {
  readonly kind: 'remove_node';
  readonly node: NodeName;
}
/** Admits a node with a secret of its own; `resources` override what it finds on the machine. */
export interface EnrollNode {
  readonly kind: 'enroll_node';
  readonly node: NodeName;
  readonly secretHash: string;
  readonly resources: Resources | null;
  readonly labels: readonly string[];
  /** Take over an existing name (its old secret stops working). */
  readonly replace: boolean;
}
export interface SetUser {
  readonly kind: 'set_user';
  readonly user: UserName;
  /** Absent: as it is; `user` for a new one. */
  readonly role?: Role | undefined;
  /** Beside those that the head's machine knows. Absent: as they are. */
  readonly groups?: readonly string[] | undefined;
  /** Refuse if the user exists (`create`), or does not (`modify`). */
  readonly mode: 'create' | 'modify' | 'either';
}
export interface RemoveUser {
  readonly kind: 'remove_user';
  readonly user: UserName;
}
/** A bearer token of a user, or one that lets nodes join. Only its hash is ever stored. */
export interface CreateToken {
  readonly kind: 'create_token';
  readonly tokenId: string;
  readonly hash: string;
  readonly purpose: 'user' | 'join';
  readonly user: UserName;
  readonly label: string;
  /** Null = never, allowed for user tokens only. */
  readonly expiresAt: number | null;
}
export interface RevokeToken {
  readonly kind: 'revoke_token';
  readonly tokenId: string;
}

/** Sets what stays set, whatever the config says, until it is reset. */
export interface ChangePartition {
  readonly kind: 'change_partition';
  readonly partition: string;
  readonly change: PartitionChange;
}
/** Back to what the config says. */
export interface ResetPartition {
  readonly kind: 'reset_partition';
  readonly partition: string;
}
/** Takes nodes from all users for a time. */
export interface PlanMaintenance {
  readonly kind: 'plan_maintenance';
  /** Empty: any that meet the labels. */
  readonly nodes: readonly NodeName[];
  /** Labels or expressions that its nodes meet when it is planned; absent: none. */
  readonly labels?: readonly string[];
  /** `now`: as soon as the command is carried out. */
  readonly time: ReservedTime | { readonly kind: 'now' };
  readonly durationMs: number;
  readonly running: RunningPolicy;
  readonly warning: Warning | null;
  readonly program: MaintenanceProgram | null;
  readonly reason: string;
}
/** Calls it off, or ends it early: its nodes go back to service. */
export interface CancelMaintenance {
  readonly kind: 'cancel_maintenance';
  readonly id: string;
}
/** Asks for shares of nodes at a time to come, for some users and jobs. */
export interface CreateReservation {
  readonly kind: 'create_reservation';
  /** Null: its id. */
  readonly name: string | null;
  /** Nobody at all means whoever asks. */
  readonly members: ReservationMembers;
  readonly request: ReservationWish;
  readonly recurrence: Occurrences | null;
}
/** As it will be kept, but that `now` is when the command is decided. */
export interface ReservationWish extends Omit<ReservationRequest, 'time'> {
  readonly time: ReservedTime | 'now';
}
export interface ReservationMembers {
  readonly users: readonly UserName[];
  readonly groups: readonly string[];
  readonly jobs: readonly JobId[];
}
/** A recurrence and its next starts, ms since 1970: the core reads neither cron nor time zones. */
export interface Occurrences extends Recurrence {
  readonly starts: readonly number[];
}
/** What is absent stays as it is. A change of time or place is placed anew as a whole. */
export interface ChangeReservation {
  readonly kind: 'change_reservation';
  /** Id or name, as in the next. */
  readonly reservation: string;
  readonly name?: string;
  readonly members?: Partial<ReservationMembers>;
  readonly request?: ReservationWish;
  /** Null: it comes once more, or as the changed request says. */
  readonly recurrence?: Occurrences | null;
}
/** Frees at once what it sets aside, also while it lasts. */
export interface CancelReservation {
  readonly kind: 'cancel_reservation';
  readonly reservation: string;
}
/** Further starts of a recurring one; none: it does not come again. From the head itself. */
export interface ExtendReservation {
  readonly kind: 'extend_reservation';
  readonly id: string;
  readonly starts: readonly number[];
}

/** What a command answers when it is not refused. */
export type Reply =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  | { readonly kind: 'submitted'; readonly jobId: JobId; readonly again: boolean }
  /** How many tasks it changed. */
  | { readonly kind: 'changed'; readonly count: number }
  | { readonly kind: 'maintenance_planned'; readonly id: string }
  | { readonly kind: 'done' };
