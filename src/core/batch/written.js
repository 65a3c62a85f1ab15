// A batch as somebody wrote it, in a file or by a builder: keys and types are right, nothing else is
// checked yet. The schema in src/api/batch-file.ts has the same shape.
/** The header fields of Slurm that the batch file knows, as in the seed. */
export const SLURM_KEYS = [
  'job_name',
  'output',
  'nodes',
  'ntasks',
  'cpus_per_task',
  'mem_per_cpu',
  'hint',
  'time',
  'partition',
  'account',
  'mail_user',
  'mail_type',
];
