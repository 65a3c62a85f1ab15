// Views as the head answers them, for tests that care about a few of their fields.

import type { JobView } from '../../../../src/kernel/api/jobs.ts';
import type { CardView, NodeView } from '../../../../src/kernel/api/nodes.ts';

const RESOURCES = { cpuCount: 2, memoryBytes: 512 * 1024 ** 2, gpuCount: 0, counted: {} };

export function jobView(fields: Partial<JobView> = {}): JobView {
  const { state = 'pending', taskCount = 1 } = fields;
  return {
    id: 42,
    name: 'hello',
    owner: 'alice',
    source: 'grid',
    siteJob: null,
    partition: 'default',
    state: 'pending',
    outcome: null,
    reason: null,
    notice: null,
    taskCount: 1,
    taskCounts: { [state]: taskCount },
    outcomeCounts: {},
    array: null,
    submittedAt: 0,
    startedAt: null,
    runStartedAt: null,
    endedAt: null,
    nodes: [],
    exit: null,
    command: 'hello world',
    directory: null,
    request: {
      nodeCount: 1,
      processesPerNode: 1,
      perNode: RESOURCES,
      exclusive: false,
      labels: [],
      nodeNames: [],
    },
    walltimeMs: null,
    held: false,
    priority: null,
    ...fields,
  };
}

/** A job that is done in this way. */
export function doneJob(
  kind: NonNullable<JobView['outcome']>['kind'],
  exit: JobView['exit'] = null,
  detail: string | null = null,
): JobView {
  return jobView({ state: 'done', outcome: { kind, exit, process: null, detail }, exit });
}

export function gpuCard(label: string, fields: Partial<CardView> = {}): CardView {
  return {
    index: 0,
    label,
    uuid: 'GPU-8af65f56-1111-2222-3333-444444444444',
    vendor: 'nvidia',
    name: 'NVIDIA GeForce RTX 4090',
    type: 'rtx4090',
    memoryBytes: 24 * 2 ** 30,
    busId: '0000:01:00.0',
    state: 'free',
    why: null,
    since: 0,
    users: [],
    tasks: [],
    ...fields,
  };
}

export function nodeView(fields: Partial<NodeView> = {}): NodeView {
  return {
    name: 'n1',
    state: 'up',
    drained: null,
    fault: null,
    paused: null,
    pauseWanted: false,
    presence: null,
    maintenance: null,
    reason: null,
    total: RESOURCES,
    free: RESOURCES,
    declared: null,
    labels: [],
    sharedPaths: [],
    running: [],
    unreachableSince: null,
    lastSeenAt: null,
    load: null,
    clockOffsetMs: null,
    facts: null,
    bootId: null,
    session: 1,
    ...fields,
  };
}
