// Variables that stand for options of sbatch, salloc and srun: "INPUT ENVIRONMENT VARIABLES" of
// their pages. No other name means anything: a user's own SBATCH_NODES is none of ours.

import type { OptionRow, Read } from './option-table.ts';

/** Options whose variable has their own name, in capitals. */
const BOTH = [
  ...(['account', 'acctg-freq', 'constraint', 'core-spec', 'cpus-per-gpu', 'delay-boot'] as const),
  ...(['exclusive', 'gpus', 'gpus-per-node', 'gpus-per-task', 'gres', 'hint', 'mem-bind'] as const),
  ...(['mem-per-cpu', 'mem-per-gpu', 'network', 'no-kill', 'overcommit', 'partition'] as const),
  ...(['profile', 'qos', 'reservation', 'signal', 'spread-job', 'threads-per-core'] as const),
  ...(['use-min-nodes', 'wait-all-nodes', 'wckey', 'gpu-bind', 'gpu-freq', 'gres-flags'] as const),
];
const OF_BATCH = [
  ...(['distribution', 'error', 'export', 'get-user-env', 'ignore-pbs', 'input'] as const),
  ...(['job-name', 'no-requeue', 'open-mode', 'output', 'requeue', 'wait', 'container'] as const),
];

type Names = Readonly<Record<string, string>>;

const named = (prefix: string, options: readonly string[]): Names =>
  Object.fromEntries(
    options.map((long) => [`${prefix}_${long.toUpperCase().replaceAll('-', '_')}`, long]),
  );

export const SBATCH_VARIABLES: Names = {
  ...named('SBATCH', [...BOTH, ...OF_BATCH]),
  SLURM_HINT: 'hint',
  SLURM_CLUSTERS: 'clusters',
  SBATCH_CLUSTERS: 'clusters',
  SBATCH_ARRAY_INX: 'array',
  SBATCH_MEM_PER_NODE: 'mem',
  SBATCH_REQ_SWITCH: 'switches',
  SBATCH_TIMELIMIT: 'time',
};

export const SALLOC_VARIABLES: Names = {
  ...named('SALLOC', BOTH),
  SLURM_HINT: 'hint',
  SLURM_CLUSTERS: 'clusters',
  SALLOC_CLUSTERS: 'clusters',
  SALLOC_MEM_PER_NODE: 'mem',
  SALLOC_REQ_SWITCH: 'switches',
  SALLOC_TIMELIMIT: 'time',
};

/** Names for a step: not what a job sets itself to say what it has, such as SLURM_NTASKS. */
export const STEP_VARIABLES: Names = {
  ...named('SLURM', ['exact', 'gpu-bind', 'hint', 'mem-bind', 'open-mode', 'overlap', 'wait']),
  SLURM_EXPORT_ENV: 'export',
  SRUN_EXPORT_ENV: 'export',
  SRUN_CPUS_PER_TASK: 'cpus-per-task',
  SLURM_GPUS_PER_TASK: 'gpus-per-task',
  SLURM_CPU_BIND: 'cpu-bind',
  SLURM_KILL_BAD_EXIT: 'kill-on-bad-exit',
  SLURM_LABELIO: 'label',
  SLURM_MPI_TYPE: 'mpi',
  SLURM_STDERRMODE: 'error',
  SLURM_STDINMODE: 'input',
  SLURM_STDOUTMODE: 'output',
  SLURM_TIMELIMIT: 'time',
  SLURM_UNBUFFEREDIO: 'unbuffered',
  SLURM_WORKING_DIR: 'chdir',
  SLURM_REMOTE_CWD: 'chdir',
};

/** And of a job of its own, which `srun` starts outside of one. */
export const SRUN_VARIABLES: Names = {
  ...named('SLURM', BOTH),
  ...STEP_VARIABLES,
  SLURM_CLUSTERS: 'clusters',
  SLURM_DEPENDENCY: 'dependency',
  SLURM_DISTRIBUTION: 'distribution',
  SLURM_JOB_NAME: 'job-name',
  SLURM_JOB_NUM_NODES: 'nodes',
  SLURM_MEM_PER_NODE: 'mem',
  SLURM_NNODES: 'nodes',
  SLURM_NPROCS: 'ntasks',
  SLURM_NTASKS: 'ntasks',
  SLURM_NTASKS_PER_NODE: 'ntasks-per-node',
  SLURM_REQ_SWITCH: 'switches',
};

/** True of what turns on an option without a value: nothing, `yes`, and numbers above 0. */
const isOn = (value: string): boolean => value === '' || /^yes$/i.test(value) || Number(value) > 0;

/** Options that variables stand for; of two of one option the later in the table counts. */
export function optionsSaid<Name extends string>(
  rows: readonly OptionRow<Name>[],
  names: Names,
  environment: Readonly<Record<string, string | undefined>>,
): Read<Name>['given'] {
  const found = Object.entries(names).flatMap(([variable, long]) => {
    const value = environment[variable];
    const row = rows.find((one) => one.long === long);
    if (value === undefined || row === undefined) return [];
    if (row.value === undefined) return isOn(value) ? [[long, ''] as const] : [];
    return row.value === 'always' && value === '' ? [] : [[long, value] as const];
  });
  return Object.fromEntries(found) as Read<Name>['given'];
}
