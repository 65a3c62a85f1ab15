// `weft batch pull`: brings what the jobs of a batch have left in their save folders to this machine.

import { SAVE_FOLDER } from '../../../core/batch/programs.ts';
import { formatBatch } from '../../../core/model/batch.ts';
import { Failure } from '../../../core/model/failure.ts';
import { BATCH_JOBS_MAX } from '../../../core/model/limits.ts';
import type { FoundOutputs } from '../../../transfer/pull/bring.ts';
import { findOutputs, type TaskOutputs } from '../../../transfer/pull/outputs.ts';
import { definePull, type PullOptions, pullFound } from '../../commands/pull.ts';
import { courierOf } from '../../connection/courier.ts';
import type { Context } from '../../context.ts';
import { collect } from '../../submit/read.ts';
import { defineVerb } from '../../verb.ts';
import { batchJob, batchJobs } from './batch-jobs.ts';
import { BATCH_OPERAND, batchParams } from './batch-name.ts';

interface Options extends PullOptions {
  readonly job?: readonly string[];
}

export const pull = defineVerb<Options>({
  define(command) {
    command.argument('<batch>', BATCH_OPERAND);
    command.option('--job <name>', 'only of this job (repeatable)', collect);
    definePull(command, 'NAMESPACE/NAME/JOB/');
  },
  async run({ context, args: [text = ''], options }) {
    return pullFound(context, options, () => findBatchOutputs(context, text, options.job));
  },
});

/** What the jobs of a batch have left, or these of them; the last of `below` is the job's name. */
export async function findBatchOutputs(
  context: Context,
  text: string,
  only: readonly string[] | undefined,
): Promise<FoundOutputs[]> {
  const api = await context.api();
  const params = await batchParams(context, text);
  const batch = await api.call('getBatch', { params });
  const jobs =
    only === undefined
      ? await batchJobs(api, params, BATCH_JOBS_MAX)
      : await Promise.all(only.map((name) => batchJob(api, params, name)));
  // What has never run has left nothing.
  const ran = jobs.filter(({ outcome, epoch }) => outcome !== null && epoch > 0);
  const names = new Map(ran.map(({ id, name }) => [id, name]));
  const found = await outputsOf(context, names.keys());
  const own = found.filter(({ task }) => names.has(task));
  return own.map((task) =>
    ofSave(task, [...formatBatch(batch).split('/'), names.get(task.task) ?? '']),
  );
}

/** Array by array: one may have left nothing. */
async function outputsOf(context: Context, ids: Iterable<string>): Promise<TaskOutputs[]> {
  const found: TaskOutputs[] = [];
  for (const jobId of new Set([...ids].map((id) => String(Number.parseInt(id, 10))))) {
    try {
      found.push(...(await findOutputs(courierOf(context), [jobId])));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'outputs.not_found') throw error;
    }
  }
  return found;
}

const BELOW = `${SAVE_FOLDER}/`;

/** Paths as they were in the save folder. */
function ofSave(task: TaskOutputs, below: readonly string[]): FoundOutputs {
  if (task.isSaved) return { ...task, below };
  const entries = task.entries.flatMap((entry) => {
    if (!entry.path.startsWith(BELOW)) return [];
    return [{ ...entry, path: entry.path.slice(BELOW.length) }];
  });
  return { ...task, entries, below };
}
