// Partitions and qualities of service, and the configuration that they come from.

import { z } from 'zod';
import { PARTITION_STATES, PLACEMENTS, POLICIES, PREEMPT_MODES } from '../model/scheduling.ts';
import { changedReply, count, instant, noBody } from './common.ts';
import { ADMIN, OPERATOR, type RouteShape, USER } from './route-shape.ts';

export const partitionParams = z.strictObject({ name: z.string().min(1).max(64) });

const changeable = {
  state: z.enum(PARTITION_STATES),
  policy: z.enum(POLICIES),
  placement: z.enum(PLACEMENTS),
  tier: z.int(),
  preempt: z.enum(PREEMPT_MODES),
  priority: z.number(),
};

const changeFields = {
  state: changeable.state.exactOptional(),
  policy: changeable.policy.exactOptional(),
  placement: changeable.placement.exactOptional(),
  tier: changeable.tier.exactOptional(),
  preempt: changeable.preempt.exactOptional(),
  priority: changeable.priority.exactOptional(),
};

/** What holds over the config until it is reset. */
export const partitionChange = z.strictObject(changeFields);

const texts = z.array(z.string());

const partitionView = z.object({
  name: z.string(),
  ...changeable,
  /** Null: no limit. */
  limits: z.object({
    walltimeMs: count.nullable(),
    walltimeDefaultMs: count.nullable(),
    nodesPerTask: count.nullable(),
    tasksPerUser: count.nullable(),
    memoryPerNodeBytes: count.nullable(),
  }),
  /** Labels or expressions that its nodes meet. */
  labels: texts,
  /** The partition's nodes that have joined, and how many of them can be given work. */
  nodes: texts,
  nodesUp: count,
  /** Named in the config, but not joined. */
  nodesMissing: texts,
  /** Users who may submit; everybody when `users` and `groups` are null. */
  users: texts.nullable(),
  groups: texts.nullable(),
  tasksRunning: count,
  tasksWaiting: count,
  /** What the config says of what a command has set; null: nothing was set. */
  override: z
    .object({
      set: z.object(changeFields),
      configured: z.object(changeFields),
      by: z.string(),
      at: instant,
    })
    .nullable(),
});
export type PartitionView = z.infer<typeof partitionView>;
export const partitionReply = partitionView;
export const listPartitionsReply = z.object({ partitions: z.array(partitionView) });

const qosView = z.object({
  name: z.string(),
  priority: z.number(),
  tier: z.int(),
  preempt: z.enum(PREEMPT_MODES),
  runningTasksPerUser: count.nullable(),
  runningCpusPerUser: count.nullable(),
  waitingJobsPerUser: count.nullable(),
  /** `gpus`, and `gpus:a100` of types. Absent: any. */
  gpusPerUser: z.record(z.string(), count).exactOptional(),
  users: texts.nullable(),
  groups: texts.nullable(),
  tasksRunning: count,
  tasksWaiting: count,
});
export type QosView = z.infer<typeof qosView>;
export const listQosReply = z.object({ qualities: z.array(qosView) });

const settingChange = z.object({
  /** `head.policy`, `partitions.gpu.tier`. */
  key: z.string(),
  /** The value in the form in which one would write it; null: not written. */
  before: z.string().nullable(),
  after: z.string().nullable(),
});
export type SettingChange = z.infer<typeof settingChange>;

export const reloadReply = z.object({
  /** The file that was read; null: there is none. */
  file: z.string().nullable(),
  /** In force from now on. */
  changed: z.array(settingChange),
  /** In force when the head is started again. */
  afterRestart: z.array(settingChange),
});
export type ReloadReply = z.infer<typeof reloadReply>;

export const partitionRoutes = {
  listPartitions: {
    summary: 'All partitions, with their nodes, limits and load.',
    access: USER,
    reply: listPartitionsReply,
  },
  getPartition: {
    summary: 'One partition.',
    access: USER,
    params: partitionParams,
    reply: partitionReply,
  },
  changePartition: {
    summary: 'Set values that override the config until they are reset.',
    access: OPERATOR,
    params: partitionParams,
    body: partitionChange,
    reply: changedReply,
  },
  resetPartition: {
    summary: 'Return to the values of the config.',
    access: OPERATOR,
    params: partitionParams,
    body: noBody,
    reply: changedReply,
  },
  listQos: {
    summary: 'All qualities of service.',
    access: USER,
    reply: listQosReply,
  },
  reloadConfig: {
    summary: 'Read the configuration again; a wrong one changes nothing.',
    access: ADMIN,
    body: noBody,
    reply: reloadReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
