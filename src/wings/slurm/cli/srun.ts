// `srun`: outside of a job a command that runs now, with its output here and its exit code; inside
// of one a step on the job's own nodes.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ok } from '../../../kernel/base/result.ts';
import { submitAndAttend } from '../../../kernel/cli/commands/run.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { withAllocation } from '../../steps/cli/allocation.ts';
import { runAtTerminal } from '../../steps/cli/terminal-run.ts';
import { readMebibytes } from '../core/amounts.ts';
import { BATCH_OPTIONS, type BatchOption } from '../core/batch-options.ts';
import { BECOME } from '../core/become.ts';
import { exportWords, isAllWord, isGroupWord } from '../core/exports.ts';
import { multiProgram, type Programs } from '../core/multi-prog.ts';
import { type OptionRow, overridden } from '../core/option-table.ts';
import { fewerGpus, gpusOfRank } from '../core/step.ts';
import { type Endings, endingsOf } from '../core/step-ending.ts';
import { isWithoutExports } from '../core/step-exports.ts';
import { optionsSaid, SRUN_VARIABLES, STEP_VARIABLES } from '../core/variables.ts';
import { bindOf, isPmi, isPmix, runAskedStep, runInJob, runOn } from './asked-step.ts';
import { submissionOf } from './sbatch.ts';
import { hostsOf, readWords, speaking } from './speaking.ts';
import { runStep } from './step.ts';
import { KILLED, tellKilled } from './step-guard.ts';

const value = { value: 'always' } as const;
/** What srun has beside the options of sbatch. */
export const STEP_OPTIONS = [
  { long: 'label', short: 'l', words: 'the rank stands before each line' },
  { long: 'unbuffered', short: 'u', words: 'as it is anyway' },
  {
    long: 'kill-on-bad-exit',
    short: 'K',
    value: 'maybe',
    words:
      'the first rank that fails ends the others; ranks with files outside of a job: a warning',
  },
  { long: 'overlap', words: 'it does not wait until other steps of the job leave it cpus' },
  { long: 'exact', words: 'as it is anyway' },
  {
    long: 'wait',
    short: 'W',
    ...value,
    words: 'seconds after the first rank has ended, when the others are; 0: never',
  },
  {
    long: 'immediate',
    short: 'I',
    value: 'maybe',
    kind: 'hint',
    words: 'it waits for its nodes',
  },
  {
    long: 'cpu-bind',
    ...value,
    words:
      '`cores`, `threads`, `rank`, `sockets`, `ldoms`, `none`: of the cpus of the job; in a script others, and what cannot be bound, run unbound with a note',
  },
  {
    long: 'mpi',
    ...value,
    words:
      '`pmix`: ranks of Open MPI, started by the `mpirun` of the node; `pmi1` or `pmi2`: ranks of MPICH; others are refused',
  },
  { long: 'pty', words: 'the first rank alone has a terminal, and is the only one' },
  { long: 'jobid', ...value, words: 'a step in this job of yours, which runs' },
  { long: 'multi-prog', words: 'a file says which ranks run which program' },
  { long: 'disable-status', short: 'X', kind: 'hint', words: 'status is not shown anyway' },
  { long: 'quit-on-interrupt', short: 'q', kind: 'hint', words: 'ranks get the signal' },
  { long: 'preserve-env', short: 'E', kind: 'hint', words: 'variables say what the step has' },
  { long: 'threads', short: 'T', ...value, kind: 'hint', words: 'nodes are told in turn' },
  { long: 'msg-timeout', ...value, kind: 'hint', words: 'the head says how long it waits' },
  { long: 'resv-ports', value: 'maybe', kind: 'hint', words: 'ports are not counted' },
  { long: 'x11', value: 'maybe', kind: 'refused', words: 'say ssh -X to a node that has it' },
  { long: 'bcast', value: 'maybe', kind: 'refused', words: 'use a folder that nodes share' },
  {
    long: 'relative',
    short: 'r',
    ...value,
    words: 'in a script: nodes of the job from this on, from 0',
  },
  { long: 'task-prolog', ...value, kind: 'refused', words: 'start it in the script' },
  { long: 'task-epilog', ...value, kind: 'refused', words: 'start it in the script' },
  { long: 'prolog', ...value, kind: 'refused', words: 'start it before srun' },
  { long: 'epilog', ...value, kind: 'refused', words: 'start it behind srun' },
] as const satisfies readonly OptionRow[];

