// What MPI programs find on a node: how to start a process on another node of their task, and where
// not to bind.

import { slotsFile } from '../../../kernel/agent/names.ts';
import type { AgentPart } from '../../../kernel/agent/part.ts';
import type { AgentSettings } from '../../../kernel/agent/ports.ts';
import type { LaunchOrder } from '../../../kernel/model/orders.ts';

/** What a task with `--mpi` runs beside its own program. */
export interface StepPrograms {
  /** Program and first arguments of what waits for steps. */
  readonly server: readonly string[];
  /** A program of one word: launchers take it as their remote shell. */
  readonly client: string;
}

export function mpiPart({ server, client }: StepPrograms): AgentPart {
  return {
    variables: ({ order, settings, hostFile }) => {
      const binding = bindingVariables(order, settings);
      if (order.mpi === undefined) return { usual: binding };
      return {
        usual: { ...binding, ...launcherVariables(client, hostFile) },
        ours: { WEFT_RSH: client, WEFT_STEP_KEY: order.mpi.key },
      };
    },
    argv: ({ order }) => (isStepServer(order) ? server : undefined),
  };
}

/** Whether this node's process of the task is the server of steps instead of the program. */
export function isStepServer(order: LaunchOrder): boolean {
  return order.mpi !== undefined && order.nodeRank > 0;
}

/**
 * Ranks of one mpirun know nothing of the next one on the same machine, and both would bind to its
 * first cores. The quota of the task's group says how much it gets; the kernel says where.
 */
function bindingVariables(
  order: LaunchOrder,
  { isWholeMachine, resources }: AgentSettings,
): Record<string, string> {
  if (isWholeMachine && order.share.resources.cpuCount === resources.cpuCount) return {};
  return {
    OMPI_MCA_hwloc_base_binding_policy: 'none',
    PRTE_MCA_hwloc_default_binding_policy: 'none',
  };
}

/**
 * Open MPI up to 4, Open MPI 5 (PRRTE), and the hydra of MPICH. Of a task that has the variables of
 * Slurm they are not to ask Slurm: it is another cluster's, or none is there.
 */
function launcherVariables(client: string, hostFile: string): Record<string, string> {
  return {
    OMPI_MCA_plm: 'rsh',
    OMPI_MCA_ras: '^slurm',
    OMPI_MCA_plm_rsh_agent: client,
    OMPI_MCA_orte_default_hostfile: slotsFile(hostFile),
    // Its daemons stay children of ours, so that what they use is counted where they ran.
    OMPI_MCA_orte_leave_session_attached: '1',
    PRTE_MCA_plm: 'ssh',
    PRTE_MCA_ras: '^slurm',
    PRTE_MCA_plm_ssh_agent: client,
    PRTE_MCA_prte_default_hostfile: slotsFile(hostFile),
    PRTE_MCA_prte_leave_session_attached: '1',
    HYDRA_LAUNCHER: 'ssh',
    HYDRA_LAUNCHER_EXEC: client,
    HYDRA_HOST_FILE: hostFile,
  };
}
