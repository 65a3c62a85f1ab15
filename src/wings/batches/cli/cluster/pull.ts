// `weft batch pull`: brings what the jobs of a batch have left in their save folders to this
// machine.

import { definePull, type PullOptions, pullFound } from '../../../../kernel/cli/commands/pull.ts';
import { transferOf } from '../../../../kernel/cli/connection/transfer-context.ts';
import type { Context } from '../../../../kernel/cli/context.ts';
import { collect } from '../../../../kernel/cli/submit/read.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import type { Api } from '../../../../kernel/connect/api.ts';
import { SAVE_FOLDER } from '../../../../kernel/files/folders.ts';
import {
  BUILD_FOLDER,
  BUILD_LOG_END,
  type ManifestEntry,
} from '../../../../kernel/files/manifest.ts';
import { formatBatch } from '../../../../kernel/model/batch.ts';
import type { BlobHash } from '../../../../kernel/model/blob.ts';
import { Failure } from '../../../../kernel/model/failure.ts';
import { BATCH_JOBS_MAX } from '../../../../kernel/model/limits.ts';
import type { FoundOutputs } from '../../../../kernel/transfer/pull/bring.ts';
import { findOutputs, type TaskOutputs } from '../../../../kernel/transfer/pull/outputs.ts';
import { batchJob, batchJobs } from './batch-jobs.ts';
import { BATCH_OPERAND, type BatchParams, batchParams } from './batch-name.ts';

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

/**
 * What the jobs of a batch have left, or these of them; the last of `below` is the job's name. Of
 * all of them together also what the builds have printed, as if a job `_build` had left it.
 */
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
  const below = formatBatch(batch).split('/');
  const left = own.map((task) => ofSave(task, [...below, names.get(task.task) ?? '']));
  if (only !== undefined) return left;
  // Who fetches the same batch at the same time is kept out by the number of its first job.
  const task = left[0]?.task ?? BUILD_FOLDER;
  const entries = await buildLogs(api, params);
  const of = { task, jobId: 0, index: null, isSaved: true, entries };
  return entries.length === 0 ? left : [...left, { ...of, below: [...below, BUILD_FOLDER] }];
}

async function buildLogs(api: Api, params: BatchParams): Promise<ManifestEntry[]> {
  const reply = await api.call('listBuildLogs', { params }).catch((error: unknown) => {
    // A head of an earlier release keeps them, but does not tell of them.
    if (error instanceof Failure && error.code === 'route.unknown') return { logs: [] };
    throw error;
  });
  return reply.logs.map(({ node, size, modifiedAt, sha256 }) => {
    const of = { size, modifiedAt, sha256: sha256 as BlobHash };
    return { path: `${node}${BUILD_LOG_END}`, kind: 'file', mode: 0o644, ...of };
  });
}

/** Array by array: one may have left nothing. */
async function outputsOf(context: Context, ids: Iterable<string>): Promise<TaskOutputs[]> {
  const found: TaskOutputs[] = [];
  for (const jobId of new Set([...ids].map((id) => String(Number.parseInt(id, 10))))) {
    try {
      found.push(...(await findOutputs(transferOf(context), [jobId])));
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