/** `--wait` is another option there. */
const OF_BATCH = BATCH_OPTIONS.filter(({ long }) => long !== 'wait');
const OPTIONS = [...STEP_OPTIONS, ...OF_BATCH];

export const summary = 'Run a command now, or ranks inside of a job, as srun of Slurm does.';
export const verb = speaking('srun', srun, 255);

export async function srun(context: Context, words: readonly string[]): Promise<number> {
  if (words[0] === KILLED) return tellKilled(context, words);
  const { given: typed, operands } = readWords(OPTIONS, words, { stops: true });
  const isInside = context.environment['SLURM_JOB_ID'] !== undefined;
  const names = isInside || typed.jobid !== undefined ? STEP_VARIABLES : SRUN_VARIABLES;
  const given = overridden(OPTIONS, optionsSaid(OPTIONS, names, context.environment), typed);
  for (const row of STEP_OPTIONS)
    if (given[row.long] !== undefined && 'kind' in row && row.kind === 'hint')
      context.error(`srun: warning: --${row.long} is ignored: ${row.words}\n`);
  if (given.mpi === 'list') {
    context.print('MPI plugin types are...\n\tnone\n\tpmi1\n\tpmi2\n\tpmix');
    return 0;
  }
  const [program] = operands;
  if (program === undefined) throw usage('No command given to execute.');
  refuseMpi(given);
  const programs = given['multi-prog'] === undefined ? null : programsIn(context, operands);
  const what = { operands, programs };
  const { jobid, ...rest } = given;
  const held = heldIn(context);
  if (held !== null && (jobid === undefined || held.includes(jobid)))
    return inside(context, rest, what);
  // Elsewhere than on its nodes SLURM_JOB_ID alone names a job, too.
  const named = jobid ?? context.environment['SLURM_JOB_ID'];
  if (named === undefined) return outside(context, given, what);
  return inJob(context, { ...given, jobid: named }, what);
}

/** What the job that this runs in is called; null: it runs in none. */
function heldIn({ environment }: Context): readonly string[] | null {
  const { SLURM_JOB_ID: job, SLURM_ARRAY_TASK_ID: index } = environment;
  if (job === undefined || !environment['SLURM_JOB_NODELIST']) return null;
  return index === undefined ? [job] : [job, `${job}_${index}`];
}

function inJob(context: Context, given: Given, { operands, programs }: What): Promise<number> {
  refuseInside(given);
  refuseAsked(given);
  const bind = bindOf(given);
  return runInJob(context, {
    argv: operands,
    programs,
    tasks: number('ntasks', given.ntasks),
    nodeCount: number('nodes', given.nodes),
    perNode: number('ntasks-per-node', given['ntasks-per-node']),
    label: given.label !== undefined,
    cpus: number('cpus-per-task', given['cpus-per-task']),
    endings: endingsIn(given),
    given,
    bind,
  });
}

interface What {
  readonly operands: readonly string[];
  /** Those of each rank; null: the operands are that of all. */
  readonly programs: Programs | null;
}

function programsIn(context: Context, [name = '', ...more]: readonly string[]): Programs {
  if (more.length > 0) throw usage('--multi-prog takes one file, and no arguments');
  const text = readOr(path.resolve(context.cwd, name), name);
  return (ranks) => {
    const argv = multiProgram(text, { name, ranks });
    if (!argv.ok) throw usage(argv.error);
    return argv.value;
  };
}

function readOr(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(`Could not open multi_prog config file ${name}: ${fileProblem(error)}`);
  }
}

type Given = Readonly<Partial<Record<BatchOption | (typeof STEP_OPTIONS)[number]['long'], string>>>;

