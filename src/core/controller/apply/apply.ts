// The only code that changes State. One arm per event; live and replay run the same.

import { unreachable } from '../../base/assert.ts';
import type { Event } from '../events.ts';
import type { State } from '../state.ts';
import * as jobs from './jobs.ts';
import * as maintenance from './maintenance.ts';
import * as nodes from './nodes.ts';
import * as partitions from './partitions.ts';
import * as reservations from './reservations.ts';
import * as suspension from './suspension.ts';
import * as tasks from './tasks.ts';
import * as users from './users.ts';

/** `at`: the record's instant, ms since 1970. */
export function apply(state: State, event: Event, at: number): void {
  switch (event.kind) {
    case 'head_started':
      return nodes.applyHeadStarted(state, at);
    case 'half_life_changed':
      return state.usage.setRules({ halfLifeMs: event.halfLifeMs }, at);
    case 'billing_changed':
      return state.usage.setRules({ weights: event.weights }, at);
    case 'usage_forgotten':
      for (const user of event.users) state.usage.forget(user);
      return;
    case 'environment_added':
      return jobs.applyEnvironmentAdded(state, event);
    case 'job_submitted':
      return jobs.applyJobSubmitted(state, event, at);
    case 'dependency_met':
      return jobs.applyDependencyMet(state, event);
    case 'begin_reached':
      return jobs.applyBeginReached(state, event);
    case 'job_held':
      return jobs.applyJobHeld(state, event);
    case 'job_released':
      return jobs.applyJobReleased(state, event);
    case 'pending_ended':
      return jobs.applyPendingEnded(state, event);
    case 'job_done':
      return jobs.applyJobDone(state, event, at);
    case 'jobs_retired':
      return jobs.applyJobsRetired(state, event);
    case 'task_held':
      return tasks.applyTaskHeld(state, event);
    case 'task_allocated':
      return tasks.applyTaskAllocated(state, event, at);
    case 'part_started':
      return tasks.applyPartStarted(state, event, at);
    case 'suspend_asked':
      return suspension.applySuspendAsked(state, event);
    case 'resume_asked':
      return suspension.applyResumeAsked(state, event);
    case 'part_suspended':
      return suspension.applyPartSuspended(state, event, at);
    case 'part_resumed':
      return suspension.applyPartResumed(state, event, at);
    case 'end_asked':
      return tasks.applyEndAsked(state, event);
    case 'signal_asked':
      return tasks.applySignalAsked(state, event);
    case 'part_ended':
      return tasks.applyPartEnded(state, event, at);
    case 'claim_dropped':
      return tasks.applyClaimDropped(state, event);
    case 'task_requeued':
      return tasks.applyTaskRequeued(state, event, at);
    case 'task_done':
      return tasks.applyTaskDone(state, event, at);
    case 'node_enrolled':
      return nodes.applyNodeEnrolled(state, event);
    case 'node_connected':
      return nodes.applyNodeConnected(state, event, at);
    case 'node_fault_changed':
      return nodes.applyNodeFaultChanged(state, event);
    case 'node_disconnected':
      return nodes.applyNodeDisconnected(state, event, at);
    case 'node_unreachable':
      return nodes.applyNodeUnreachable(state, event, at);
    case 'node_drained':
      return nodes.applyNodeDrained(state, event, at);
    case 'node_undrained':
      return nodes.applyNodeUndrained(state, event);
    case 'node_labelled':
      return nodes.applyNodeLabelled(state, event);
    case 'node_declared_lost':
      return nodes.applyNodeDeclaredLost(state, event);
    case 'node_removed':
      return nodes.applyNodeRemoved(state, event);
    case 'user_set':
      return users.applyUserSet(state, event);
    case 'user_removed':
      return users.applyUserRemoved(state, event);
    case 'token_created':
      return users.applyTokenCreated(state, event, at);
    case 'token_revoked':
      return users.applyTokenRevoked(state, event);
    case 'reservation_created':
      return reservations.applyReservationCreated(state, event);
    case 'reservation_changed':
      return reservations.applyReservationChanged(state, event);
    case 'reservation_extended':
      return reservations.applyReservationExtended(state, event);
    case 'reservation_slot_found':
      return reservations.applySlotFound(state, event);
    case 'reservation_slot_begun':
      return reservations.applySlotBegun(state, event);
    case 'reservation_slot_over':
      return reservations.applySlotOver(state, event);
    case 'reservation_ended':
      return reservations.applyReservationEnded(state, event);
    case 'job_reserved':
      return reservations.applyJobReserved(state, event);
    case 'partition_changed':
      return partitions.applyPartitionChanged(state, event, at);
    case 'partition_reset':
      return partitions.applyPartitionReset(state, event);
    case 'maintenance_planned':
      return maintenance.applyMaintenancePlanned(state, event);
    case 'maintenance_moved':
      return maintenance.applyMaintenanceMoved(state, event, at);
    case 'maintenance_cancelled':
      return maintenance.applyMaintenanceCancelled(state, event);
    case 'maintenance_work':
      return maintenance.applyMaintenanceWork(state, event);
    case 'maintenance_suspended':
      return maintenance.applyMaintenanceSuspended(state, event);
    default:
      return unreachable(event);
  }
}
