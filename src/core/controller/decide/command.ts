// One arm per command.

import { unreachable } from '../../base/assert.ts';
import type { Actor } from '../../model/actor.ts';
import type { Command } from '../commands.ts';
import type { Answer, Step } from '../step.ts';
import * as control from './control.ts';
import * as fleet from './fleet.ts';
import { decideCancelMaintenance, decidePlanMaintenance } from './maintenance.ts';
import * as partitions from './partitions.ts';
import * as reservations from './reservations.ts';
import { decideSubmit } from './submit.ts';
import * as users from './users.ts';

export function decideCommand(step: Step, command: Command, actor: Actor): Answer {
  switch (command.kind) {
    case 'submit_job':
      return decideSubmit(step, command, actor);
    case 'cancel_task':
      return control.decideCancel(step, command.place, actor);
    case 'signal_task':
      return control.decideSignal(step, command, actor);
    case 'hold_job':
      return control.decideHold(step, command.jobId, actor);
    case 'release_job':
      return control.decideRelease(step, command.jobId, actor);
    case 'suspend_task':
      return control.decideSuspend(step, command.place, actor);
    case 'resume_task':
      return control.decideResume(step, command.place, actor);
    case 'requeue_task':
      return control.decideRequeue(step, command.place, actor);
    case 'drain_node':
      return fleet.decideDrain(step, command, actor);
    case 'undrain_node':
      return fleet.decideUndrain(step, command, actor);
    case 'label_node':
      return fleet.decideLabel(step, command, actor);
    case 'declare_node_lost':
      return fleet.decideDeclareLost(step, command, actor);
    case 'remove_node':
      return fleet.decideRemove(step, command, actor);
    case 'enroll_node':
      return fleet.decideEnroll(step, command, actor);
    case 'set_user':
      return users.decideSetUser(step, command, actor);
    case 'remove_user':
      return users.decideRemoveUser(step, command, actor);
    case 'create_token':
      return users.decideCreateToken(step, command, actor);
    case 'revoke_token':
      return users.decideRevokeToken(step, command, actor);
    case 'change_partition':
      return partitions.decideChangePartition(step, command, actor);
    case 'reset_partition':
      return partitions.decideResetPartition(step, command, actor);
    case 'plan_maintenance':
      return decidePlanMaintenance(step, command, actor);
    case 'cancel_maintenance':
      return decideCancelMaintenance(step, command.id, actor);
    case 'create_reservation':
      return reservations.decideCreate(step, command, actor);
    case 'change_reservation':
      return reservations.decideChange(step, command, actor);
    case 'cancel_reservation':
      return reservations.decideCancel(step, command, actor);
    case 'extend_reservation':
      return reservations.decideExtend(step, command, actor);
    default:
      return unreachable(command);
  }
}
