// Facts, in the past tense: the only thing the journal keeps and the only way state changes.

import type { Role } from '../model/actor.ts';
import type { EpochId, JobId, NodeName, TaskPlace, UserName } from '../model/ids.ts';
import type { JobSpec, Outcome, Usage } from '../model/job.ts';
import type { Maintenance, MaintenancePhase, NodeWork } from '../model/maintenance.ts';
import type { NodeHello } from '../model/node.ts';
import type { EndCause, ProcessEnd, Share } from '../model/orders.ts';
import type { Reservation, ReservedSlot, SkippedSlot } from '../model/reservation.ts';
import type { Resources } from '../model/resources.ts';
import type { BillingWeights, PartitionChange } from '../model/scheduling.ts';

/**
 * Raised when an old record would be read wrongly; `apply` knows all earlier ones (test/records).
 */
export const RECORD_VERSION = 1;

/** One step: what one input led to. Written whole or not at all. */
export interface StepRecord {
  readonly v: number;
  /** Wall clock of the head, ms since 1970. */
  readonly at: number;
  readonly events: readonly Event[];
}

export type Event =
  | { readonly kind: 'head_started' }
  /** The site's rule for fading usage is another from here on. */
  | { readonly kind: 'half_life_changed'; readonly halfLifeMs: number }
  /** And what it counts. */
  | { readonly kind: 'billing_changed'; readonly weights: BillingWeights }
  /** Their usage has faded, and nothing of theirs is left. */
  | { readonly kind: 'usage_forgotten'; readonly users: readonly UserName[] }
  | {
      readonly kind: 'job_submitted';
      readonly jobId: JobId;
      readonly owner: UserName;
      readonly uid: number | null;
      /** Without its environment, which is in the record of `environmentId`. */
      readonly spec: JobSpec;
      readonly environmentId: number;
      readonly key: string | null;
      /** Those of the spec's dependencies that are not met yet. */
      readonly waitsFor: readonly JobId[];
    }
  | {
      readonly kind: 'environment_added';
      readonly environmentId: number;
      readonly variables: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'dependency_met'; readonly jobId: JobId; readonly on: JobId }
  | { readonly kind: 'begin_reached'; readonly jobId: JobId }
  | { readonly kind: 'job_held'; readonly jobId: JobId; readonly by: string }
  | { readonly kind: 'job_released'; readonly jobId: JobId; readonly by: string }
  /** By the crash limit. */
  | { readonly kind: 'task_held'; readonly place: TaskPlace; readonly because: string }
  | {
      readonly kind: 'task_allocated';
      readonly place: TaskPlace;
      readonly epoch: number;
      /** In node rank order. */
      readonly shares: readonly Share[];
    }
  /** With its last part the task is running. */
  | { readonly kind: 'part_started'; readonly epochId: EpochId; readonly node: NodeName }
  | {
      readonly kind: 'suspend_asked';
      readonly place: TaskPlace;
      readonly by: string;
      /** Only when it makes room: it gives its cpus up until there is room again. In words, why. */
      readonly because?: string;
    }
  | { readonly kind: 'resume_asked'; readonly place: TaskPlace; readonly by: string }
  | {
      readonly kind: 'part_suspended';
      readonly epochId: EpochId;
      readonly node: NodeName;
      /** Of the report; missing from a record or an agent of 0.1.0. */
      readonly turn?: number;
      /**
       * Ms since 1970, by the node's clock but never later than the record: when it stopped or went
       * on. Missing from older records: when the head heard of it.
       */
      readonly since?: number;
    }
  | {
      readonly kind: 'part_resumed';
      readonly epochId: EpochId;
      readonly node: NodeName;
      /** As of `part_suspended`. */
      readonly turn?: number;
      readonly since?: number;
    }
  | {
      readonly kind: 'end_asked';
      readonly place: TaskPlace;
      readonly why: 'cancel' | 'requeue' | 'sibling';
      readonly by: string;
      /** In words for the outcome, when it is nobody's wish: it makes room. */
      readonly because?: string;
      /** With `sibling`: how the task will end. */
      readonly outcome?: Outcome;
    }
  | {
      readonly kind: 'part_ended';
      readonly epochId: EpochId;
      readonly node: NodeName;
      readonly cause: EndCause;
      readonly nodeFault: boolean;
      readonly processes: readonly ProcessEnd[];
      readonly usage: Usage;
      readonly detail?: string;
    }
  /** An epoch nobody waits for any more is known to be gone from a node: its claim goes. */
  | { readonly kind: 'claim_dropped'; readonly epochId: EpochId; readonly node: NodeName }
  /**
   * Back to the queue; `abandoned`: nodes where the old epoch may still run and keeps its claim.
   */
  | {
      readonly kind: 'task_requeued';
      readonly place: TaskPlace;
      readonly because: string;
      /** How the epoch would have ended the task. */
      readonly outcome: Outcome;
      readonly counts: 'failure' | 'crash' | 'neither';
      readonly abandoned: readonly NodeName[];
    }
  | {
      readonly kind: 'task_done';
      readonly place: TaskPlace;
      readonly outcome: Outcome;
      readonly abandoned: readonly NodeName[];
    }
  /** Tasks that never started, ended together: a cancelled array is one event. */
  | {
      readonly kind: 'pending_ended';
      readonly jobId: JobId;
      /** IntervalSet text. */
      readonly indices: string;
      readonly outcome: Outcome;
    }
  | { readonly kind: 'job_done'; readonly jobId: JobId; readonly outcome: Outcome }
  | { readonly kind: 'jobs_retired'; readonly jobIds: readonly JobId[] }
  | {
      readonly kind: 'node_enrolled';
      readonly node: NodeName;
      readonly secretHash: string;
      readonly resources: Resources | null;
      readonly labels: readonly string[];
    }
  | {
      readonly kind: 'node_connected';
      readonly session: number;
      readonly hello: NodeHello;
      /** Held by the agent, unknown or outdated here: to be ended there. */
      readonly stale: readonly EpochId[];
    }
  | { readonly kind: 'node_disconnected'; readonly node: NodeName; readonly session: number }
  | { readonly kind: 'node_unreachable'; readonly node: NodeName }
  /** Null: it can take work again. */
  | { readonly kind: 'node_fault_changed'; readonly node: NodeName; readonly fault: string | null }
  | {
      readonly kind: 'node_drained';
      readonly node: NodeName;
      readonly reason: string;
      readonly by: string;
    }
  | { readonly kind: 'node_undrained'; readonly node: NodeName; readonly by: string }
  | {
      readonly kind: 'node_labelled';
      readonly node: NodeName;
      readonly add: readonly string[];
      readonly remove: readonly string[];
    }
  /** `by`: an operator, or `fence command`. */
  | { readonly kind: 'node_declared_lost'; readonly node: NodeName; readonly by: string }
  | { readonly kind: 'node_removed'; readonly node: NodeName; readonly by: string }
  | {
      readonly kind: 'signal_asked';
      readonly place: TaskPlace;
      readonly signal: number;
      readonly by: string;
    }
  | {
      readonly kind: 'user_set';
      readonly user: UserName;
      readonly role: Role;
      /** Absent: none; records of 0.1.0 know no groups. */
      readonly groups?: readonly string[];
      readonly by: string;
    }
  | { readonly kind: 'user_removed'; readonly user: UserName; readonly by: string }
  | {
      readonly kind: 'token_created';
      readonly tokenId: string;
      readonly hash: string;
      readonly purpose: 'user' | 'join';
      readonly user: UserName;
      readonly label: string;
      readonly expiresAt: number | null;
      readonly by: string;
    }
  | { readonly kind: 'token_revoked'; readonly tokenId: string; readonly by: string }
  | {
      readonly kind: 'reservation_created';
      readonly reservation: Reservation;
      readonly by: string;
    }
  /** The whole of it as it is now. */
  | {
      readonly kind: 'reservation_changed';
      readonly reservation: Reservation;
      readonly by: string;
    }
  /** Further occurrences of a recurring one, up to `placedUntil`. */
  | {
      readonly kind: 'reservation_extended';
      readonly id: string;
      readonly slots: readonly ReservedSlot[];
      readonly skipped: readonly SkippedSlot[];
      readonly placedUntil: number;
    }
  /** The occurrence that was to begin at `from` was skipped, and has room now. */
  | {
      readonly kind: 'reservation_slot_found';
      readonly id: string;
      readonly from: number;
      readonly slot: ReservedSlot;
    }
  | { readonly kind: 'reservation_slot_begun'; readonly id: string; readonly from: number }
  | { readonly kind: 'reservation_slot_over'; readonly id: string; readonly from: number }
  /** Nothing of it is set aside any more. */
  | {
      readonly kind: 'reservation_ended';
      readonly id: string;
      readonly why: 'over' | 'cancelled';
      readonly by: string;
    }
  | {
      readonly kind: 'maintenance_planned';
      readonly maintenance: Maintenance;
      readonly by: string;
    }
  | {
      readonly kind: 'maintenance_moved';
      readonly id: string;
      readonly phase: MaintenancePhase;
      /** Once it is over: what came of it. */
      readonly detail?: string;
    }
  | { readonly kind: 'maintenance_cancelled'; readonly id: string; readonly by: string }
  | {
      readonly kind: 'maintenance_work';
      readonly id: string;
      readonly node: NodeName;
      readonly work: NodeWork;
    }
  /** These were asked to suspend on its behalf. */
  | {
      readonly kind: 'maintenance_suspended';
      readonly id: string;
      readonly epochIds: readonly EpochId[];
    }
  /** A pending job runs in the reservation from now on; null: outside of any. */
  | {
      readonly kind: 'job_reserved';
      readonly jobId: JobId;
      readonly reservation: string | null;
      readonly by: string;
    }
  | {
      readonly kind: 'partition_changed';
      readonly partition: string;
      readonly change: PartitionChange;
      readonly by: string;
    }
  | { readonly kind: 'partition_reset'; readonly partition: string; readonly by: string };

/** The event of one kind. */
export type Of<K extends Event['kind']> = Extract<Event, { kind: K }>;