/** Ranks on the nodes of the job that it is in. */
function inside(context: Context, given: Given, what: What): Promise<number> {
  const { operands: argv, programs } = what;
  refuseInside(given);
  const tasks = number('ntasks', given.ntasks);
  const nodeCount = number('nodes', given.nodes);
  const label = given.label !== undefined;
  const cpus = number('cpus-per-task', given['cpus-per-task']);
  const endings = endingsIn(given);
  warnOfGpus(context, given);
  // On a node ranks are children of ours; from where nodes are only held, they are asked for.
  const isThere = (context.environment['SLURMD_NODENAME'] ?? '') !== '';
  if (given.pty !== undefined || !isThere || isPmi(given)) {
    const bind = isThere ? bindHere(context, given) : bindOf(given);
    refuseAsked(given);
    const perNode = number('ntasks-per-node', given['ntasks-per-node']);
    const step = { argv, programs, tasks, nodeCount, perNode, label, cpus, endings, given, bind };
    return runAskedStep(context, { ...step, runsUnbound: isThere });
  }
  if (given.mem !== undefined && given['mem-per-cpu'] !== undefined)
    throw usage('--mem and --mem-per-cpu exclude each other');
  return runStep(context, {
    argv,
    programs,
    tasks,
    nodeCount,
    label,
    names: namesIn(context, given),
    perNode: number('ntasks-per-node', given['ntasks-per-node']),
    output: fileOf('output', given.output),
    error: fileOf('error', given.error),
    input: fileOf('input', given.input),
    append: /^a/i.test(given['open-mode'] ?? ''),
    directory: path.resolve(context.cwd, given.chdir ?? '.'),
    environment: environmentOf(context, given.export),
    cpus,
    endings,
    bind: bindHere(context, given),
    isPmix: isPmix(given),
    gpus: gpusOfRank(given),
    memory: memoryIn('mem', given.mem),
    memoryPerCpu: memoryIn('mem-per-cpu', given['mem-per-cpu']),
    overlap: given.overlap !== undefined || given.oversubscribe !== undefined,
  });
}

/** Steps share the gpus of their job: with a part of them two would begin with the same ones. */
function warnOfGpus(context: Context, given: Given): void {
  const held = Number(context.environment['SLURM_GPUS_ON_NODE'] ?? 0);
  const fewer = fewerGpus(given, held);
  if (fewer === null) return;
  context.error(`srun: warning: a step sees all ${held} gpus of its job on a node, not ${fewer}\n`);
}

/** Nodes of the job that a step may use; null: all of them. */
function namesIn({ environment }: Context, given: Given): readonly string[] | null {
  const { nodelist, exclude = '', relative } = given;
  if (exclude === '' && relative === undefined) return hostsOf(nodelist) ?? null;
  const not = exclude === '' ? [] : (hostsOf(exclude) ?? []);
  const all = hostsOf(environment['SLURM_JOB_NODELIST'] ?? '') ?? [];
  const named = hostsOf(nodelist) ?? all.slice(firstIn(relative));
  const left = named.filter((name) => !not.includes(name));
  if (left.length === 0)
    throw usage('Unable to create step for job: --exclude or --relative leaves no node');
  return left;
}

function firstIn(relative = '0'): number {
  if (!/^\d{1,6}$/.test(relative))
    throw usage(`Invalid numeric value "${relative}" for --relative.`);
  return Number(relative);
}

/** MiB; 0 is all that the job has. */
function memoryIn(option: 'mem' | 'mem-per-cpu', said: string | undefined): number | null {
  const read = said === undefined ? ok(null) : readMebibytes(option, said);
  if (!read.ok) throw usage(read.error);
  return read.value;
}

function endingsIn(given: Given): Endings {
  const read = endingsOf(given);
  if (!read.ok) throw usage(read.error);
  return read.value;
}

/** Words that stand for no file of that name (srun(1), "IO Redirection"). */
function fileOf(name: string, said: string | undefined): string | undefined {
  if (said === 'none') return '/dev/null';
  if (said !== undefined && /^\d+$/.test(said))
    throw usage(`--${name}=${said} is not honoured here: say a file, none or all`);
  return said === 'all' ? undefined : said;
}

