// `srun`: outside of a job a command that runs now, with its output here and its exit code; inside
// of one a step on the job's own nodes.

import { submitAndAttend } from '../../../kernel/cli/commands/run.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { runAtTerminal } from '../../steps/cli/terminal-run.ts';
import { BATCH_OPTIONS } from '../core/batch-options.ts';
import type { OptionRow } from '../core/option-table.ts';
import { bindOf, isPmi, runAskedStep, runInJob } from './asked-step.ts';
import { submissionOf } from './sbatch.ts';
import { readWords, speaking } from './speaking.ts';
import { runStep } from './step.ts';

const value = { value: 'always' } as const;
/** What srun has beside the options of sbatch. */
export const STEP_OPTIONS = [
  { long: 'label', short: 'l', words: 'the rank stands before each line' },
  { long: 'unbuffered', short: 'u', words: 'as it is anyway' },
  { long: 'kill-on-bad-exit', short: 'K', value: 'maybe', words: 'the others go on' },
  { long: 'overlap', words: 'as it is anyway' },
  { long: 'exact', words: 'as it is anyway' },
  {
    long: 'cpu-bind',
    ...value,
    words:
      '`cores`, `threads`, `rank`, `sockets`, `ldoms`: of a step from an `salloc`; elsewhere ranks are not bound, with a note on a node',
  },
  {
    long: 'mpi',
    ...value,
    words: '`pmi1` or `pmi2`: ranks of MPICH find each other; others by `mpirun` alone',
  },
  { long: 'pty', words: 'the first rank alone has a terminal, and is the only one' },
  { long: 'jobid', ...value, words: 'a step in this job of yours, which runs' },
  { long: 'multi-prog', kind: 'refused', words: 'start several steps' },
] as const satisfies readonly OptionRow[];

export const summary = 'Run a command now, or ranks inside of a job, as srun of Slurm does.';
export const verb = speaking('srun', srun);

export async function srun(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords([...BATCH_OPTIONS, ...STEP_OPTIONS], words, {
    stops: true,
  });
  if (given['multi-prog'] !== undefined) {
    throw usage('--multi-prog is not honoured here: start several steps');
  }
  const [program] = operands;
  if (program === undefined) throw usage('No command given to execute.');
  refuseMpi(given.mpi);
  if (given.jobid !== undefined) {
    refuseInside(given);
    const bind = bindOf(given);
    return runInJob(context, {
      argv: operands,
      tasks: number('ntasks', given.ntasks),
      nodeCount: number('nodes', given.nodes),
      label: given.label !== undefined,
      given,
      bind,
    });
  }
  if (context.environment['SLURM_JOB_ID'] !== undefined) {
    refuseInside(given);
    const { output, error } = given;
    const tasks = number('ntasks', given.ntasks);
    const nodeCount = number('nodes', given.nodes);
    // On a node ranks are children of ours; from where nodes are only held, they are asked for.
    const isThere = (context.environment['SLURMD_NODENAME'] ?? '') !== '';
    if (isThere) noteUnbound(context, given['cpu-bind']);
    if (given.pty !== undefined || !isThere || isPmi(given)) {
      const label = given.label !== undefined;
      const bind = isThere ? 'none' : bindOf(given);
      return runAskedStep(context, { argv: operands, tasks, nodeCount, label, given, bind });
    }
    return runStep(context, {
      argv: operands,
      tasks,
      nodeCount,
      output,
      error,
      label: given.label !== undefined,
    });
  }
  if (given['cpu-bind'] !== undefined && !BINDINGS.test(given['cpu-bind']))
    throw usage(`Invalid --cpu-bind argument: ${given['cpu-bind']}`);
  noteUnbound(context, given['cpu-bind']);
  const { output, error, ...rest } = given;
  const argv = { kind: 'argv', argv: ['/bin/sh', '-c', RANKED, 'srun', ...operands] } as const;
  const name = given['job-name'] ?? program.split('/').at(-1) ?? program;
  const files = output === undefined && error === undefined ? null : given;
  const made = await submissionOf(context, argv, { ...(files ?? rest), 'job-name': name });
  // Ranks are processes: srun itself starts them, on every node.
  const { mpi, files: written, ...submission } = made;
  if (given.pty !== undefined) {
    const program = { kind: 'argv', argv: operands } as const;
    return runAtTerminal(context, { ...submission, program });
  }
  const processesPerNode = mpi?.ranksPerNode ?? 1;
  const kept = files === null || written === undefined ? {} : { files: written };
  const wish = { ...submission, ...kept, processesPerNode };
  return submitAndAttend(context, wish, { wait: true, follow: true, failsAloud: true });
}

/** What a step takes, and what changes nothing for it. */
const INSIDE: ReadonlySet<string> = new Set([
  ...['ntasks', 'nodes', 'output', 'error', 'label', 'job-name', 'quiet', 'verbose'],
  ...['cpus-per-task', 'mem', 'mem-per-cpu', 'time', 'exclusive', 'open-mode', 'distribution'],
  ...['unbuffered', 'kill-on-bad-exit', 'overlap', 'exact', 'cpu-bind', 'mpi', 'pty', 'jobid'],
]);

function refuseInside(given: Readonly<Record<string, string | undefined>>): void {
  const other = Object.keys(given).find((name) => !INSIDE.has(name));
  if (other !== undefined) throw usage(`--${other} is not honoured inside of a job`);
}

const BINDINGS =
  /^(?:(?:quiet|q|verbose|v)(?:,|$))*(none|no|cores|sockets|ldoms|boards|threads|rank|rank_ldom|(?:map|mask)_(?:cpu|ldom):.+|)$/i;

/**
 * On a node binding changes where ranks run, and not whether: scripts say it that never knew us.
 */
function noteUnbound(context: Context, said: string | undefined): void {
  const [, kind] = BINDINGS.exec(said ?? '') ?? [];
  if (kind === undefined || !/^(?:none|no)?$/i.test(kind))
    context.note(`--cpu-bind=${said} is not honoured here: ranks run unbound`);
}

/** Ranks that do not find each other would each do all of the work. */
function refuseMpi(said: string | undefined): void {
  if (said === undefined || said === 'none' || isPmi({ mpi: said })) return;
  throw usage(
    `--mpi=${said} is not honoured here: there are pmi1 and pmi2, for MPICH`,
    'Start programs of Open MPI with mpirun in a script, in place of srun.',
  );
}

/** Each process finds which of all ranks it is. */
const RANKED =
  'SLURM_LOCALID=$WEFT_PROC_RANK SLURM_PROCID=$((WEFT_NODE_RANK * WEFT_PROCS_PER_NODE + WEFT_PROC_RANK)); ' +
  'export SLURM_LOCALID SLURM_PROCID; exec "$@"';

function number(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usage(`Invalid numeric value "${text}" for --${name}.`);
  return Number(text);
}
