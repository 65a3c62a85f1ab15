// The `#SBATCH` lines of a job: what the batch file says for Slurm, the job over the batch, and
// what it says for any system where that is silent.

import type { BatchFile, BatchJob, SlurmFields } from '../batch.ts';
import { SLURM_KEYS } from '../written.ts';

/** In the order of the keys; the job is called by its name unless somebody said otherwise. */
export function jobHeader(batch: BatchFile, job: BatchJob): string[] {
  const fields = { job_name: job.name, ...batch.slurm, ...job.slurm };
  return lines(fields, limitsOf(job, fields));
}

/** A build has the fields of the batch, but the name and output of a job are not its own. */
export function buildHeader(batch: BatchFile): string[] {
  const { output: _, ...fields } = batch.slurm;
  return lines({ ...fields, job_name: `${batch.name}-build` }, []);
}

function lines(fields: SlurmFields, more: readonly string[]): string[] {
  const own = SLURM_KEYS.flatMap((key) => {
    const value = fields[key];
    return value === undefined ? [] : [option(key.replaceAll('_', '-'), value)];
  });
  // Both streams go into one file where somebody named it, as Slurm does by itself.
  const streams = fields.output === undefined ? ['stdout', 'stderr'] : [];
  const [stdout, stderr] = streams;
  return [
    ...own,
    ...(stdout === undefined ? [] : [option('output', stdout)]),
    ...(stderr === undefined ? [] : [option('error', stderr)]),
    ...more,
  ];
}

function limitsOf(job: BatchJob, fields: SlurmFields): string[] {
  const { cpuCount, gpuCount, gpuType, memoryBytes, walltimeMs } = job;
  const hasCpus = fields.ntasks !== undefined || fields.cpus_per_task !== undefined;
  const found: string[] = [];
  if (cpuCount !== null && !hasCpus) found.push(option('cpus-per-task', String(cpuCount)));
  if (gpuCount !== null && gpuCount > 0) {
    found.push(option('gres', `gpu:${gpuType === null ? '' : `${gpuType}:`}${gpuCount}`));
  }
  if (memoryBytes !== null && fields.mem_per_cpu === undefined) {
    found.push(option('mem', `${Math.ceil(memoryBytes / 1_048_576)}M`));
  }
  if (walltimeMs !== null && fields.time === undefined)
    found.push(option('time', clock(walltimeMs)));
  return found;
}

/** `1-02:03:04`; Slurm counts in seconds, and a part of one is one. */
function clock(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const days = Math.floor(seconds / 86_400);
  const rest = seconds % 86_400;
  const text = `${two(rest / 3600)}:${two((rest % 3600) / 60)}:${two(rest % 60)}`;
  return days === 0 ? text : `${days}-${text}`;
}

/** Slurm takes quotes and backslashes in these lines as a shell does. */
function option(name: string, value: string): string {
  const isPlain = /^[\w@%+=:,./-]+$/.test(value);
  return `#SBATCH --${name}=${isPlain ? value : `"${value.replace(/[\\"]/g, '\\$&')}"`}`;
}
