// `salloc`: nodes are held while a shell or a command runs here, where `srun` starts steps on them.

import type { Context } from '../../../kernel/cli/context.ts';
import { type Held, withAllocation } from '../../steps/cli/allocation.ts';
import { runHere } from '../../steps/cli/run-here.ts';
import { BATCH_OPTIONS } from '../core/batch-options.ts';
import { hostsInOrder } from '../core/hostlist.ts';
import { submissionOf } from './sbatch.ts';
import { readWords, speaking } from './speaking.ts';

export const summary = 'Hold nodes while a command runs here, as salloc of Slurm does.';
export const verb = speaking('salloc', salloc);

async function salloc(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords(BATCH_OPTIONS, words, { stops: true });
  const place = { kind: 'argv', argv: ['sleep', 'infinity'] } as const;
  const { output: _, error: __, ...asked } = given;
  const name = given['job-name'] ?? 'interactive';
  const made = await submissionOf(context, place, { ...asked, 'job-name': name });
  // The job's own program waits; ranks are those of srun.
  const { mpi, files: ___, ...submission } = made;
  const perNode = mpi?.ranksPerNode ?? 1;
  return withAllocation(context, submission, async (held) => {
    context.error(`salloc: Granted job allocation ${held.id}\n`);
    const code = await runHere(context, operands, held, variablesOf(held, perNode));
    context.error(`salloc: Relinquishing job allocation ${held.id}\n`);
    return code;
  });
}

/** Those by which programs know of an allocation (salloc(1), "OUTPUT ENVIRONMENT VARIABLES"). */
function variablesOf({ id, nodes }: Held, perNode: number): Record<string, string> {
  const hosts = hostsInOrder(nodes);
  return {
    // Where this runs is none of the nodes, though it may be one of another job.
    SLURMD_NODENAME: '',
    SLURM_JOB_ID: id,
    SLURM_JOBID: id,
    SLURM_JOB_NODELIST: hosts,
    SLURM_NODELIST: hosts,
    SLURM_JOB_NUM_NODES: String(nodes.length),
    SLURM_NNODES: String(nodes.length),
    SLURM_NTASKS_PER_NODE: String(perNode),
    SLURM_NTASKS: String(perNode * nodes.length),
  };
}
