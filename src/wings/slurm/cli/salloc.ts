// `salloc`: nodes are held while a shell or a command runs here, where `srun` starts steps on them.

import type { Context } from '../../../kernel/cli/context.ts';
import { type Held, holdNodes, withAllocation } from '../../steps/cli/allocation.ts';
import { runHere } from '../../steps/cli/run-here.ts';
import { BATCH_OPTIONS, type Given } from '../core/batch-options.ts';
import { hostsInOrder } from '../core/hostlist.ts';
import { type OptionRow, overridden } from '../core/option-table.ts';
import { onEach } from '../core/step.ts';
import { optionsSaid, SALLOC_VARIABLES } from '../core/variables.ts';
import { submissionOf } from './sbatch.ts';
import { readWords, speaking } from './speaking.ts';

/** What salloc has beside the options of sbatch. */
export const ALLOCATION_OPTIONS = [
  {
    long: 'no-shell',
    words: 'nodes are held until the time limit, or `scancel`; then srun --jobid',
  },
  { long: 'immediate', short: 'I', value: 'maybe', kind: 'hint', words: 'it waits for its nodes' },
  {
    long: 'kill-command',
    short: 'K',
    value: 'maybe',
    kind: 'hint',
    words: 'its command is hung up when the job ends',
  },
  { long: 'x11', value: 'maybe', kind: 'refused', words: 'say ssh -X to a node that has it' },
  { long: 'bell', kind: 'hint', words: 'it is silent' },
  { long: 'no-bell', words: 'as it is anyway' },
] as const satisfies readonly OptionRow[];

export const summary = 'Hold nodes while a command runs here, as salloc of Slurm does.';
export const verb = speaking('salloc', salloc, 255);

async function salloc(context: Context, words: readonly string[]): Promise<number> {
  const typed = readTyped(context, words);
  const { operands } = typed;
  const said = optionsSaid(BATCH_OPTIONS, SALLOC_VARIABLES, context.environment);
  const given = overridden(BATCH_OPTIONS, said, typed.given);
  const place = { kind: 'argv', argv: ['sleep', 'infinity'] } as const;
  const { error: _, ...asked } = given;
  const name = given['job-name'] ?? 'interactive';
  const made = await submissionOf(context, place, {
    ...asked,
    // It writes nothing: no warning is to name a file for that.
    output: '/dev/null',
    'job-name': name,
  });
  // The job's own program waits, on the first node; ranks are those of srun.
  const { files: __, warning: ___, ...submission } = made;
  const { mpi } = submission;
  const perNode = mpi?.ranksPerNode ?? 1;
  const all = mpi?.ranks;
  const say = (text: string): void => {
    if (given.quiet === undefined) context.error(`salloc: ${text}\n`);
  };
  if (typed.given['no-shell'] !== undefined) {
    const id = await holdNodes(context, submission);
    if (id !== null) say(`Granted job allocation ${id}`);
    return id === null ? 1 : 0;
  }
  return withAllocation(context, submission, async (held) => {
    say(`Granted job allocation ${held.id}`);
    const more = { perNode, all, cpus: submission.cpuCount ?? 1, directory: context.cwd, name };
    const code = await runHere(context, operands, held, variablesOf(held, more));
    say(`Relinquishing job allocation ${held.id}`);
    return code;
  });
}

function readTyped(
  context: Context,
  words: readonly string[],
): {
  readonly given: Given & { readonly 'no-shell'?: string };
  readonly operands: readonly string[];
} {
  const read = readWords([...ALLOCATION_OPTIONS, ...BATCH_OPTIONS], words, { stops: true });
  for (const row of ALLOCATION_OPTIONS) {
    if (read.given[row.long] === undefined || !('kind' in row)) continue;
    // Those that are refused have been by now: the rest are hints.
    context.error(`salloc: warning: --${row.long} is ignored: ${row.words}\n`);
  }
  return read;
}

interface More {
  readonly perNode: number;
  /** Ranks of all nodes; undefined: as many of each. */
  readonly all: number | undefined;
  readonly cpus: number;
  readonly directory: string;
  readonly name: string;
}

/** Those by which programs know of an allocation (salloc(1), "OUTPUT ENVIRONMENT VARIABLES"). */
function variablesOf({ id, nodes }: Held, more: More): Record<string, string> {
  const hosts = hostsInOrder(nodes);
  const { perNode, cpus, directory, name } = more;
  const { all = perNode * nodes.length } = more;
  return {
    // Where this runs is none of the nodes, though it may be one of another job.
    SLURMD_NODENAME: '',
    SLURM_JOB_ID: id,
    SLURM_JOBID: id,
    SLURM_JOB_NAME: name,
    SLURM_JOB_NODELIST: hosts,
    SLURM_NODELIST: hosts,
    SLURM_JOB_NUM_NODES: String(nodes.length),
    SLURM_NNODES: String(nodes.length),
    SLURM_JOB_CPUS_PER_NODE: onEach(cpus * nodes.length, nodes.length),
    SLURM_TASKS_PER_NODE: onEach(all, nodes.length),
    SLURM_CPUS_PER_TASK: String(Math.max(1, Math.floor(cpus / perNode))),
    SLURM_CPUS_ON_NODE: String(cpus),
    SLURM_NTASKS_PER_NODE: String(perNode),
    SLURM_NTASKS: String(all),
    SLURM_NPROCS: String(all),
    SLURM_SUBMIT_DIR: directory,
  };
}
