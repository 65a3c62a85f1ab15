// Variables by which a job finds what its options have said (sbatch(1), "OUTPUT ENVIRONMENT
// VARIABLES"): those that are there only where somebody typed the option.

import { readMebibytes } from './amounts.ts';
import type { Given } from './batch-options.ts';
import { CPUS_VARIABLE } from './mark.ts';

const AS_TYPED = {
  dependency: 'SLURM_JOB_DEPENDENCY',
  reservation: 'SLURM_JOB_RESERVATION',
  gpus: 'SLURM_GPUS',
  'gpus-per-node': 'SLURM_GPUS_PER_NODE',
  'gpus-per-task': 'SLURM_GPUS_PER_TASK',
  'cpus-per-gpu': 'SLURM_CPUS_PER_GPU',
  'threads-per-core': 'SLURM_THREADS_PER_CORE',
  distribution: 'SLURM_DISTRIBUTION',
  hint: 'SLURM_HINT',
} as const satisfies Partial<Record<keyof Given, string>>;

const MEBIBYTES = {
  'mem-per-cpu': 'SLURM_MEM_PER_CPU',
  'mem-per-gpu': 'SLURM_MEM_PER_GPU',
} as const;

/** Words as `NAME=value`. `srun` of the job goes by SLURM_EXPORT_ENV: absent, it exports all. */
export function saidVariables(given: Given): string[] {
  const typed = Object.entries(AS_TYPED).flatMap(([option, name]) => {
    const value = given[option as keyof typeof AS_TYPED];
    return value === undefined || value === '' ? [] : [`${name}=${value}`];
  });
  const memory = Object.entries(MEBIBYTES).flatMap(([option, name]) => {
    const value = given[option as keyof typeof MEBIBYTES];
    const read = value === undefined ? null : readMebibytes(option as 'mem', value);
    return read?.ok ? [`${name}=${read.value}`] : [];
  });
  const { export: exported } = given;
  const isSaid = exported !== undefined && !/^ALL$/i.test(exported);
  const cpus = given['cpus-per-task'];
  if (cpus !== undefined) typed.push(`${CPUS_VARIABLE}=${cpus}`);
  return [...typed, ...memory, ...(isSaid ? [`SLURM_EXPORT_ENV=${exported}`] : [])];
}
