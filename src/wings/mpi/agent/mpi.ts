// What MPI programs find on a node: the nodes and slots of their task in two forms, how to start a
// process on another node, and where not to bind.

import type { AgentSettings, StepPrograms } from '../../../kernel/agent/ports.ts';
import type { LaunchOrder } from '../../../kernel/model/orders.ts';

/** Processes of the task per node, however they are started. */
export function ranksPerNode(order: LaunchOrder): number {
  return order.mpi?.ranksPerNode ?? order.processesPerNode;
}

/** Whether this node's process of the task is the server of steps instead of the program. */
export function isStepServer(order: LaunchOrder): boolean {
  return order.mpi !== undefined && order.nodeRank > 0;
}

/** A line per rank: the only form that Open MPI and MPICH both read. */
export function hostLines(order: LaunchOrder, self: string): string {
  return namesOf(order, self)
    .map((name) => `${name}\n`.repeat(ranksPerNode(order)))
    .join('');
}

/** Open MPI takes a host that is named once for one with as many slots as it has cores. */
export function slotLines(order: LaunchOrder, self: string): string {
  return namesOf(order, self)
    .map((name) => `${name} slots=${ranksPerNode(order)}\n`)
    .join('');
}

function namesOf({ nodes }: LaunchOrder, self: string): readonly string[] {
  return nodes.length === 1 ? [self] : nodes;
}

/**
 * Ranks of one mpirun know nothing of the next one on the same machine, and both would bind to its
 * first cores. The quota of the task's group says how much it gets; the kernel says where.
 */
export function bindingVariables(
  order: LaunchOrder,
  { isWholeMachine, resources }: AgentSettings,
): Record<string, string> {
  if (isWholeMachine && order.share.resources.cpuCount === resources.cpuCount) return {};
  return {
    OMPI_MCA_hwloc_base_binding_policy: 'none',
    PRTE_MCA_hwloc_default_binding_policy: 'none',
  };
}

/** Open MPI up to 4, Open MPI 5 (PRRTE), and the hydra of MPICH. */
export function launcherVariables(
  { client }: StepPrograms,
  files: { readonly lines: string; readonly slots: string },
): Record<string, string> {
  return {
    OMPI_MCA_plm_rsh_agent: client,
    OMPI_MCA_orte_default_hostfile: files.slots,
    // Its daemons stay children of ours, so that what they use is counted where they ran.
    OMPI_MCA_orte_leave_session_attached: '1',
    PRTE_MCA_plm_ssh_agent: client,
    PRTE_MCA_prte_default_hostfile: files.slots,
    PRTE_MCA_prte_leave_session_attached: '1',
    HYDRA_LAUNCHER: 'ssh',
    HYDRA_LAUNCHER_EXEC: client,
    HYDRA_HOST_FILE: files.lines,
  };
}