/** `ALL,X=1`, `X,Y=2`, `NONE`: beside what Slurm's and our variables say. */
function environmentOf({ environment }: Context, said = 'ALL'): NodeJS.ProcessEnv {
  const words = exportWords(said);
  const isKept = (name: string): boolean =>
    /^(?:SLURMD?|WEFT|CM|(?:OMPI|PRTE)_MCA)_|^TMPDIR$/.test(name);
  const all = Object.entries(environment);
  const found = Object.fromEntries(
    words.some(isAllWord) ? all : all.filter(([name]) => isKept(name)),
  );
  for (const word of words) {
    if (isGroupWord(word)) continue;
    const [name = '', value] = word.split(/=(.*)/s);
    found[name] = value ?? environment[name];
  }
  return found;
}

/** Ranks beyond are those of a job whose program they are. */
const ASKED_MAX = 256;

/** A job of its own, whose nodes are held while its ranks run with our input and output. */
async function outside(
  context: Context,
  given: Given,
  { operands, programs }: What,
): Promise<number> {
  const [program = ''] = operands;
  if (given.relative !== undefined) throw usage('--relative is honoured inside of a job alone');
  // Its time limit is the job's.
  const endings = { ...endingsIn(given), limitMs: null };
  if (given['cpu-bind'] !== undefined && !BINDINGS.test(given['cpu-bind']))
    throw usage(`Invalid --cpu-bind argument: ${given['cpu-bind']}`);
  const { output, error, input, ...rest } = given;
  const named = {
    output: fileOf('output', output),
    error: fileOf('error', error),
    input: fileOf('input', input),
  };
  const ranked = (words: readonly string[]) =>
    ({ kind: 'argv', argv: ['/bin/sh', '-c', RANKED, 'srun', ...words] }) as const;
  const argv = ranked(operands);
  const name = given['job-name'] ?? program.split('/').at(-1) ?? program;
  const said = Object.entries(named).filter(([, file]) => file !== undefined);
  const files = said.length === 0 ? null : { ...rest, ...Object.fromEntries(said) };
  const made = await submissionOf(context, argv, { ...(files ?? rest), 'job-name': name }, 'ranks');
  // Ranks are processes: srun itself starts them, on every node.
  const { mpi, files: written, warning: _, ...plain } = made;
  // What reaches its other nodes is that of jobs with MPI.
  const submission = isPmix(given) && mpi !== undefined ? { ...plain, mpi } : plain;
  if (given.pty !== undefined) {
    const program = { kind: 'argv', argv: programs?.(1) ?? operands } as const;
    return runAtTerminal(context, { ...submission, program });
  }
  const ranksPerNode = mpi?.ranksPerNode ?? 1;
  const total = mpi?.ranks ?? ranksPerNode * (submission.nodeCount ?? 1);
  if (files === null && total <= ASKED_MAX && submission.array === undefined) {
    const bind = bindOf(given);
    const label = given.label !== undefined;
    const cpus = number('cpus-per-task', given['cpus-per-task']);
    const ranks = { tasks: total, nodeCount: null, cpus, endings };
    const step = { argv: operands, programs: null, ...ranks, label, given: rest, bind };
    // Before anything is submitted.
    const own = programs === null ? step : { ...step, argv: programs(total) };
    return withAllocation(context, submission, ({ id, nodes }) =>
      runOn(
        context,
        { task: id, nodes, ranksPerNode, cpus: submission.cpuCount ?? 1, isMpi: mpi !== undefined },
        own,
      ),
    );
  }
  if (isPmi(given) || isPmix(given))
    throw usage(
      `--mpi=${given.mpi} is not honoured here with files, in an array, or of more than ${ASKED_MAX} ranks`,
      'Say srun in a script of sbatch.',
    );
  if (mpi?.ranks !== undefined)
    throw usage(
      `--ntasks ${total} is not ${submission.nodeCount} nodes with ${ranksPerNode} each`,
      'So many ranks are shared unevenly in a script of sbatch only.',
    );
  noteUnbound(context, given['cpu-bind']);
  if (endings.killsOnBadExit || endings.waitMs !== null)
    context.error('srun: warning: --kill-on-bad-exit and --wait are ignored: ranks are a job\n');
  const kept = files === null || written === undefined ? {} : { files: written };
  const started = programs === null ? {} : { program: ranked(programs(total)) };
  const wish = { ...submission, ...kept, ...started, processesPerNode: ranksPerNode };
  return submitAndAttend(context, wish, { wait: true, follow: true, failsAloud: true });
}

