// Names of the schemas that several routes share, as generated clients see them. Whatever is not
// named here has a name by where it stands: `SubmitJobRequest`, `NodeDrained`.

import { z } from 'zod';
import { ROLES } from '../model/actor.ts';
import { OUTCOMES, TASK_STATES } from '../model/job.ts';
import { RUNNING_POLICIES } from '../model/maintenance.ts';
import { PARTITION_STATES, PLACEMENTS, POLICIES, PREEMPT_MODES } from '../model/scheduling.ts';
import * as cluster from './cluster.ts';
import * as common from './common.ts';
import { deliveryView } from './delivery.ts';
import { eventKindsOf } from './event-kinds.ts';
import * as failures from './failure.ts';
import * as history from './history.ts';
import * as jobs from './jobs.ts';
import * as maintenance from './maintenance.ts';
import * as nodes from './nodes.ts';
import type { ApiPart } from './part.ts';
import * as partitions from './partitions.ts';
import * as reservations from './reservations.ts';
import * as submissions from './submission.ts';
import * as users from './users.ts';

const { jobView, waitReply, listTasksReply } = jobs;

/** Inner ones are reached through those that have them. */
const NAMES: Readonly<Record<string, z.ZodType>> = {
  Resources: common.resources,
  ExitStatus: common.exitStatus,
  Changed: common.changedReply,
  Nothing: common.noBody.unwrap(),
  TaskChoice: jobs.taskChoice.unwrap(),
  UserChange: users.setUserRequest,
  UserChanged: users.setUserReply,
  Failure: failures.failureReply,
  Refusal: failures.failure,
  Submission: submissions.submission,
  Program: submissions.program,
  Submitted: submissions.submitReply,
  Job: jobView,
  JobOutcome: jobView.shape.outcome.unwrap(),
  PendingReason: jobView.shape.reason.unwrap(),
  JobRequest: jobView.shape.request,
  Task: listTasksReply.shape.tasks.element,
  Usage: jobs.jobDetail.shape.usage,
  Waited: waitReply,
  Explanation: jobs.explainReply,
  Delivery: deliveryView,
  HistoryJob: history.historyReply.shape.jobs.element,
  Node: nodes.nodeView,
  AdmittedNode: nodes.admittedReply,
  Partition: partitions.partitionReply,
  PartitionChange: partitions.partitionChange,
  Qos: partitions.listQosReply.shape.qualities.element,
  Maintenance: maintenance.maintenanceView,
  Reservation: reservations.reservationView,
  User: users.listUsersReply.shape.users.element,
  UserUsage: users.listUsageReply.shape.users.element,
  Token: users.listTokensReply.shape.tokens.element,
  Health: cluster.healthReply,
  Event: cluster.eventView,
  EventRecord: cluster.recordView,
};

/** Lists of words that stand in several schemas, by their words. */
export const ENUMS: ReadonlyMap<string, string> = new Map([
  [TASK_STATES.join(), 'TaskState'],
  [OUTCOMES.join(), 'OutcomeKind'],
  [ROLES.join(), 'Role'],
  [PARTITION_STATES.join(), 'PartitionState'],
  [POLICIES.join(), 'Policy'],
  [PLACEMENTS.join(), 'Placement'],
  [PREEMPT_MODES.join(), 'PreemptMode'],
  [RUNNING_POLICIES.join(), 'RunningPolicy'],
]);

/** For the converter: a schema that has an id is a component of that name. */
export type Named = z.core.$ZodRegistry<{ id: string; enum?: string[] }>;

export function namedSchemas(parts: readonly ApiPart[]): Named {
  const named: Named = z.registry();
  named.add(cluster.eventKind, { id: 'EventKind', enum: Object.keys(eventKindsOf(parts)) });
  for (const names of [NAMES, ...parts.map((part) => part.names ?? {})]) {
    for (const [id, schema] of Object.entries(names)) named.add(schema, { id });
  }
  return named;
}

/** Documented as the other, though the head takes anything here and checks it by itself. */
export const STAND_INS: ReadonlyMap<z.core.$ZodType, string> = new Map([
  [submissions.uncheckedSubmission, 'Submission'],
]);
