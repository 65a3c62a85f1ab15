// Launch orders for tests: one complete order, with what a test wants to be different.

import type { EpochId, JobId, NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import { formatEpochId, formatTaskId } from '../../../../src/kernel/model/ids.ts';
import type { Program } from '../../../../src/kernel/model/job.ts';
import type { LaunchOrder } from '../../../../src/kernel/model/orders.ts';

export function shell(line: string): Program {
  return { kind: 'shell', line };
}

export function idOf(jobId: number, epoch = 1): EpochId {
  return formatEpochId(formatTaskId(jobId as JobId, null), epoch);
}

/** `epoch` of plain job `jobId` on node n1 in /tmp, one process, no limits. */
export function launch(
  jobId: number,
  program: Program,
  other: Partial<Omit<LaunchOrder, 'kind' | 'epochId' | 'place'>> = {},
): LaunchOrder {
  const epoch = other.epoch ?? 1;
  return {
    kind: 'launch',
    epochId: idOf(jobId, epoch),
    place: { jobId: jobId as JobId, index: null },
    jobName: 'test',
    account: { user: 'alice' as UserName, uid: null },
    program,
    environment: {},
    directory: { kind: 'shared', path: '/tmp' },
    files: {},
    staging: null,
    umask: 0o022,
    walltimeMs: null,
    warning: null,
    onNodeLoss: { kind: 'wait' },
    share: share(0, 0),
    exclusive: false,
    nodeRank: 0,
    nodes: ['n1' as NodeName],
    processesPerNode: 1,
    array: null,
    ...other,
    epoch,
  };
}

export function share(cpuCount: number, memoryBytes: number): LaunchOrder['share'] {
  const resources = { cpuCount, memoryBytes, gpuCount: 0, counted: {} };
  return { node: 'n1' as NodeName, resources, gpus: [] };
}