/** What a step takes, and what changes nothing for it. */
const INSIDE: ReadonlySet<string> = new Set([
  ...['ntasks', 'nodes', 'output', 'error', 'label', 'job-name', 'quiet', 'verbose'],
  ...['cpus-per-task', 'mem', 'mem-per-cpu', 'time', 'exclusive', 'open-mode', 'distribution'],
  ...['unbuffered', 'kill-on-bad-exit', 'overlap', 'exact', 'cpu-bind', 'mpi', 'pty', 'jobid'],
  ...[
    'nodelist',
    'exclude',
    'relative',
    'ntasks-per-node',
    'chdir',
    'export',
    'input',
    'oversubscribe',
    'partition',
  ],
  ...['account', 'qos', 'wait', 'hint', 'mem-bind', 'threads-per-core', 'gpu-bind', 'cpu-freq'],
  ...['gres', 'gpus', 'gpus-per-node', 'gpus-per-task', 'ntasks-per-socket', 'ntasks-per-core'],
  ...[
    'gres-flags',
    'comment',
    'constraint',
    'propagate',
    'acctg-freq',
    'mem-per-gpu',
    'immediate',
    'multi-prog',
    ...['disable-status', 'quit-on-interrupt', 'preserve-env', 'threads', 'msg-timeout'],
    ...['resv-ports', 'wckey', 'switches', 'contiguous', 'tmp', 'core-spec', 'thread-spec'],
  ],
]);

/** Ranks that the head starts have the variables of the job, and its nodes. */
const NOT_ASKED = ['exclude', 'relative', 'export', 'input', 'output', 'error'] as const;

function refuseAsked(given: Given): void {
  const other = NOT_ASKED.find(
    (name) => given[name] !== undefined && !(name === 'export' && isOfAll(given.export)),
  );
  if (other !== undefined) throw usage(`--${other} is not honoured here: say it in the shell`);
}

/** All that was exported, as without it, or none. */
function isOfAll(said = 'ALL'): boolean {
  return isAllWord(said) || isWithoutExports(said);
}

function refuseInside(given: Given): void {
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

/** Kinds that we do not have change where ranks run, and not whether. */
function bindHere(context: Context, given: Given): 'none' | 'core' | 'numa' {
  const said = given['cpu-bind'];
  if (said === undefined) return 'none';
  const kind = BINDINGS.exec(said)?.[1]?.toLowerCase();
  if (kind === undefined || /^boards$|^(?:map|mask)_/.test(kind)) {
    noteUnbound(context, said);
    return 'none';
  }
  return kind === '' ? 'none' : bindOf(given);
}

/** Ranks that do not find each other would each do all of the work. */
function refuseMpi({ mpi: said, pty }: Given): void {
  if (pty !== undefined && isPmix({ mpi: said })) throw usage('--pty goes with no --mpi=pmix');
  if (said === undefined || said === 'none' || isPmi({ mpi: said }) || isPmix({ mpi: said }))
    return;
  throw usage(
    `--mpi=${said} is not honoured here: there are pmix, for Open MPI, and pmi1 and pmi2, for MPICH`,
  );
}

/** Each process finds which of all ranks it is. */
const RANKED =
  'SLURM_LOCALID=$WEFT_PROC_RANK SLURM_PROCID=$((WEFT_NODE_RANK * WEFT_PROCS_PER_NODE + WEFT_PROC_RANK)); ' +
  `export SLURM_LOCALID SLURM_PROCID; ${BECOME}`;

function number(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usage(`Invalid numeric value "${text}" for --${name}.`);
  return Number(text);
}
