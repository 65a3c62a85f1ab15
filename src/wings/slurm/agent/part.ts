// The variables that programs know from Slurm (sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"), for jobs
// that came by its commands or ask for them.

import { JOB_PATH } from '../../../kernel/agent/environment.ts';
import type { AgentPart } from '../../../kernel/agent/part.ts';
import { beganBefore, type LaunchOrder } from '../../../kernel/model/orders.ts';
import { hostsInOrder } from '../core/hostlist.ts';
import { CPUS_VARIABLE, FOLDER_VARIABLE, SLURM_MARK } from '../core/mark.ts';
import { onEach } from '../core/step.ts';

const MIB = 1_048_576;

export const part: AgentPart = {
  variables: ({ order, account: { uid, gid }, settings: { jobPath, gpuFrom } }) => {
    if (order.environment[SLURM_MARK] === undefined) return {};
    const ids = { SLURM_JOB_UID: String(uid), SLURM_JOB_GID: String(gid) };
    const path = pathOf(order.environment, jobPath);
    return { ours: { ...slurmVariables(order), ...ids, ...cardsOf(order, gpuFrom), ...path } };
  },
};

/** Numbers that the machine has for the task's gpus. */
function cardsOf({ share: { gpus } }: LaunchOrder, from: number): Record<string, string> {
  if (gpus.length === 0) return {};
  return { SLURM_JOB_GPUS: gpus.map((gpu) => from + gpu).join(',') };
}

/** With the commands of Slurm, for a job that brings no PATH: its script finds `srun`. */
function pathOf(given: LaunchOrder['environment'], jobPath = JOB_PATH): Record<string, string> {
  const folder = given[FOLDER_VARIABLE];
  return folder === undefined || given['PATH'] !== undefined
    ? {}
    : { PATH: `${folder}:${jobPath}` };
}

export function slurmVariables(order: LaunchOrder): Record<string, string> {
  const { place, nodes, nodeRank, share, jobName, account } = order;
  const { cpuCount, memoryBytes, gpuCount } = share.resources;
  const ranks = order.mpi?.ranksPerNode ?? order.processesPerNode;
  const all = order.mpi?.ranks ?? ranks * nodes.length;
  const hosts = hostsInOrder(nodes);
  const job = String(place.jobId);
  return {
    SLURM_JOB_ID: job,
    SLURM_JOBID: job,
    SLURM_JOB_NAME: jobName,
    SLURM_JOB_USER: account.user,
    SLURM_JOB_NUM_NODES: String(nodes.length),
    SLURM_NNODES: String(nodes.length),
    SLURM_JOB_NODELIST: hosts,
    SLURM_NODELIST: hosts,
    SLURM_NTASKS: String(all),
    SLURM_NPROCS: String(all),
    SLURM_NTASKS_PER_NODE: String(ranks),
    SLURM_TASKS_PER_NODE: onEach(all, nodes.length),
    SLURM_CPUS_ON_NODE: String(cpuCount),
    SLURM_JOB_CPUS_PER_NODE: nodes.length > 1 ? `${cpuCount}(x${nodes.length})` : String(cpuCount),
    SLURM_CPUS_PER_TASK:
      order.environment[CPUS_VARIABLE] ?? String(Math.max(1, Math.floor(cpuCount / ranks))),
    SLURM_MEM_PER_NODE: String(Math.floor(memoryBytes / MIB)),
    SLURM_NODEID: String(nodeRank),
    SLURMD_NODENAME: nodes[nodeRank] ?? '',
    SLURM_RESTART_COUNT: String(beganBefore(order)),
    ...(gpuCount > 0 ? { SLURM_GPUS_ON_NODE: String(gpuCount) } : {}),
    // Of several processes each is another: whoever starts them says which.
    ...(order.processesPerNode === 1 ? { SLURM_PROCID: '0', SLURM_LOCALID: '0' } : {}),
    ...arrayVariables(order),
  };
}

function arrayVariables({ place, array }: LaunchOrder): Record<string, string> {
  if (place.index === null) return {};
  const { first, last, count } = array ?? { first: place.index, last: place.index, count: 1 };
  return {
    SLURM_ARRAY_JOB_ID: String(place.jobId),
    SLURM_ARRAY_TASK_ID: String(place.index),
    SLURM_ARRAY_TASK_MIN: String(first),
    SLURM_ARRAY_TASK_MAX: String(last),
    SLURM_ARRAY_TASK_COUNT: String(count),
    SLURM_ARRAY_TASK_STEP: String(stepOf(first, last, count)),
  };
}

/** Between two tasks where it is the same between all of them, else 1. */
function stepOf(first: number, last: number, count: number): number {
  const step = count > 1 ? (last - first) / (count - 1) : 1;
  return Number.isInteger(step) ? step : 1;
}
