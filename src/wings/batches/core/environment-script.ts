// Variables of a batch and of its jobs in the script of a task: the build, which may run inside of
// any of the jobs, is given those of the batch alone.

import type { BatchFile, BatchJob, Variables } from './batch.ts';

/** Before the name of a variable of the batch whose place one of the job has taken. */
const OF_BATCH = 'weft_batch_';

type Batch = Pick<BatchFile, 'env' | 'jobs'>;

/** What a task is given: those of the job, and what the build needs beside them. */
export function environmentOf({ env }: Pick<Batch, 'env'>, job: Pick<BatchJob, 'env'>): Variables {
  const taken = Object.entries(env).filter(([name, value]) => {
    return Object.hasOwn(job.env, name) && job.env[name] !== value;
  });
  const kept = taken.map(([name, value]) => [`${OF_BATCH}${name}`, value] as const);
  return { ...env, ...job.env, ...Object.fromEntries(kept) };
}

/** Names of all variables that a job of the batch may be given by it. */
export function variablesOf({ env, jobs }: Batch): string[] {
  return [...new Set([env, ...jobs.map((job) => job.env)].flatMap((one) => Object.keys(one)))];
}

/** Lines for the build: there is nothing of the job. */
export function onlyOfBatch(batch: Batch): string[] {
  const own = variablesOf({ env: {}, jobs: batch.jobs });
  return own.map((name) => {
    if (!Object.hasOwn(batch.env, name)) return `unset ${name}`;
    return `[ -z "\${${OF_BATCH}${name}+x}" ] || export ${name}="$${OF_BATCH}${name}"`;
  });
}

/** Lines for the job: what was only for the build is gone. */
export function onlyOfJob(batch: Batch): string[] {
  const own = variablesOf({ env: {}, jobs: batch.jobs });
  const taken = own.filter((name) => Object.hasOwn(batch.env, name));
  return taken.length === 0 ? [] : [`unset ${taken.map((name) => OF_BATCH + name).join(' ')}`];
}
